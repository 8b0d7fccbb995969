"""A run that takes seconds: a tiny translator that learns to reverse short sequences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig, TrainConfig
from glassformer.config.values import Choice
from glassformer.data.store import Store
from glassformer.losses import make_loss
from glassformer.models.build import build
from glassformer.runs import Run
from glassformer.tasks.translation.task import Translation
from glassformer.text import Frame
from glassformer.training import Training, train
from glassformer.training.events import Event

VOCABULARY = 24


def model_config(**keys: Any) -> ModelConfig:
    table: dict[str, Any] = {
        "vocab_size": VOCABULARY,
        "max_len": 32,
        "d_model": 16,
        "n_heads": 2,
        "d_ff": 32,
        "n_encoder_layers": 1,
        "n_decoder_layers": 1,
        "dropout": 0.1,
        "norm_order": "pre",
        "tie_embeddings": "all",
        "init": "normal",
        "head": Choice("language_model"),
    }
    return ModelConfig(**table | keys)


def run_config(model: dict[str, Any] | None = None, **train_keys: Any) -> RunConfig:
    table: dict[str, Any] = {
        "steps": 12,
        "batch_tokens": 120,
        "accumulate": 2,
        "warmup": 4,
        "schedule": "inverse_sqrt",
        "learning_rate": 3e-3,
        "log_every": 3,
        "evaluate_every": 6,
        "save_every": 4,
        "device": "cpu",
    }
    return RunConfig(model=model_config(**(model or {})), train=TrainConfig(**table | train_keys))


def examples(count: int = 90, seed: int = 0) -> Store:
    """Sequences of 2 to 9 tokens and their mirror images."""
    random = np.random.default_rng(seed)
    source = [random.integers(4, VOCABULARY, random.integers(2, 10)) for _ in range(count)]
    return Store.of({"source": source, "target": [tokens[::-1] for tokens in source]})


def translation(config: RunConfig, **keys: Any) -> Translation:
    loss = make_loss(config.train.loss.kind, config.train.loss.options)
    table: dict[str, Any] = {
        "pad": 0,
        "source": Frame(end=2),
        "target": Frame(1, 2),
        "criterion": loss,
        "chunk": config.train.chunk,
    }
    return Translation(**table | keys)


def small_model(config: RunConfig) -> nn.Module:
    return build(config.model, seed=config.train.seed)


def job(run: Run, config: RunConfig | None = None, **keys: Any) -> Training:
    config = config or run.config
    table: dict[str, Any] = {
        "run": run,
        "model": small_model(config),
        "task": translation(config),
        "training": examples(),
        "validation": examples(20, seed=1),
        "config": config,
    }
    return Training(**table | keys)


def trained(folder: Path, config: RunConfig, **keys: Any) -> tuple[Run, list[Event]]:
    """A whole run, begun and ended."""
    run = Run.create(folder, config)
    return run, list(train(job(run, **keys)))
