"""The chapter of a run, read from its folder: its state, samples, attention and confusions."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from glassformer.errors import GlassformerError
from glassformer.loading import Loaded, load
from glassformer.metrics.classification import ConfusionTable
from glassformer.runs import Run
from glassformer.runs.folder import LOCK
from glassformer.tasks import kind_of
from glassformer.tasks.forecasting.samples import Shown, read_forecast
from glassformer.tasks.samples import MOST_TOKENS, KeptAttention, kept_attention, last_samples
from glassformer.trace.sentence import follow
from glassformer.training.panels import RunHistory
from glassformer.training.status import LogSummary, status_rows


class RunChapter:
    """The current state of a run; its log is read once."""

    def __init__(self, folder: str | Path) -> None:
        self.run = Run.open(folder)
        self.records = self.run.log.read()

    @cached_property
    def running(self) -> bool:
        """Whether its status is running and its process is alive: it holds the kernel's lock."""
        return self.run.status.get("state", "running") == "running" and _held(self.run.folder / LOCK)

    def story(self, lang: str) -> RunHistory:
        """The data of its pictures."""
        return replace(RunHistory.of(self.run, lang, self.records), looked=self.looked)

    def status(self, lang: str) -> Mapping[str, str]:
        return status_rows(self.run, LogSummary(self.records), lang=lang)

    # --- samples ---

    @cached_property
    def sampled(self) -> tuple[int, list[dict[str, str]]]:
        """The step of the last samples, and the samples."""
        return last_samples(self.run)

    @cached_property
    def loaded(self) -> Loaded | None:
        """The model, if it can be loaded and is not being trained."""
        if self.running or not self.run.has_weights:
            return None
        try:
            return load(self.run.folder, device="cpu")
        except GlassformerError:
            return None

    # --- attention ---

    @cached_property
    def looked(self) -> KeptAttention | None:
        step, samples = self.sampled
        if (kept := kept_attention(self.run, step)) is not None:
            return kept
        if not samples or self.loaded is None or self.run.config.model.input.kind != "tokens":
            return None
        try:
            return self._within(next(iter(samples[0].values())))
        except GlassformerError:  # for example a sample too long for the model
            return None

    def _within(self, text: str) -> KeptAttention:
        assert self.loaded is not None
        config = self.run.config.model
        layer = (config.decoder_layers if config.family == "decoder" else config.encoder_layers) - 1
        story = follow(self.run.folder.name, config, text, layer=layer, trained=self.loaded.reader())
        weights = story.trace[f"{story.stack}.blocks.{layer}.self_attention.weights"][0].mean(0)  # t s
        few = story.tokens[:MOST_TOKENS]
        return KeptAttention("self_attention", few, few, weights[: len(few), : len(few)].tolist())

    @cached_property
    def forecast(self) -> Shown | None:
        """For a forecaster: the first window of its last samples."""
        return read_forecast(self.run, self.sampled[0])

    # --- confusions ---

    @cached_property
    def confused(self) -> ConfusionTable | None:
        kind = kind_of(self.run.config)
        if self.loaded is None or kind.confused is None:
            return None
        return kind.confused(kind.task.again(self.run), self.loaded.model)


def _held(path: Path) -> bool:
    """Whether another process holds the lock of a run; a killed process holds none."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
