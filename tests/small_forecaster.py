"""A forecaster of a few seconds on waves, and files of series, for the tests that need them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from glassformer.data.channel import Channel
from glassformer.loading import Loaded, load
from glassformer.training.begin import begin
from glassformer.training.loop import train
from tiny_tasks import tiny


def trained(folder: Path, **changes: dict[str, Any]) -> Loaded:
    """A run of the tiny recipe, trained and loaded."""
    list(train(begin(tiny("forecasting", **changes), folder)))
    return load(folder, checkpoint="last")


def channel(name: str, values: np.ndarray) -> Channel:
    """Values of days."""
    return Channel(name, np.datetime64("2024-01-01T00:00:00") + 86_400 * np.arange(len(values)), values)


def hours(count: int, values: list[float] | None = None) -> str:
    """A CSV of hours."""
    rows = (
        f"2024-01-{1 + i // 24:02d} {i % 24:02d}:00,{values[i] if values else (i % 24) + 0.5}" for i in range(count)
    )
    return "\n".join(["date,load", *rows, ""])


def written(folder: Path, text: str) -> Path:
    path = folder / "series.csv"
    path.write_text(text, encoding="utf-8")
    return path
