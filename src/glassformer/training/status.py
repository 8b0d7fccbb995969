"""The status of a run on one screen, status.txt in its folder."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.cells import cell_len

from glassformer.files import write_text
from glassformer.runs import Run
from glassformer.words import say


@dataclass
class Lowest:
    """The latest value of a loss, and the lowest with its step."""

    latest: float = math.nan
    lowest: float = math.nan
    step: int = 0

    def see(self, value: object, step: int) -> None:
        self.latest = float(value) if isinstance(value, int | float) else math.nan
        if not self.latest >= self.lowest and not math.isnan(self.latest):
            self.lowest, self.step = self.latest, step

    def __str__(self) -> str:
        return self.said()

    def said(self, lang: str | None = None) -> str:
        if math.isnan(self.lowest):
            return "–"
        values = {"latest": f"{self.latest:.4f}", "lowest": f"{self.lowest:.4f}", "step": self.step}
        return say("watch.status.lowest", lang, **values)


class LogSummary:
    """A running summary of log.jsonl, line by line, so that a log of a million lines is read only once."""

    def __init__(self, records: Iterable[Mapping[str, Any]] = ()) -> None:
        self.training, self.validation = Lowest(), Lowest()
        self.learning_rate = math.nan
        self.epoch = self.steps_per_epoch = 0
        for record in records:
            self.see(record)

    def see(self, record: Mapping[str, Any]) -> None:
        if record.get("kind") == "evaluation" and "loss" in record:
            self.validation.see(record["loss"], record["step"])
        if record.get("kind") != "train":
            return
        self.training.see(record["loss"], record["step"])
        self.learning_rate = record["learning_rate"]
        if record["epoch"] > self.epoch:  # the first line of an epoch: its step is close to the epoch's first
            self.epoch, self.steps_per_epoch = record["epoch"], record["step"] // record["epoch"]


def status_rows(
    run: Run, standing: LogSummary, now: Mapping[str, Any] | None = None, lang: str | None = None
) -> dict[str, str]:
    """The status as label → value. `now` holds values that are newer than status.json."""
    config, status = run.config.train, {"state": "running", "step": 0, "epoch": 0, **run.status, **(now or {})}
    batch = say("watch.status.tokens", lang, tokens=f"{config.batch_tokens * config.micro_batches:,}")
    epoch = status["epoch"] + 1
    epochs = max(math.ceil(config.steps / standing.steps_per_epoch), epoch) if standing.steps_per_epoch else 0
    mixed = config.precision if config.precision != "float32" else say("watch.status.off", lang)
    rate = "–" if math.isnan(standing.learning_rate) else f"{standing.learning_rate:.3e}"
    found = {
        "state": say(f"watch.state.{status['state']}", lang),
        "updated": _updated(run, status, now).strftime("%Y-%m-%d %H:%M:%S %z"),
        "batch": batch,
        "learning_rate": f"{rate} ({config.schedule.kind})",
        "epochs": say("watch.status.about", lang, count=epochs) if epochs else "–",
        "mixed_precision": mixed,
        "step": f"{status['step']:,} / {config.steps:,}",
        "epoch": f"{epoch:,}",
        "training_loss": standing.training.said(lang),
        "validation_loss": standing.validation.said(lang),
        "elapsed": clock_duration(status.get("elapsed", 0.0)),
        "checkpoints": str(run.checkpoints_folder),
    }
    if "error" in status and status["state"] == "failed":
        found["error"] = str(status["error"])
    return {say(f"watch.status.{key}", lang): value for key, value in found.items()}


def _updated(run: Run, status: Mapping[str, Any], now: Mapping[str, Any] | None) -> datetime:
    """When the run last changed: now while it is being trained, else the time in status.json."""
    if now is not None and status["state"] == "running":
        return datetime.now().astimezone()
    if isinstance(status.get("time"), str):
        return datetime.fromisoformat(status["time"]).astimezone()
    files = [path for path in (run.folder / "status.json", run.log.path, run.folder / "config.toml") if path.is_file()]
    return datetime.fromtimestamp(files[0].stat().st_mtime).astimezone()  # of an older version


def block(run: Run, standing: LogSummary, now: Mapping[str, Any] | None = None) -> str:
    """The same as lines of text, in the language of the process."""
    found = status_rows(run, standing, now)
    width = max(map(cell_len, found))
    lines = [f"{label}{' ' * (width - cell_len(label))}  {value}" for label, value in found.items()]
    return "\n".join(lines) + "\n"


def write_block(run: Run, standing: LogSummary, now: Mapping[str, Any] | None = None) -> None:
    """Write status.txt. It is written often and easy to recreate, so it is not synced."""
    write_text(run.folder / "status.txt", block(run, standing, now), durable=False)


def clock_duration(seconds: float) -> str:
    """As hours, minutes, seconds: 3:25:45."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
