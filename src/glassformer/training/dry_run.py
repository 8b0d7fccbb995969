"""A preview of a training that writes nothing: data, sizes, memory, time, and the first batch as text."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch

from glassformer.config.recipe import RunConfig
from glassformer.data.ahead import DEPTH
from glassformer.data.batch import ArrayBatch, Batch, PairBatch, TokenBatch
from glassformer.data.packing import PackedBatch
from glassformer.data.sampler import EpochPosition
from glassformer.data.stream import StreamBatch
from glassformer.ledger.show_plan import duration, gib
from glassformer.loading import choose_device
from glassformer.losses import IGNORE
from glassformer.models.build import build
from glassformer.show import minus
from glassformer.show.sheet import Sheet
from glassformer.show.table import Column, Table
from glassformer.tasks import Material, kind_of
from glassformer.tasks.material import TextMaterial
from glassformer.text import Tokenizer, Vocabularies
from glassformer.training.begin import BeforeReading, quietly, ready, with_steps
from glassformer.training.capture import WARM_UP
from glassformer.training.precision import autocast, products_beside
from glassformer.training.room import needed, out_of_memory, plan_of
from glassformer.training.seed import settings
from glassformer.training.state import TrainingState
from glassformer.training.validate import make_sampler
from glassformer.words import say

TIMED = {"cpu": 2 * 10**12, "cuda": 10**15}  # steps of more FLOPs are not tried but left to `glassformer plan`
TRIED = 5  # steps on an accelerator, after it has compiled and recorded them
SHOWN = 4  # examples of the first batch
WIDEST = 160  # characters of each


@dataclass(frozen=True)
class DryRun:
    """Everything known before the first step. `seconds`: measured on some steps whose result is discarded."""

    config: RunConfig
    device: str
    parameters: int
    training: int
    validation: int
    batches: int
    memory: int  # of a step, by the ledger
    flops: int
    seconds: float | None
    first: tuple[str, ...]
    measured_memory: int | None = None  # of the tried steps, on an accelerator
    ahead: int = 0  # bytes of the batches that the host prepares for an accelerator while it computes

    @property
    def epochs(self) -> float:
        return self.config.train.steps * self.config.train.micro_batches / self.batches

    def to_json(self) -> dict[str, Any]:
        known = {key: value for key, value in vars(self).items() if key not in ("config", "first")}
        return {"config": self.config.to_dict(), **known, "epochs": self.epochs, "first_batch": list(self.first)}

    def __rich__(self) -> Sheet:
        table = Table(Column(say("dry_run.what"), "text"), Column(say("dry_run.value"), "text"))
        for key, value in self._rows():
            table.add(say(f"dry_run.{key}"), value)
        return Sheet(table, say("dry_run.first"), *(f"  {line}" for line in self.first), say("dry_run.nothing"))

    def _rows(self) -> Iterator[tuple[str, str]]:
        config, model, train = self.config, self.config.model, self.config.train
        yield "task", f"{say(f'data.tasks.{config.task.kind}')} ({config.name})"
        yield (
            "examples",
            say("dry_run.examples_value", training=f"{self.training:,}", validation=f"{self.validation:,}"),
        )
        depth = "+".join(str(n) for n in (model.encoder_layers, model.decoder_layers) if n)
        yield "model", f"{model.family}, {depth} × {model.d_model}, {model.n_heads} h, d_ff {model.d_ff}"
        if model.vocab_size:
            yield "vocabulary", f"{model.vocab_size:,}"
        yield "parameters", f"{self.parameters:,}"
        yield (
            "steps",
            say(
                "dry_run.steps_value",
                steps=f"{train.steps:,}",
                epochs=f"{self.epochs:,.{0 if self.epochs >= 10 else 1}f}",
            ),
        )
        yield "batch", say("dry_run.batch_value", tokens=f"{train.batch_tokens:,}", times=train.accumulate)
        yield "memory", f"{gib(self.memory)} GiB"
        if self.measured_memory is not None:
            off = minus(f"{100 * (self.memory / self.measured_memory - 1):+.1f} %")
            yield "measured_memory", say("dry_run.measured_value", size=gib(self.measured_memory), error=off)
        if self.ahead:
            yield "ahead", f"{gib(self.ahead)} GiB"
        yield "device", self.device
        yield "time", say("dry_run.untimed") if self.seconds is None else duration(self.seconds, None)


def dry_run(config: RunConfig, reading: BeforeReading = quietly) -> DryRun:
    """Read the data, learn the vocabulary, build the model, try some steps; nothing is written."""
    ready(config)
    reading(config)
    device = choose_device(config.train.device)
    material = kind_of(config).task.begin(config)
    complete = with_steps(material)
    made = plan_of(complete)
    sampler = make_sampler(material.training, material.task, config.train)
    indexes = sampler.batches(0)[0]
    batch = material.task.collate([material.training[int(i)] for i in indexes])
    validation = material.validation
    on = device.type == "cuda"
    tried = _tried(material, device) if made.work.model <= TIMED["cuda" if on else "cpu"] else Tried(None)
    prepared = tried.batches or config.train.accumulate * _bytes(batch)
    return DryRun(
        config=complete,
        device=str(device),
        parameters=made.work.parameters,
        training=len(material.training),
        validation=0 if validation is None else len(validation),
        batches=len(sampler.batches(0)),
        memory=needed(complete, device),
        flops=made.work.model * config.train.accumulate,
        seconds=None if tried.step is None else tried.step * complete.train.steps,
        first=tuple(first_batch(material, batch)),
        measured_memory=tried.memory,
        ahead=(DEPTH + 1) * prepared if on else 0,  # some wait, and one more is ready
    )


@dataclass(frozen=True)
class Tried:
    """What some steps took and held; None: not measured."""

    step: float | None  # seconds of one
    memory: int | None = None
    batches: int = 0  # bytes of the batches of one step


def _tried(material: Material, device: torch.device) -> Tried:
    return _on_accelerator(material, device) if device.type == "cuda" else Tried(_seconds(material, device))


def _on_accelerator(material: Material, device: torch.device) -> Tried:
    """The steps of training itself, in its own settings; raises in one line if the device refuses memory."""
    config = material.config.train
    chosen = settings(deterministic=config.deterministic, threads=config.threads)
    with chosen, products_beside(config.precision, device):
        try:
            return _steps_on_accelerator(material, device)
        except torch.OutOfMemoryError as error:
            raise out_of_memory(material.config, device, 0) from error


def _steps_on_accelerator(material: Material, device: torch.device) -> Tried:
    """Recorded, and compiled where training is; what is compiled here need not be compiled again."""
    config = material.config
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    model = build(config.model, seed=config.train.seed)
    state = TrainingState.begin(config, model, material.task, material.training, device)
    batches = [state.next_batch()[0]] * config.train.accumulate
    for _ in range(WARM_UP + 1):
        state.stepper.take_step(batches, 0.0)
    torch.cuda.synchronize(device)
    begun = time.perf_counter()
    for _ in range(TRIED):
        state.stepper.take_step(batches, 0.0)
    torch.cuda.synchronize(device)
    took = (time.perf_counter() - begun) / TRIED
    held = torch.cuda.max_memory_allocated(device) - before
    return Tried(took, held, sum(map(_bytes, batches)))


def _bytes(batch: Any) -> int:
    values = (getattr(batch, field.name) for field in fields(batch))
    return sum(value.nbytes for value in values if isinstance(value, torch.Tensor))


def _seconds(material: Material, device: torch.device) -> float:
    """The time of a step: the second of two, since the first warms up."""
    config = material.config
    model = build(config.model, seed=config.train.seed).to(device).train()
    sampler, place, took = make_sampler(material.training, material.task, config.train), EpochPosition(0, 0), 0.0
    for _ in range(2):
        taken, place = sampler.group(place)
        begun = time.perf_counter()
        for one in taken:
            batch: Any = material.task.collate([material.training[int(i)] for i in one.indexes]).to(device)
            with autocast(config.train.precision, device):
                loss = material.task.loss(model, batch)
            (loss.total / loss.count).backward()
        took = time.perf_counter() - begun
    return took


def first_batch(material: Material, batch: Batch) -> Iterator[str]:
    """A line for each of the first examples: what goes in → what should come out."""
    labels = material.config.task.options.get("labels", ())
    if isinstance(material, TextMaterial):
        yield from _texts(material.vocabularies, batch, labels)
    elif isinstance(batch, ArrayBatch):
        for given, wanted in zip(batch.inputs[:SHOWN], batch.targets[:SHOWN], strict=True):
            if labels:
                yield f"{' × '.join(map(str, given.shape))} → {labels[int(wanted)]}"
            else:
                yield f"… {_numbers(given.flatten()[-4:])} → {_numbers(wanted.flatten()[:4])} …"
    else:
        yield say("dry_run.no_text", count=batch.count, unit=say(f"units.many.{material.task.unit}"))


def _texts(vocabularies: Vocabularies, batch: Batch, labels: Sequence[str]) -> Iterator[str]:
    ours, theirs = vocabularies.source, vocabularies.target
    match batch:
        case PairBatch():
            for source, target in zip(batch.source[:SHOWN], batch.target_out[:SHOWN], strict=True):
                yield f"{_text(ours, source)} → {_text(theirs, target)}"
        case TokenBatch() if batch.targets.dim() == 1:
            for tokens, label in zip(batch.tokens[:SHOWN], batch.targets[:SHOWN].tolist(), strict=True):
                yield f"{_text(ours, tokens)} → {labels[int(label)]}"
        case TokenBatch():
            for tokens, hidden in zip(batch.tokens[:SHOWN], batch.targets[:SHOWN], strict=True):
                pieces = [ours.piece(i) for i in tokens.tolist() if i != ours.specials.need("pad")]
                yield f"{_short(' '.join(pieces))} → {_text(theirs, hidden)}"
        case StreamBatch() | PackedBatch():
            for tokens in batch.tokens[:SHOWN]:
                yield repr(_text(ours, tokens))


def _text(tokenizer: Tokenizer, ids: torch.Tensor) -> str:
    return _short(" ".join(tokenizer.decode([i for i in ids.tolist() if i != IGNORE]).split()))


def _short(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def _numbers(values: torch.Tensor) -> str:
    return minus(", ".join(f"{value:.3g}" for value in values.tolist()))
