from __future__ import annotations

from glassformer.layers.position import POSITIONS, NoPositions
from glassformer.ledger.rows import rows_of_box


def test_it_holds_and_does_nothing() -> None:
    positions = NoPositions()
    assert positions.acts_on == "nothing"
    assert positions.state_dict() == {}
    assert rows_of_box(NoPositions, {}) == ()


def test_it_is_found_by_name() -> None:
    assert POSITIONS["none"] is NoPositions
