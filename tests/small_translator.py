"""A translator that learned twenty sentences by heart in seconds: the real files, the real training, a real run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from glassformer.config.toml import to_toml
from glassformer.loading import open_recipe
from glassformer.training.begin import begin
from glassformer.training.loop import train
from once import once

PEOPLE = {"나는": "I", "너는": "you", "우리는": "we", "그들은": "they", "학생들은": "the students"}
PLACES = {"학교에": "school", "시장에": "the market", "바다에": "the sea", "공원에": "the park"}
PAIRS = [(f"{who} {where} 간다", f"{PEOPLE[who]} go to {PLACES[where]}") for who in PEOPLE for where in PLACES]
KOREAN, ENGLISH = [pair[0] for pair in PAIRS], [pair[1] for pair in PAIRS]


def write_lines(path: Path, lines: list[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def write_recipe(folder: Path, *, steps: int = 120, **source: Any) -> Path:
    """A recipe on files in this folder; `source` changes the data source."""
    folder.mkdir(parents=True, exist_ok=True)
    both = [write_lines(folder / "text.ko", KOREAN), write_lines(folder / "text.en", ENGLISH)]
    tables = {
        "run": {"name": "small", "task": "translation"},
        "data": {"source": {"kind": "files", "train": both, "validation": both, "test": both} | source},
        "text": {"tokenizer": "words", "vocab_size": 29},
        "model": {
            "d_model": 32,
            "n_heads": 2,
            "d_ff": 64,
            "n_encoder_layers": 1,
            "n_decoder_layers": 1,
            "max_len": 32,
            "norm_order": "pre",
            "dropout": 0.0,
            "tie_embeddings": "all",
            "init": "xavier",
            "head": "language_model",
        },
        "train": {
            "steps": steps,
            "batch_tokens": 128,
            "learning_rate": 1e-2,
            "schedule": "cosine",
            "warmup": min(10, steps // 2),  # runs of seconds warm up within their steps
            "evaluate_every": max(steps // 2, 2),
            "save_every": steps,
            "log_every": max(steps // 4, 1),
            "device": "cpu",
            "threads": 1,
        },
    }
    path = folder / "small.toml"
    path.write_text(to_toml(tables), encoding="utf-8")
    return path


def _train(home: Path) -> None:
    list(train(begin(open_recipe(write_recipe(home)), home / "run")))


def trained(folder: Path) -> Path:
    """A copy of the run: whoever evaluates it writes into it."""
    return Path(shutil.copytree(once("small_translator", _train) / "run", folder / "small-run"))
