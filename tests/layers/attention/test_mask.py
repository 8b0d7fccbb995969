from __future__ import annotations

import pytest
import torch
from torch import Tensor

from glassformer.errors import InputError
from glassformer.layers.attention.mask import (
    Mask,
    as_allowed,
    causal,
    combine,
    padding,
    prefix,
    same_document,
    sliding_window,
)

CPU = torch.device("cpu")


def picture(mask: Tensor) -> list[str]:
    return ["".join("x" if seen else "." for seen in row) for row in mask.tolist()]


def test_padding_lets_the_first_tokens_be_seen() -> None:
    assert picture(padding(torch.tensor([3, 1, 0]), 4)) == ["xxx.", "x...", "...."]


def test_causal_is_a_triangle() -> None:
    assert picture(causal(4)) == ["x...", "xx..", "xxx.", "xxxx"]


def test_causal_queries_are_the_last_positions() -> None:
    assert picture(causal(2, 5)) == ["xxxx.", "xxxxx"]


def test_sliding_window_looks_to_both_sides() -> None:
    assert picture(sliding_window(4, 4, 2)) == ["xx..", "xxx.", ".xxx", "..xx"]
    assert picture(sliding_window(2, 5, 2)) == ["..xxx", "...xx"]


def test_a_window_of_one_sees_itself() -> None:
    assert picture(sliding_window(3, 3, 1)) == ["x..", ".x.", "..x"]


def test_prefix_is_seen_by_everyone() -> None:
    both = prefix(padding(torch.tensor([0, 3]), 4), 4)
    assert picture(both[0]) == ["x...", "xx..", "xxx.", "xxxx"]
    assert picture(both[1]) == ["xxx.", "xxx.", "xxx.", "xxxx"]


def test_prefix_with_queries_at_the_end() -> None:
    assert picture(prefix(padding(torch.tensor([1]), 4), 2)[0]) == ["xxx.", "xxxx"]


def test_combine_asks_every_mask() -> None:
    both = combine(None, causal(3), torch.tensor([[True, False, True]]))
    assert both is not None
    assert picture(both) == ["x..", "x..", "x.x"]
    assert combine() is None
    assert combine(None, None) is None


def test_no_rules_is_no_mask() -> None:
    assert Mask().dense(3, 3, CPU) is None


def test_dense_combines_all_rules() -> None:
    allowed = padding(torch.tensor([4, 2]), 4)[:, None, None]
    dense = Mask(causal=True, window=2, allowed=allowed).dense(4, 4, CPU)
    assert dense is not None
    assert dense.shape == (2, 1, 4, 4)
    assert picture(dense[0, 0]) == ["x...", "xx..", ".xx.", "..xx"]
    assert picture(dense[1, 0]) == ["x...", "xx..", ".x..", "...."]


def test_dense_prefix_wins_over_causal() -> None:
    dense = Mask(causal=True, prefix=padding(torch.tensor([2]), 3)).dense(3, 3, CPU)
    assert dense is not None
    assert dense.shape == (1, 1, 3, 3)
    assert picture(dense[0, 0]) == ["xx.", "xx.", "xxx"]


def test_a_single_causal_query_is_the_last_position_and_sees_all() -> None:
    assert Mask(causal=True).dense(1, 5, CPU) is None
    windowed = Mask(causal=True, window=2).dense(1, 5, CPU)
    assert windowed is not None
    assert picture(windowed) == ["...xx"]


@pytest.mark.parametrize(
    ("mask", "plain"),
    [
        (Mask(causal=True), True),
        (Mask(), False),
        (Mask(causal=True, window=4), False),
        (Mask(causal=True, prefix=torch.tensor([[True, False]])), False),
        (Mask(causal=True, allowed=torch.ones(1, 1, 1, 3, dtype=torch.bool)), False),
    ],
)
def test_only_the_triangle_alone_is_plainly_causal(mask: Mask, plain: bool) -> None:
    assert mask.is_plainly_causal is plain


def test_resolved_keeps_a_plain_triangle_for_the_fast_path() -> None:
    mask = Mask(causal=True)
    assert mask.resolved(4, 4, CPU) is mask


