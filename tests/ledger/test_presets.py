from __future__ import annotations

import pytest

from glassformer.errors import ConfigError
from glassformer.ledger.presets import presets
from glassformer.models.presets import PRESETS


def test_every_preset_is_counted_once_in_its_order() -> None:
    found = presets()
    assert found.names == list(PRESETS)
    assert all(row["total"]["parameters"] > 0 for row in found.to_json())


def test_they_are_found_by_name() -> None:
    found = presets()
    assert len(found) == len(list(found)) and "gpt2" in found
    assert found["gpt2"].total.parameters == 124_439_808
    with pytest.raises(ConfigError, match="preset='gpt9'"):
        found["gpt9"]
