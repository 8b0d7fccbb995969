from __future__ import annotations

import pytest
import torch
from transformers import DeiTConfig, ViTConfig
from transformers.models.deit.modeling_deit import DeiTEmbeddings
from transformers.models.vit.modeling_vit import ViTEmbeddings

from glassformer.errors import ConfigError, InputError
from glassformer.layers.position import LearnedPositions
from glassformer.layers.position.learned import interpolate
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


@pytest.mark.parametrize("size", [8, 12, 16, 28])
@pytest.mark.parametrize(
    ("embeddings", "config", "class_tokens"), [(ViTEmbeddings, ViTConfig, 1), (DeiTEmbeddings, DeiTConfig, 2)]
)
def test_another_size_of_image_is_that_of_transformers(
    embeddings: type[ViTEmbeddings], config: type[ViTConfig], class_tokens: int, size: int
) -> None:
    theirs = embeddings(config(image_size=16, patch_size=4, hidden_size=6)).double()
    table, side = torch.randn(16 + class_tokens, 6).double(), size // 4
    theirs.position_embeddings = torch.nn.Parameter(table[None])
    expected = theirs.interpolate_pos_encoding(torch.zeros(1, side * side + class_tokens, 6), size, size)[0]
    found = interpolate(table, class_tokens, (4, 4), (side, side))
    assert found.shape == (side * side + class_tokens, 6)
    torch.testing.assert_close(found, expected.detach(), atol=1e-12, rtol=0)


def test_a_wider_image_is_that_of_transformers() -> None:
    theirs = ViTEmbeddings(ViTConfig(image_size=16, patch_size=4, hidden_size=6)).double()
    expected = theirs.interpolate_pos_encoding(torch.zeros(1, 2 * 7 + 1, 6), 8, 28)[0]
    found = interpolate(theirs.position_embeddings[0], 1, (4, 4), (2, 7))
    torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)


def test_the_same_size_changes_nothing_and_class_tokens_are_kept() -> None:
    table = torch.randn(11, 3)
    assert torch.equal(interpolate(table, 2, (3, 3), (3, 3)), table)
    assert torch.equal(interpolate(table, 2, (3, 3), (5, 4))[:2], table[:2])
    flat = interpolate(torch.ones(9, 3), 0, (3, 3), (5, 5))
    torch.testing.assert_close(flat, torch.ones(25, 3))  # what is even stays even


def test_a_table_of_another_grid_is_refused() -> None:
    with pytest.raises(InputError, match=r"^the table has 10 rows, and a grid of 3×3 with class_tokens=2 needs"):
        interpolate(torch.zeros(10, 4), 2, (3, 3), (5, 5))
