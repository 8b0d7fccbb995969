"""A small parallel corpus that is treated as a large one, and a recipe of it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from glassformer.config.recipe import RunConfig
from glassformer.data import stored_texts, tokenise

WORDS = [f"{a}{b}" for a in ("ba", "do", "ki", "lu", "me") for b in ("", "n", "ra", "st")]


def write_corpus(folder: Path, pairs: int) -> tuple[Path, Path]:
    """Two aligned files: sentences of one to nine words, some twice, some with an empty side."""
    draw = random.Random(0)
    paths = folder / "train.en", folder / "train.de"
    rows = [[draw.choice(WORDS) for _ in range(draw.randint(1, 9))] for _ in range(pairs)]
    for i in range(10, pairs, 10):
        rows[i] = rows[i - 7]
    for path, turned in zip(paths, (False, True), strict=True):
        lines = [" ".join(word[::-1] if turned else word for word in row) for row in rows]
        lines[3::50] = ["" for _ in lines[3::50]]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return paths


def translating(files: tuple[Path, Path], **data: Any) -> RunConfig:
    """A tiny translator of these files."""
    model = {"d_model": 8, "d_ff": 16, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1, "max_len": 40}
    source = {"kind": "files", "train": [str(path) for path in files]}
    return RunConfig.from_dict(
        {
            "run": {"name": "stored"},
            "model": {**model, "head": "language_model", "tie_embeddings": "all"},
            "data": {"source": source, "source_language": "en", "target_language": "de", "validation": 20, **data},
            "text": {"vocab_size": 0, "tokenizer": "characters"},
            "train": {"steps": 2, "batch_tokens": 200, "log_every": 1, "save_every": 1, "warmup": 1, "device": "cpu"},
        }
    )


def as_large(monkeypatch: pytest.MonkeyPatch, shard: int = 64) -> None:
    """From here on every file is large, and its shards are small."""
    monkeypatch.setattr(stored_texts, "LARGE", 0)
    monkeypatch.setattr(tokenise, "SHARD", shard)


def reading(path: Path, task: dict[str, Any], **data: Any) -> RunConfig:
    """A tiny model of texts, one on each line."""
    masked = task["kind"] == "masked_language_model"
    sizes = {"d_model": 8, "d_ff": 16, "n_heads": 2, "max_len": 40, "head": "language_model"}
    source = {"kind": "files", "train": str(path), "by_line": True}
    return RunConfig.from_dict(
        {
            "run": {"name": "stored", "task": task},
            "model": {**sizes, "family": "encoder" if masked else "decoder"},
            "data": {"source": source, "source_language": "en", "validation": 20, **data},
            "text": {"vocab_size": 0, "tokenizer": "characters"},
            "train": {"steps": 2, "batch_tokens": 200, "warmup": 1, "device": "cpu"},
        }
    )
