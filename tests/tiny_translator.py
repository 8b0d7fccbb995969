"""The recipe ko-en, made so small that it is begun and trained in a second or two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from glassformer.config.recipe import RunConfig
from glassformer.loading import open_recipe
from glassformer.runs import Run
from glassformer.training.begin import begin
from glassformer.training.events import Event
from glassformer.training.watch import NotShown, train_watched

CHANGES: dict[str, Any] = {
    "model.d_model": 16,
    "model.n_heads": 2,
    "model.d_ff": 32,
    "model.n_encoder_layers": 1,
    "model.n_decoder_layers": 1,
    "data.source.count": 120,
    "data.source.test": 0,
    "data.validation": 12,
    "text.vocab_size": 450,
    "train.steps": 6,
    "train.warmup": 2,
    "train.batch_tokens": 512,
    "train.evaluate_every": 3,
    "train.log_every": 2,
    "train.save_every": 3,
    "train.device": "cpu",
}
SET = [word for key, value in CHANGES.items() for word in ("--set", f"{key}={value}")]


def tiny(**train: Any) -> RunConfig:
    return open_recipe("ko-en", CHANGES | {f"train.{key}": value for key, value in train.items()})


def trained(folder: Path, config: RunConfig) -> tuple[Run, list[Event | NotShown]]:
    job = begin(config, folder)
    return job.run, list(train_watched(job))
