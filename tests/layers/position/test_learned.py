from __future__ import annotations

import pytest
import torch

from glassformer.errors import ConfigError, InputError
from glassformer.layers.position import LearnedPositions
from glassformer.trace.record import record


def test_a_negative_offset_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^position\.offset=-1 is out of range; use 0 to 2147483647$"):
        LearnedPositions(d_model=4, max_len=6, offset=-1)


def test_each_place_adds_its_row() -> None:
    positions, x = LearnedPositions(d_model=4, max_len=6), torch.randn(2, 3, 4)
    with record(positions) as trace:
        result = positions(x)
    assert torch.equal(result, x + positions.weight[:3])
    assert torch.equal(trace["encoding"], positions.weight[:3])


def test_positions_can_be_given() -> None:
    positions, at = LearnedPositions(d_model=4, max_len=6), torch.tensor([[5, 0], [2, 2]])
    assert torch.equal(positions(torch.zeros(2, 2, 4), at), positions.weight[at])


def test_rows_before_the_offset_are_never_used() -> None:
    positions = LearnedPositions(d_model=4, max_len=6, offset=2)
    assert positions.weight.shape == (8, 4)
    positions(torch.zeros(1, 6, 4)).sum().backward()
    assert positions.weight.grad is not None
    assert positions.weight.grad[:, 0].tolist() == [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]


def test_only_the_places_used_learn() -> None:
    positions = LearnedPositions(d_model=4, max_len=6)
    positions(torch.zeros(5, 2, 4)).sum().backward()
    assert positions.weight.grad is not None
    assert positions.weight.grad[:, 0].tolist() == [5.0, 5.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("offset", [0, 2])
def test_a_text_longer_than_the_table_is_refused(offset: int) -> None:
    positions = LearnedPositions(d_model=4, max_len=6, offset=offset)
    assert positions(torch.zeros(1, 6, 4)).shape == (1, 6, 4)
    with pytest.raises(InputError, match="the text has 7 positions, and max_len=6"):
        positions(torch.zeros(1, 7, 4))
    with pytest.raises(InputError, match="the text has 7 positions, and max_len=6"):
        positions(torch.zeros(1, 1, 4), torch.tensor([6]))
