"""Where the real data sets lie, for tests: GLASSFORMER_DATA, else ../shared/data beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).parents[2] / "shared" / "data"


def need(monkeypatch: pytest.MonkeyPatch, name: str) -> Path:
    """The folder of a set, with GLASSFORMER_DATA set to what holds it; the test is skipped where it is absent."""
    home = Path(os.environ.get("GLASSFORMER_DATA", "") or BESIDE)
    if not (home / name).is_dir():
        pytest.skip(f"the data set {name} is not at hand (set GLASSFORMER_DATA)")
    monkeypatch.setenv("GLASSFORMER_DATA", str(home))
    return home / name
