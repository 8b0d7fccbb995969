"""Trained models as if they came with the package: tiny runs, shared into a folder that stands for `trained/`."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny_runs
from glassformer.loading import trained
from glassformer.sharing import share_run


def package(folder: Path, monkeypatch: pytest.MonkeyPatch, models: dict[str, str]) -> Path:
    """A package whose trained models are these: name → task."""
    place = folder / "package" / "trained"
    for name, kind in models.items():
        share_run(tiny_runs.trained(kind, folder / f"run of {name}"), place / name, split="none")
    place.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(trained, "TRAINED", place)
    return place
