from __future__ import annotations

import pytest
import torch

from glassformer.errors import ConfigError, InputError
from glassformer.layers.norm import LayerNorm, RMSNorm
from glassformer.layers.position import POSITIONS
from glassformer.models.decoder import Decoder
from glassformer.models.encoder import Encoder
from glassformer.models.stack import Stack, places, places_in
from glassformer.trace.record import record

SIZES = {"d_model": 16, "n_heads": 4, "d_ff": 24, "max_len": 8}
CPU = torch.device("cpu")


def test_places_count_from_the_past() -> None:
    assert places(None, 3, 0, CPU).tolist() == [0, 1, 2]
    assert places(None, 2, 5, CPU).tolist() == [5, 6]


def test_places_begin_anew_in_each_document() -> None:
    assert places_in(torch.tensor([[0, 0, 1, 1, 1, 0], [7, 7, 7, 7, 7, 7]])).tolist() == [
        [0, 1, 0, 1, 2, 0],
        [0, 1, 2, 3, 4, 5],
    ]


def test_places_count_real_tokens_only() -> None:
    mask = torch.tensor([[True, True, True, False], [False, False, True, True]])
    assert places(mask, 4, 0, CPU).tolist() == [[0, 1, 2, 2], [0, 0, 0, 1]]


def test_places_with_a_cache_are_the_last_of_the_mask() -> None:
    mask = torch.tensor([[True, True, True, True], [False, False, True, True]])
    assert places(mask, 2, 2, CPU).tolist() == [[2, 3], [0, 1]]


@pytest.mark.parametrize(
    ("norm_order", "given", "expected"),
    [
        ("post", None, False),
        ("pre", None, True),
        ("parallel", None, True),
        ("post", True, True),
        ("pre", False, False),
    ],
)
def test_a_stream_that_was_never_normalised_is_normalised_at_the_end(
    norm_order: str, given: bool | None, expected: bool
) -> None:
    stack = Encoder(**SIZES, n_layers=1, norm_order=norm_order, final_norm=given)
    assert isinstance(stack.final_norm, LayerNorm) is expected


@pytest.mark.parametrize("make", [Encoder, Decoder])
def test_the_parts_follow_each_other(make: type[Stack]) -> None:
    stack = make(**SIZES, n_layers=2, norm_order="pre", embedding_norm=True).double()
    assert stack.embedding_norm is not None and stack.final_norm is not None
    x = torch.randn(2, 5, 16).double()
    expected = stack.embedding_norm(x + stack.positions.table[:5])
    with record(stack) as trace:
        result = stack(x)
    torch.testing.assert_close(trace["input"], expected, atol=1e-12, rtol=0)
    for block in stack.blocks:
        expected = block(expected)
    expected = stack.final_norm(expected)
    torch.testing.assert_close(result, expected, atol=1e-12, rtol=0)
    assert torch.equal(trace["output"], result)


def test_norms_of_the_stack_are_of_the_kind_of_its_blocks() -> None:
    stack = Encoder(**SIZES, n_layers=1, norm="rms", eps=1e-8, embedding_norm=True, final_norm=True)
    for norm in (stack.embedding_norm, stack.final_norm):
        assert isinstance(norm, RMSNorm) and norm.eps == 1e-8
    stack = Encoder(**SIZES, n_layers=1, bias=("q",), embedding_norm=True, final_norm=True)
    assert not [name for name, _ in stack.named_parameters() if name.endswith("norm.bias")]


def test_stochastic_depth_rises_evenly() -> None:
    stack = Encoder(**SIZES, n_layers=5, stochastic_depth=0.2)
    assert [block.drop[1].rate for block in stack.blocks] == pytest.approx([0.0, 0.05, 0.1, 0.15, 0.2])


def test_dropout_acts_on_what_enters() -> None:
    stack = Encoder(**SIZES, n_layers=1, norm_order="pre", final_norm=False, dropout=0.5)
    assert stack.dropout.p == 0.5
    x = torch.ones(1, 4, 16)
    torch.manual_seed(0)
    entered, _ = stack.enter(x, None)
    kept = entered != 0
    torch.testing.assert_close(entered[kept], (2 * stack.positions(x))[kept])
    assert 0 < int(kept.sum()) < 64


@pytest.mark.parametrize("position", sorted(POSITIONS))
def test_each_kind_of_position_acts_in_one_place_only(position: str) -> None:
    stack = Encoder(**SIZES, n_layers=1, position=position)
    x = torch.randn(2, 5, 16)
    entered, place = stack.enter(x, None)
    acted = {
        "stream": not torch.equal(entered, x),
        "queries and keys": place.rotation is not None,
        "scores": place.bias is not None,
    }
    assert [where for where, did in acted.items() if did] == ([] if position == "none" else [stack.positions.acts_on])
    if place.bias is not None:
        assert place.bias.shape == (4, 5, 5)


@pytest.mark.parametrize("position", sorted(POSITIONS))
def test_a_pass_after_a_past_has_the_places_after_it(position: str) -> None:
    stack = Decoder(**SIZES, n_layers=1, position=position).double()
    x = torch.randn(1, 6, 16).double()
    whole, place = stack.enter(x, None)
    later, later_place = stack.enter(x[:, 4:], None, past=4)
    torch.testing.assert_close(later, whole[:, 4:], atol=1e-12, rtol=0)
    if place.rotation is not None and later_place.rotation is not None:
        assert torch.equal(later_place.rotation.cos, place.rotation.cos[4:])
    if place.bias is not None and later_place.bias is not None:
        assert torch.equal(later_place.bias, place.bias[:, 4:])


