from __future__ import annotations

import pytest
import torch

from glassformer.errors import InputError
from glassformer.layers.position.table import look_up

TABLE = torch.arange(5.0)[:, None].expand(5, 2)


def test_without_positions_the_rows_come_in_order() -> None:
    assert torch.equal(look_up(TABLE, torch.zeros(3, 4, 2), None), TABLE[:4])


def test_one_list_of_positions_serves_the_batch() -> None:
    assert look_up(TABLE, torch.zeros(3, 2, 2), torch.tensor([3, 1]))[:, 0].tolist() == [3.0, 1.0]


def test_rows_of_the_batch_may_have_positions_of_their_own() -> None:
    found = look_up(TABLE, torch.zeros(2, 2, 2), torch.tensor([[0, 1], [4, 4]]))
    assert found[..., 0].tolist() == [[0.0, 1.0], [4.0, 4.0]]


def test_the_whole_table_can_be_used() -> None:
    assert look_up(TABLE, torch.zeros(1, 5, 2), None).shape == (5, 2)
    assert look_up(TABLE, torch.zeros(1, 1, 2), torch.tensor([4]))[0, 0].item() == 4.0


def test_a_longer_text_is_refused() -> None:
    with pytest.raises(InputError, match="the text has 6 positions, and max_len=5"):
        look_up(TABLE, torch.zeros(1, 6, 2), None)


def test_a_position_beyond_the_table_is_refused() -> None:
    with pytest.raises(InputError, match="the text has 9 positions, and max_len=5"):
        look_up(TABLE, torch.zeros(1, 2, 2), torch.tensor([[0, 8]]))


def test_a_batch_of_no_sentences_gives_none() -> None:
    at = torch.zeros(0, 2, dtype=torch.long)
    assert look_up(TABLE, torch.zeros(0, 2, 2), at).shape == (0, 2, 2)
