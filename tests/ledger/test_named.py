from __future__ import annotations

from glassformer.ledger.named import presets
from glassformer.models.presets import PRESETS


def test_every_preset_is_counted_once_in_its_order() -> None:
    found = presets()
    assert found.names == list(PRESETS)
    assert all(row["total"]["parameters"] > 0 for row in found.to_json())
