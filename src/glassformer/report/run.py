"""The chapter of a run: how it stands, what it says, where it looks, what it takes for what. Read from its folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from glassformer.errors import GlassformerError
from glassformer.open import Loaded, load
from glassformer.runs import Run
from glassformer.runs.lock import LOCK
from glassformer.tasks import kind_of
from glassformer.trace.sentence import follow
from glassformer.trace.trace import Trace
from glassformer.train.samples import attention_file, read_samples
from glassformer.train.status import Standing, rows

MOST_TOKENS = 24  # rows and columns of a map of attention
MOST_CLASSES = 40
MOST_EXAMPLES = 5000  # a confusion matrix of the first so many validation examples
CLASSIFIERS = ("classification", "image_classification")


@dataclass(frozen=True)
class Looked:
    """Where a model looked: from each row's token to each column's, the mean over the heads of the last layer."""

    kind: str  # "cross_attention" or "self_attention"
    rows: list[str]
    columns: list[str]
    weights: list[list[float]]


@dataclass(frozen=True)
class Confused:
    """Which class was taken for which on validation examples, true × said."""

    labels: list[str]
    counts: list[list[int]]


class RunChapter:
    """A run as it stands now: its log is read once."""

    def __init__(self, folder: str | Path) -> None:
        self.run = Run.open(folder)
        self.records = self.run.log.read()

    @cached_property
    def running(self) -> bool:
        """A run that says so, and whose process is still there: it holds the kernel's lock."""
        return self.run.status.get("state", "running") == "running" and _held(self.run.folder / LOCK)

    def status(self, lang: str) -> Mapping[str, str]:
        return rows(self.run, Standing(self.records), lang=lang)

    # --- what it says ---

    @cached_property
    def sampled(self) -> tuple[int, list[dict[str, str]]]:
        """The step of the last samples, and the samples."""
        for path in sorted(self.run.samples.glob("step-*.json"), reverse=True):
            step = int(path.stem.removeprefix("step-"))
            if found := read_samples(self.run, step):
                return step, found
        return 0, []

    @cached_property
    def loaded(self) -> Loaded | None:
        """The model, where there is one that can be loaded; not while it is being trained."""
        if self.running or not self.run.has_weights:
            return None
        try:
            return load(self.run.folder, device="cpu")
        except GlassformerError:
            return None

    # --- where it looks ---

    @cached_property
    def looked(self) -> Looked | None:
        step, samples = self.sampled
        path = attention_file(self.run, step)
        if path.is_file():
            return _across(Trace.open(path))
        if not samples or self.loaded is None or self.run.config.model.input.kind != "tokens":
            return None
        try:
            return self._within(next(iter(samples[0].values())))
        except GlassformerError:  # a sample that is too long for a pass, for example
            return None

    def _within(self, text: str) -> Looked:
        assert self.loaded is not None
        config = self.run.config.model
        layer = (config.decoder_layers if config.family == "decoder" else config.encoder_layers) - 1
        story = follow(self.run.folder.name, config, text, layer=layer, trained=self.loaded.reader())
        weights = story.trace[f"{story.stack}.blocks.{layer}.self_attention.weights"][0].mean(0)  # t s
        few = story.tokens[:MOST_TOKENS]
        return Looked("self_attention", few, few, weights[: len(few), : len(few)].tolist())

    # --- what it takes for what ---

    @cached_property
    def confused(self) -> Confused | None:
        if self.run.config.task.kind not in CLASSIFIERS or self.loaded is None:
            return None
        import torch

        material: Any = kind_of(self.run.config).again(self.run)
        store, task = material.validation, material.task
        if store is None or len(task.labels) > MOST_CLASSES:
            return None
        total = torch.zeros(len(task.labels), len(task.labels), dtype=torch.float64)
        with torch.no_grad():
            for first in range(0, min(len(store), MOST_EXAMPLES), 64):
                batch = task.collate([store[i] for i in range(first, min(first + 64, len(store)))])
                total += task.scores(self.loaded.model, batch)["confusion"].total.double().cpu()
        return Confused(list(task.labels), total.long().tolist())


def _across(trace: Trace) -> Looked | None:
    """What was kept of the first sample: weights of every cross-attention, b h t s, and the tokens of both sides."""
    maps = trace.attention("cross_attention")
    if not maps:
        return None
    weights = maps[-1][0].mean(0)  # t s
    source, target = trace.tokens[: weights.shape[1]], trace.tokens[weights.shape[1] :]
    few = weights[:MOST_TOKENS, :MOST_TOKENS].tolist()
    return Looked("cross_attention", target[:MOST_TOKENS], source[:MOST_TOKENS], few)


def _held(path: Path) -> bool:
    """Whether another process holds the lock of a run; one that was killed holds none."""
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
