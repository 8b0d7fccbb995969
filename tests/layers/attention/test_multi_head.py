from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import pytest
import torch
from torch import Tensor

from glassformer.errors import ConfigError, InputError
from glassformer.layers.attention import KERNELS, KeyValues, Mask, MultiHeadAttention
from glassformer.layers.norm import LayerNorm, RMSNorm
from glassformer.layers.position import RotaryPositions
from glassformer.trace.record import record


def double(attention: MultiHeadAttention) -> MultiHeadAttention:
    return attention.double().eval()


def heads_one_by_one(attention: MultiHeadAttention, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """§3.2.2 as it is printed: every head with its own slices of the matrices, then Concat and W_O."""
    d_k, d_v, heads = attention.d_k, attention.d_v, []
    for head in range(attention.n_heads):
        group = head * attention.n_kv_heads // attention.n_heads
        of_keys, of_values = slice(group * d_k, (group + 1) * d_k), slice(group * d_v, (group + 1) * d_v)
        questions = attention.w_q(q)[..., head * d_k : (head + 1) * d_k]
        scores = questions @ attention.w_k(k)[..., of_keys].transpose(1, 2) / math.sqrt(d_k)
        heads.append(scores.softmax(-1) @ attention.w_v(v)[..., of_values])
    return attention.w_o(torch.cat(heads, -1))


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"n_kv_heads": 2},
        {"n_kv_heads": 1},
        {"d_k": 5},
        {"d_v": 3},
        {"d_k": 5, "d_v": 7, "n_kv_heads": 2},
    ],
)
def test_equals_the_formula_head_by_head(sizes: dict[str, int], kernel: str) -> None:
    attention = double(MultiHeadAttention(d_model=16, n_heads=4, kernel=kernel, **sizes))
    q, memory = torch.randn(2, 3, 16).double(), torch.randn(2, 5, 16).double()
    result = attention(q, memory, memory)
    assert result.shape == (2, 3, 16)
    torch.testing.assert_close(result, heads_one_by_one(attention, q, memory, memory), atol=1e-12, rtol=0)


def test_two_tokens_with_identity_matrices_by_hand() -> None:
    # One head of two dimensions, all matrices the identity: 0.66976 of itself, 0.33024 of the other token.
    attention = double(MultiHeadAttention(d_model=2, n_heads=1, bias=()))
    with torch.no_grad():
        for linear in (attention.w_q, attention.w_k, attention.w_v, attention.w_o):
            linear.weight.copy_(torch.eye(2))
    x = torch.eye(2).double()[None]
    expected = torch.tensor([[[0.669761, 0.330239], [0.330239, 0.669761]]]).double()
    torch.testing.assert_close(attention(x, x, x), expected, atol=1e-6, rtol=0)


def test_shapes_of_the_paper() -> None:
    attention = MultiHeadAttention(d_model=512, n_heads=8)
    x = torch.randn(1, 3, 512)
    with record(attention) as trace:
        attention(x, x, x)
    shapes = {name: tuple(trace[name].shape) for name in trace.names()}
    assert shapes == {
        "q": (1, 8, 3, 64),
        "k": (1, 8, 3, 64),
        "v": (1, 8, 3, 64),
        "scores": (1, 8, 3, 3),
        "weights": (1, 8, 3, 3),
        "heads": (1, 8, 3, 64),
        "output": (1, 3, 512),
    }
    assert attention.scale == 0.125


def test_parameters_of_grouped_heads_of_free_size() -> None:
    attention = MultiHeadAttention(d_model=16, n_heads=4, n_kv_heads=2, d_k=5, d_v=3, bias=("q", "o"))
    shapes = {name: tuple(parameter.shape) for name, parameter in attention.named_parameters()}
    assert shapes == {
        "w_q.weight": (20, 16),
        "w_q.bias": (20,),
        "w_k.weight": (10, 16),
        "w_v.weight": (6, 16),
        "w_o.weight": (16, 12),
        "w_o.bias": (16,),
    }


