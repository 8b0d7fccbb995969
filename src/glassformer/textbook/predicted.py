"""Predicted and measured: a run according to the ledger, from its configuration alone, and according to its log."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass

from glassformer.config.recipe import RunConfig
from glassformer.errors import GlassformerError
from glassformer.ledger.costs import Pass
from glassformer.ledger.devices import Device, this_machine
from glassformer.ledger.job import Job, full_batch
from glassformer.ledger.plan import UTILISATION, Plan, plan
from glassformer.tasks import kind_of
from glassformer.textbook.measured import MeasuredStep, step
from glassformer.textbook.run import RunChapter
from glassformer.training.room import needed


@dataclass(frozen=True)
class PredictedRow:
    """One quantity; None: not known."""

    name: str  # a key of [report.predicted] in words/
    predicted: float | None
    measured: float | None

    @property
    def error(self) -> float | None:
        """The error of the prediction, as a share of the measured value."""
        if self.predicted is None or not self.measured:
            return None
        return self.predicted / self.measured - 1


@dataclass(frozen=True)
class Card:
    """All rows and their assumptions."""

    rows: tuple[PredictedRow, ...]
    batch: int
    length: int
    utilisation: float = UTILISATION


def card(chapter: RunChapter, device: Device | None = None) -> Card | None:
    """The card of a run; None if the ledger cannot predict it. Time is predicted only for a run of this machine."""
    config, log = chapter.run.config, [r for r in chapter.records if r.get("kind") == "train"]
    try:
        job = full_batch(config)
        known = device or (_measured(chapter) if is_of_this_machine(chapter) else None)
        made = _plan(config, job, known or _any(job))
    except GlassformerError:
        return None
    run = made.work.run
    size = Pass(batch=job.batch, length=run.length, target_length=run.target_length, optimizer=job.optimizer)
    one = step(config.model, size) if config.train.precision == "float32" else None
    steps, done = config.train.steps, log[-1] if log else {}
    share, (each, count) = done.get("step", 0) / steps, _counted(config, size)
    flops = [] if one is None else [PredictedRow("flops", one.predicted_flops, one.measured_flops)]
    memory = _memory(chapter, one)
    taken = steps * share
    in_all = count * config.train.micro_batches * taken
    seen = [PredictedRow(each, in_all, done.get("tokens"))] if count else []
    seconds = PredictedRow("seconds", None if known is None else made.step * taken, done.get("elapsed"))
    reached = made.utilisation or UTILISATION
    return Card(rows=(*flops, *memory, *seen, seconds), length=size.length, batch=job.batch, utilisation=reached)


def _memory(chapter: RunChapter, one: MeasuredStep | None) -> list[PredictedRow]:
    """The peak that a run on an accelerator has recorded; else that of a step here."""
    import torch

    held = chapter.run.status.get("peak_memory")
    if held:
        return [PredictedRow("memory", needed(chapter.run.config, torch.device("cuda")), held)]
    return [] if one is None else [PredictedRow("memory", one.predicted_bytes, one.measured_bytes)]


def _counted(config: RunConfig, size: Pass) -> tuple[str, int]:
    """What the log of a task counts, and its number in a full batch; 0 if the sizes do not determine it."""
    match kind_of(config).task.unit:
        case "tokens":
            return "tokens", size.batch * (size.target_length or size.length)
        case "images":
            return "examples", size.batch
        case "values":
            return "values", size.batch * int(config.model.head.options["outputs"])
    return "", 0


def _plan(config: RunConfig, job: Job, device: Device) -> Plan:
    return plan(config.name, config.model, tokens=1, device=device, job=job)


def _any(job: Job) -> Device:
    """Any device: FLOPs and memory do not depend on it, and seconds are not shown."""
    from glassformer.ledger.devices import DEVICES

    return next(device for device in DEVICES.values() if (job.dtype or "") in device.peaks)


def _measured(chapter: RunChapter) -> Device:
    """This machine, measured now with as many threads as the run had."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(int(chapter.run.environment.get("threads", threads)))
    try:
        return this_machine()
    finally:
        torch.set_num_threads(threads)


def is_of_this_machine(chapter: RunChapter) -> bool:
    """Whether the run was made on this machine, by what it recorded at its start."""
    import torch

    environment = chapter.run.environment
    processor = platform.processor() or platform.machine()
    device = torch.cuda.get_device_name(0) if torch.cuda.is_available() else processor
    here = {"device": device, "cores": os.cpu_count() or 1, "platform": platform.platform()}
    return all(environment.get(key) == value for key, value in here.items())
