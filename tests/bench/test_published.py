from __future__ import annotations

import pytest

from glassformer.bench import published
from glassformer.models.presets import PRESETS

ROWS = published.run()["rows"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["preset"])
def test_counted_is_published(row: dict[str, object]) -> None:
    assert row["counted"] == row["published"]


def test_every_published_model_is_a_preset() -> None:
    assert set(published.PUBLISHED) <= set(PRESETS)
