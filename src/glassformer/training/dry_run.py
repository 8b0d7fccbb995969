"""A preview of a training that writes nothing: data, sizes, memory, time, and the first batch as text."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from glassformer.config.recipe import RunConfig
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
from glassformer.training.begin import BeforeReading, quietly, ready
from glassformer.training.precision import autocast
from glassformer.training.room import plan_of
from glassformer.training.validate import make_sampler
from glassformer.words import say

TIMED = 2 * 10**12  # steps of more FLOPs are not tried out here but left to `glassformer plan`
SHOWN = 4  # examples of the first batch
WIDEST = 160  # characters of each


@dataclass(frozen=True)
class DryRun:
    """Everything known before the first step. `seconds`: measured on two steps whose result is discarded."""

    config: RunConfig
    device: str
    parameters: int
    training: int
    validation: int
    batches: int
    memory: int
    flops: int
    seconds: float | None
    first: tuple[str, ...]

    @property
    def epochs(self) -> float:
        return self.config.train.steps * self.config.train.accumulate / self.batches

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
        yield "device", self.device
        yield "time", say("dry_run.untimed") if self.seconds is None else duration(self.seconds, None)


def dry_run(config: RunConfig, reading: BeforeReading = quietly) -> DryRun:
    """Read the data, learn the vocabulary, build the model, try two steps; nothing is written."""
    ready(config)
    reading(config)
    device = choose_device(config.train.device)
    material = kind_of(config).task.begin(config)
    made = plan_of(material.config)
    sampler = make_sampler(material.training, material.task, config.train)
    indexes = sampler.batches(0)[0]
    batch = material.task.collate([material.training[int(i)] for i in indexes])
    validation = material.validation
    return DryRun(
        config=material.config,
        device=str(device),
        parameters=made.work.parameters,
        training=len(material.training),
        validation=0 if validation is None else len(validation),
        batches=len(sampler.batches(0)),
        memory=made.memory_bytes,
        flops=made.work.model * config.train.accumulate,
        seconds=_seconds(material, device) if made.work.model <= TIMED else None,
        first=tuple(first_batch(material, batch)),
    )


def _seconds(material: Material, device: torch.device) -> float:
    """The time of all steps, estimated from the second of two: the first warms up."""
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
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        took = time.perf_counter() - begun
    return took * config.train.steps


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
