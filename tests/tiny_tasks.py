"""A recipe of a few seconds for every task: what the tests over all tasks are made with. A new task adds its own."""

from __future__ import annotations

from typing import Any

from glassformer.config.recipe import RunConfig

MODEL: dict[str, Any] = {
    "max_len": 64,
    "d_model": 32,
    "n_heads": 2,
    "d_ff": 64,
    "norm_order": "pre",
}
TRAIN: dict[str, Any] = {
    "steps": 8,
    "batch_tokens": 128,
    "accumulate": 2,
    "optimizer": "adam",
    "learning_rate": 3e-3,
    "schedule": "constant",
    "warmup": 0,
    "loss": "cross_entropy",
    "evaluate_every": 4,
    "save_every": 2,
    "log_every": 2,
    "device": "cpu",
    "threads": 1,
}
TINY: dict[str, dict[str, Any]] = {
    "translation": {
        "run": {"name": "tiny", "task": "translation"},
        "data": {"source": {"kind": "grammar", "count": 60, "test": 4}, "validation": 10},
        "text": {"tokenizer": "words", "vocab_size": 120},
        "model": MODEL
        | {"n_encoder_layers": 1, "n_decoder_layers": 1, "tie_embeddings": "all", "head": "language_model"},
        "train": TRAIN,
    },
    "classification": {
        "run": {"name": "tiny", "task": "classification"},
        "data": {"source": {"kind": "grammar", "count": 40, "test": 4}, "validation": 8},
        "text": {"tokenizer": "words", "vocab_size": 80, "begin": "cls", "end": "sep"},
        "model": MODEL | {"family": "encoder", "n_encoder_layers": 1, "head": {"kind": "classifier", "pool": "mean"}},
        "train": TRAIN,
    },
    "masked_language_model": {
        "run": {"name": "tiny", "task": {"kind": "masked_language_model", "rate": 0.3}},
        "data": {"source": {"kind": "grammar", "count": 60, "test": 4, "sides": "joined"}, "validation": 10},
        "text": {"tokenizer": "words", "vocab_size": 120, "begin": "cls", "end": "sep"},
        "model": MODEL
        | {
            "family": "encoder",
            "n_encoder_layers": 1,
            "n_decoder_layers": 0,
            "tie_embeddings": "all",
            "head": {"kind": "language_model", "transform": True, "bias": True},
        },
        "train": TRAIN,
    },
    "language_model": {
        "run": {"name": "tiny", "task": {"kind": "language_model", "context": 15}},
        "data": {"source": {"kind": "grammar", "count": 60, "test": 4}, "source_language": "en", "validation": 10},
        "text": {"tokenizer": "words", "vocab_size": 120},
        "model": MODEL
        | {"family": "decoder", "n_decoder_layers": 1, "tie_embeddings": "all", "head": "language_model"},
        "train": TRAIN,
    },
    "image_classification": {
        "run": {"name": "tiny", "task": {"kind": "image_classification", "crop": 1, "erase": 0.25, "mixup": 0.2}},
        "data": {"source": {"kind": "digits", "test": 40}, "validation": 40},
        "model": MODEL
        | {
            "family": "encoder",
            "input": {"kind": "image", "size": 8, "patch": 4, "channels": 1},
            "max_len": 5,
            "n_encoder_layers": 1,
            "position": "learned",
            "head": {"kind": "classifier", "pool": "cls"},
        },
        "train": TRAIN,
    },
    "forecasting": {
        "run": {"name": "tiny", "task": {"kind": "forecasting", "season": 24}},
        "data": {"source": {"kind": "waves", "count": 400}},
        "model": MODEL
        | {
            "family": "encoder",
            "n_encoder_layers": 1,
            "input": {"kind": "series", "context": 24, "length": 6, "stride": 3},
            "head": {"kind": "regression", "outputs": 4, "pool": "flatten"},
        },
        "train": TRAIN | {"loss": "mse"},
    },
    "object_queries": {
        "run": {"name": "tiny", "task": "object_queries"},
        "data": {"source": {"kind": "canvases", "size": 16, "most": 1, "count": 40, "test": 8}, "validation": 6},
        "model": MODEL
        | {
            "input": {"kind": "image", "size": 16, "patch": 4, "channels": 1, "class_tokens": 0},
            "queries": 2,
            "causal": False,
            "n_encoder_layers": 1,
            "n_decoder_layers": 1,
            "position": "learned",
            "head": {"kind": "objects", "classes": 10},
        },
        "train": TRAIN,
    },
    "prompted_objects": {
        "run": {"name": "tiny", "task": "prompted_objects"},
        "data": {"source": {"kind": "canvases", "size": 24, "most": 2, "count": 60, "test": 20}, "validation": 12},
        "model": MODEL
        | {
            "input": {"kind": "image", "size": 24, "patch": 12, "stride": 8, "channels": 1, "class_tokens": 0},
            "target_vocab_size": 69,
            "causal": False,
            "n_encoder_layers": 1,
            "n_decoder_layers": 1,
            "position": "learned",
            "head": {"kind": "objects", "classes": 10},
        },
        "train": TRAIN,
    },
}

BY_HEART = {
    "object_queries": 0.5,
    "prompted_objects": 0.5,
}  # the loss of a batch that is known by heart: boxes never fit quite; else 0.01


def tiny(kind: str, **changes: dict[str, Any]) -> RunConfig:
    """The recipe of a task; `changes` by table: tiny("translation", model={"dropout": 0.1})."""
    return RunConfig.from_dict({name: table | changes.get(name, {}) for name, table in TINY[kind].items()})