def test_options_of_positions_are_passed_on() -> None:
    stack = Decoder(
        **SIZES, n_layers=1, d_k=6, position="rotary", position_options={"base": 500.0, "layout": "interleaved"}
    )
    assert (stack.positions.d_k, stack.positions.base, stack.positions.layout) == (6, 500.0, "interleaved")


def test_relative_positions_know_on_which_side_they_are() -> None:
    assert Encoder(**SIZES, n_layers=1, position="relative").positions.bidirectional is True
    assert Decoder(**SIZES, n_layers=1, position="relative").positions.bidirectional is False


@pytest.mark.parametrize("position", ["sinusoidal", "learned"])
def test_a_text_longer_than_the_table_is_refused(position: str) -> None:
    stack = Encoder(**SIZES, n_layers=1, position=position)
    assert stack(torch.randn(1, 8, 16)).shape == (1, 8, 16)
    with pytest.raises(InputError, match="the text has 9 positions, and max_len=8"):
        stack(torch.randn(1, 9, 16))


@pytest.mark.parametrize("position", ["rotary", "alibi", "relative", "none"])
def test_positions_without_a_table_know_no_longest_text(position: str) -> None:
    assert Encoder(**SIZES, n_layers=1, position=position)(torch.randn(1, 20, 16)).shape == (1, 20, 16)


def test_a_window_limits_what_is_seen() -> None:
    stack = Encoder(**SIZES, n_layers=1, window=2)
    with record(stack) as trace:
        stack(torch.randn(1, 5, 16))
    seen = trace.attention()[0][0, 0] > 0
    assert ["".join("x" if one else "." for one in row) for row in seen.tolist()] == [
        "xx...",
        "xxx..",
        ".xxx.",
        "..xxx",
        "...xx",
    ]


@pytest.mark.parametrize("make", [Encoder, Decoder])
@pytest.mark.parametrize("kernel", ["fused", "reference"])
@pytest.mark.parametrize(("window_from", "windowed"), [(0, [1, 1, 1]), (1, [0, 1, 1]), (2, [0, 0, 1]), (5, [0, 0, 0])])
def test_a_window_may_begin_at_a_later_layer(
    make: type[Stack], kernel: str, window_from: int, windowed: list[int]
) -> None:
    stack = make(**SIZES, n_layers=3, window=2, window_from=window_from, kernel=kernel)
    padded = torch.tensor([[False, True, True, True, True, True]])
    for real in (None, padded):
        with record(stack) as trace:
            stack(torch.randn(1, 6, 16), real=real)
        last = [weights[0, 0, -1] for weights in trace.attention()]  # what the last position sees
        assert [int(not row[2:4].any()) for row in last] == windowed
        assert all(row[4:].all() for row in last)


@pytest.mark.parametrize("make", [Encoder, Decoder])
def test_where_a_window_begins_needs_a_window(make: type[Stack]) -> None:
    with pytest.raises(ConfigError, match=r"^window_from=1 without a window changes nothing; set window, or leave"):
        make(**SIZES, n_layers=2, window_from=1)
    with pytest.raises(ConfigError, match=r"^window_from=-1 is out of range"):
        make(**SIZES, n_layers=2, window=2, window_from=-1)


def test_a_later_window_decodes_from_a_cache_as_in_one_pass() -> None:
    stack, x = Decoder(**SIZES, n_layers=3, window=2, window_from=1).double().eval(), torch.randn(2, 7, 16).double()
    cache = stack.empty_cache()
    steps = [stack(x[:, t : t + 1], cache=cache) for t in range(7)]
    torch.testing.assert_close(torch.cat(steps, 1), stack(x), atol=1e-12, rtol=0)


@pytest.mark.parametrize("make", [Encoder, Decoder])
def test_vectors_of_another_width_are_refused(make: type[Stack]) -> None:
    with pytest.raises(InputError, match=r"^vectors have shape \(2, 3, 15\); this model takes batch × length × 16$"):
        make(**SIZES, n_layers=1)(torch.randn(2, 3, 15))
    with pytest.raises(InputError, match=r"^vectors have shape \(3, 16\); this model takes batch × length × 16$"):
        make(**SIZES, n_layers=1)(torch.randn(3, 16))


@pytest.mark.parametrize("make", [Encoder, Decoder])
def test_no_vectors_at_all_are_refused(make: type[Stack]) -> None:
    with pytest.raises(InputError, match="the text is empty"):
        make(**SIZES, n_layers=1)(torch.randn(2, 0, 16))


@pytest.mark.parametrize("make", [Encoder, Decoder])
def test_double_precision_in_a_model_of_less_is_refused(make: type[Stack]) -> None:
    stack, x = make(n_layers=1, **SIZES), torch.zeros(1, 3, 16)
    line = r"^vectors have type float64, and the numbers of this model have type float32; use x\.float\(\), or model"
    with pytest.raises(InputError, match=line) as caught:
        stack(x.double())
    assert "float64인데" in caught.value.in_language("ko")
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(InputError, match=line):  # doubles are not cast
        stack(x.double())
    assert stack.double()(x.double()).dtype == torch.float64


def test_a_memory_of_double_precision_is_refused() -> None:
    decoder, x = Decoder(n_layers=1, cross_attention=True, **SIZES), torch.zeros(1, 3, 16)
    with pytest.raises(InputError, match="vectors have type float64, and the numbers of this model have type float32"):
        decoder(x, x.double())