@pytest.mark.parametrize(
    ("bias", "expected"),
    [
        ((), ""),
        (("q",), "q"),
        (("k",), "k"),
        (("v",), "v"),
        (("o",), "o"),
        (("q", "k", "v", "o"), "qkvo"),
        (True, "qkvo"),
        (False, ""),
        ("norm", ""),
        ("q,v", "qv"),
        ({"o"}, "o"),
    ],
)
def test_each_bias_is_chosen_by_its_name(bias: bool | Collection[str], expected: str) -> None:
    attention = MultiHeadAttention(d_model=8, n_heads=2, bias=bias)
    found = {
        name.removeprefix("w_").removesuffix(".bias") for name, _ in attention.named_parameters() if "bias" in name
    }
    assert found == set(expected)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"bias": ["query"]}, "bias='query' is unknown; use one of: q, k, v, o, feed_forward, norm"),
        ({"bias": 3}, 'bias=3 is of the wrong type; use true, false, or a list such as ["q", "k", "v"]'),
        ({"n_heads": 0}, "n_heads=0 is out of range; use 1 to 2147483647"),
        ({"n_heads": 2.0}, "n_heads=2.0 is of the wrong type; use a whole number, such as 512"),
        ({"n_heads": 3}, "n_heads=3 does not divide d_model=8; use 2, 4, or set d_k"),
        ({"n_kv_heads": 0}, "n_kv_heads=0 is out of range; use 1 to 2147483647"),
        ({"n_kv_heads": 3}, "n_kv_heads=3 does not divide n_heads=2; use a divisor of n_heads"),
        ({"d_k": 0}, "d_k=0 is out of range; use 1 to 2147483647"),
        ({"d_v": -1}, "d_v=-1 is out of range; use 1 to 2147483647"),
    ],
)
def test_what_no_attention_can_have_is_refused(options: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        MultiHeadAttention(**{"d_model": 8, "n_heads": 2, **options})
    assert str(caught.value) == line


def test_a_scale_replaces_one_over_the_root() -> None:
    plain, scaled = MultiHeadAttention(d_model=8, n_heads=2), MultiHeadAttention(d_model=8, n_heads=2, scale=1.0)
    scaled.load_state_dict(plain.state_dict())
    x = torch.randn(1, 3, 8)
    with record(plain) as small:
        plain(x, x, x)
    with record(scaled) as large:
        scaled(x, x, x)
    torch.testing.assert_close(large["scores"], small["scores"] * 2.0)  # √d_k = √4


@pytest.mark.parametrize(("kind", "norm"), [("layer", LayerNorm), ("rms", RMSNorm)])
def test_queries_and_keys_are_normalised_per_head(kind: str, norm: type[LayerNorm] | type[RMSNorm]) -> None:
    attention = double(MultiHeadAttention(d_model=16, n_heads=4, n_kv_heads=2, qk_norm=kind, eps=1e-6))
    assert isinstance(attention.q_norm, norm) and isinstance(attention.k_norm, norm)
    assert attention.q_norm.weight.shape == attention.k_norm.weight.shape == (4,)
    assert attention.q_norm.eps == 1e-6
    x = 30 * torch.randn(2, 3, 16).double()
    with record(attention) as trace:
        attention(x, x, x)
    for name, linear, heads in (("q", attention.w_q, 4), ("k", attention.w_k, 2)):
        raw = linear(x).reshape(2, 3, heads, 4).transpose(1, 2)
        expected = norm(4, eps=1e-6).double()(raw)
        torch.testing.assert_close(trace[name], expected, atol=1e-12, rtol=0)
    torch.testing.assert_close(trace["q"].square().mean(-1), torch.ones(2, 4, 3).double(), atol=1e-5, rtol=0)


def test_the_norm_of_queries_and_keys_has_a_bias_only_when_norms_have_one() -> None:
    without = MultiHeadAttention(d_model=8, n_heads=2, qk_norm="layer", bias=("q",))
    with_bias = MultiHeadAttention(d_model=8, n_heads=2, qk_norm="layer", bias=("q", "norm"))
    assert "q_norm.bias" not in dict(without.named_parameters())
    assert {"q_norm.bias", "k_norm.bias"} <= set(dict(with_bias.named_parameters()))


def test_rotation_turns_queries_and_keys_but_not_values() -> None:
    attention = double(MultiHeadAttention(d_model=8, n_heads=2))
    x, positions = torch.randn(1, 3, 8).double(), RotaryPositions(d_k=4)
    with record(attention) as plain:
        attention(x, x, x)
    with record(attention) as turned:
        attention(x, x, x, rotation=positions.rotation(torch.arange(3), torch.float64))
    for name in ("q", "k"):
        torch.testing.assert_close(turned[name], positions(plain[name]), atol=1e-12, rtol=0)
        assert not torch.allclose(turned[name], plain[name])
    assert torch.equal(turned["v"], plain["v"])


def test_a_padding_mask_equals_leaving_the_padding_out() -> None:
    attention = double(MultiHeadAttention(d_model=16, n_heads=4))
    x = torch.randn(2, 5, 16).double()
    mask = torch.tensor([[True] * 3 + [False] * 2] * 2)
    torch.testing.assert_close(attention(x, x, x, real=mask), attention(x, x[:, :3], x[:, :3]), atol=1e-12, rtol=0)


def test_masks_may_be_given_as_rules_or_as_tensors() -> None:
    attention = double(MultiHeadAttention(d_model=16, n_heads=4))
    x = torch.randn(2, 5, 16).double()
    triangle = torch.ones(2, 5, 5).tril().bool()
    by_rule = attention(x, x, x, Mask(causal=True))
    torch.testing.assert_close(attention(x, x, x, triangle), by_rule, atol=1e-12, rtol=0)
    per_head = triangle[:, None].expand(2, 4, 5, 5)
    torch.testing.assert_close(attention(x, x, x, per_head), by_rule, atol=1e-12, rtol=0)


def test_a_growing_cache_gives_what_the_whole_pass_gives() -> None:
    attention = double(MultiHeadAttention(d_model=16, n_heads=4, n_kv_heads=2))
    x, cache = torch.randn(2, 6, 16).double(), KeyValues()
    whole = attention(x, x, x, Mask(causal=True))
    pieces = [attention(piece, piece, piece, Mask(causal=True), cache=cache) for piece in x.split([1, 3, 2], 1)]
    torch.testing.assert_close(torch.cat(pieces, 1), whole, atol=1e-10, rtol=0)
    assert cache.whole()[0].shape == (2, 2, 6, 4)


def test_the_memory_is_projected_once_and_then_remembered() -> None:
    attention = double(MultiHeadAttention(d_model=16, n_heads=4))
    x, memory, cache = torch.randn(2, 2, 16).double(), torch.randn(2, 5, 16).double(), KeyValues(fixed=True)
    first = attention(x, memory, memory, cache=cache)
    nonsense = torch.full_like(memory, float("nan"))  # not looked at any more
    assert torch.equal(attention(x, nonsense, nonsense, cache=cache), first)


def test_dropout_acts_in_training_only() -> None:
    attention = MultiHeadAttention(d_model=16, n_heads=4, dropout=0.5)
    x = torch.randn(2, 5, 16)
    assert not torch.equal(attention(x, x, x), attention(x, x, x))
    attention.eval()
    assert torch.equal(attention(x, x, x), attention(x, x, x))


def test_a_mask_of_numbers_is_refused() -> None:
    attention, x = MultiHeadAttention(d_model=8, n_heads=2), torch.randn(1, 3, 8)
    with pytest.raises(InputError, match="mask has type float32"):
        attention(x, x, x, torch.zeros(1, 3))
    with pytest.raises(InputError, match=r"a mask has shape \(3,\)"):
        attention(x, x, x, torch.ones(3, dtype=torch.bool))
