"""A run of a few seconds that writes letters: the tiny recipe of the language model, trained in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from glassformer.training import train
from glassformer.training.begin import begin
from tiny_tasks import tiny


def trained(folder: Path, *, steps: int = 8, **task: Any) -> Path:
    """The folder of a finished run; `task`: options such as documents="packed"."""
    config = tiny(
        "language_model",
        run={"name": "writer", "task": {"kind": "language_model", "context": 24, **task}},
        text={"tokenizer": "characters", "vocab_size": 0},
        train={"steps": steps, "evaluate_every": steps, "save_every": steps, "accumulate": 1},
    )
    list(train(begin(config, folder / "writer")))
    return folder / "writer"
