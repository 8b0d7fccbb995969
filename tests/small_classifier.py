"""A classifier that learned forty short reviews by heart in seconds: real files, real training, a real run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from glassformer.config.toml import to_toml
from glassformer.loading import open_recipe
from glassformer.training.begin import begin
from glassformer.training.loop import train
from once import once

THINGS = ("영화", "음악", "음식", "날씨", "책", "노래", "그림", "커피", "여행", "이야기")
WORDS = {"좋다": "good", "나쁘다": "bad", "안 좋다": "bad", "안 나쁘다": "good"}
REVIEWS = [(f"{thing} {word}", label) for thing in THINGS for word, label in WORDS.items()]


def write_tsv(path: Path, rows: list[tuple[str, str]] = REVIEWS) -> str:
    path.write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows), encoding="utf-8")
    return str(path)


def write_recipe(
    folder: Path, *, steps: int = 120, changes: dict[str, dict[str, Any]] | None = None, **source: Any
) -> Path:
    """A recipe on a file in this folder; `source` changes the data source, `changes` any table."""
    folder.mkdir(parents=True, exist_ok=True)
    path = write_tsv(folder / "reviews.tsv")
    tables: dict[str, dict[str, Any]] = {
        "run": {"name": "small", "task": "classification"},
        "data": {"source": {"kind": "files", "train": path, "validation": path, "test": path} | source},
        "text": {"tokenizer": "words", "vocab_size": 20, "begin": "cls", "end": "sep"},
        "model": {
            "family": "encoder",
            "d_model": 32,
            "n_heads": 2,
            "d_ff": 64,
            "n_encoder_layers": 1,
            "max_len": 16,
            "norm_order": "pre",
            "head": {"kind": "classifier", "pool": "cls"},
        },
        "train": {
            "steps": steps,
            "batch_tokens": 256,
            "learning_rate": 1e-2,
            "schedule": "cosine",
            "warmup": min(10, steps // 2),  # runs of seconds warm up within their steps
            "loss": "cross_entropy",
            "evaluate_every": max(steps // 2, 1),
            "save_every": steps,
            "log_every": max(steps // 4, 1),
            "device": "cpu",
            "threads": 1,
        },
    }
    for name, keys in (changes or {}).items():
        tables[name] = tables[name] | keys
    recipe = folder / "small.toml"
    recipe.write_text(to_toml(tables), encoding="utf-8")
    return recipe


def _train(home: Path) -> None:
    list(train(begin(open_recipe(write_recipe(home)), home / "run")))


def trained(folder: Path) -> Path:
    """A copy of the run: whoever evaluates it writes into it."""
    return Path(shutil.copytree(once("small_classifier", _train) / "run", folder / "small-run"))