def test_resolved_is_the_dense_mask_of_the_same_rules() -> None:
    mask = Mask(causal=True, window=2, allowed=padding(torch.tensor([3, 1]), 3)[:, None, None])
    resolved, dense = mask.resolved(3, 3, CPU), mask.dense(3, 3, CPU)
    assert dense is not None and resolved.allowed is not None
    assert torch.equal(resolved.allowed, dense)
    assert (resolved.causal, resolved.window, resolved.prefix) == (False, None, None)


@pytest.mark.parametrize(
    ("given", "expected"), [((3, 5), (3, 5)), ((2, 3, 5), (2, 1, 3, 5)), ((2, 4, 3, 5), (2, 4, 3, 5))]
)
def test_what_a_person_passes_broadcasts_to_heads_and_queries(
    given: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    mask = torch.rand(given) > 0.5
    allowed = as_allowed(mask, None, 2, 3, 5)
    assert allowed is not None
    assert allowed.shape == expected
    assert torch.equal(allowed.reshape(given), mask)


def test_what_is_real_is_said_of_keys() -> None:
    real = torch.tensor([[True, True, False], [True, False, False]])
    allowed = as_allowed(None, real, 2, 5, 3)
    assert allowed is not None and allowed.shape == (2, 1, 1, 3) and torch.equal(allowed[:, 0, 0], real)
    both = as_allowed(torch.ones(5, 3).tril().bool(), real, 2, 5, 3)
    assert both is not None and torch.equal(both[1, 0, 4], real[1]) and both.shape == (2, 1, 5, 3)
    with pytest.raises(InputError, match=r"^real has shape \(3, 3\) for batch 2 and 3 keys; use batch × keys"):
        as_allowed(None, torch.ones(3, 3, dtype=torch.bool), 2, 5, 3)
    with pytest.raises(InputError, match=r"^real has type int64; use booleans"):
        as_allowed(None, torch.ones(2, 3, dtype=torch.long), 2, 5, 3)


def test_no_mask_stays_none() -> None:
    assert as_allowed(None, None, 2, 3, 5) is None


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_a_mask_that_is_not_boolean_is_refused(dtype: str) -> None:
    with pytest.raises(InputError, match=rf"^mask has type {dtype}; use booleans: mask True = may look"):
        as_allowed(torch.ones(2, 3, dtype=getattr(torch, dtype)), None, 2, 3, 3)


@pytest.mark.parametrize(
    "shape", [(), (3,), (1, 1, 1, 1, 1), (2, 4), (2, 3, 4), (2, 3), (2, 2, 3), (3, 3, 3), (2, 4, 2, 3)]
)
def test_a_mask_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"a mask has shape .* for batch 2, 3 queries and 3 keys; use queries × keys"):
        as_allowed(torch.ones(shape, dtype=torch.bool), None, 2, 3, 3)


def test_documents_of_a_row_are_blocks() -> None:
    mask = same_document(torch.tensor([[0, 0, 1, 2]]))
    expected = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert mask.int().tolist() == [expected]


def test_rules_as_numbers_to_add_are_made_once() -> None:
    mask = Mask(allowed=torch.tensor([[True, False], [True, True]]))
    added = mask.added
    assert added is not None and added.tolist() == [[0.0, float("-inf")], [0.0, 0.0]]
    assert mask.added is added and Mask().added is None


def test_queries_that_may_look_at_nothing() -> None:
    some = torch.tensor([[True, False], [False, False]])
    assert Mask(allowed=some).blocked_rows
    assert not Mask(allowed=some[:1]).blocked_rows and not Mask().blocked_rows


def test_when_all_rules_are_in_one_tensor() -> None:
    assert Mask().is_resolved(3) and Mask(allowed=torch.ones(3, 3, dtype=torch.bool)).is_resolved(3)
    assert Mask(causal=True).is_resolved(1) and not Mask(causal=True).is_resolved(2)
    assert not Mask(window=2).is_resolved(1) and not Mask(prefix=torch.ones(1, 3, dtype=torch.bool)).is_resolved(1)
