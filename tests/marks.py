"""Which values of a parameter `make test-fast` and `make test` try, where all of them together take too long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import pytest


def first_is_fast(values: Iterable[Any], fast: int = 1) -> list[Any]:
    """All values for `make test`; those after the first are marked slow."""
    return [value if i < fast else pytest.param(value, marks=pytest.mark.slow) for i, value in enumerate(values)]


def two_by_two(*parameters: Sequence[Any]) -> list[Any]:
    """Every second combination for `make test`, in which any two values still meet; the others for `make fuzz`."""
    places = product(*(range(len(values)) for values in parameters))
    marks = ([pytest.mark.fuzz] if sum(place) % 2 else [] for place in places)
    return [pytest.param(*values, marks=mark) for values, mark in zip(product(*parameters), marks, strict=True)]
