"""Attention of a few queries: the reference kernel's numbers, from 16 keys on bit for bit."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from glassformer.kernels.linear import packed_weights
from glassformer.kernels.short_attention import WIDTH, short_attention
from glassformer.layers.attention import kernel as module
from glassformer.layers.attention.kernel import fused, reference
from glassformer.layers.attention.mask import Mask

B, H, D = 3, 4, 8
SCALE = 0.37


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def heads(t: int, n: int) -> Tensor:
    """As a projection gives them: b n t d, one token after another."""
    return normal(B, t, n * D).unflatten(-1, (n, D)).transpose(1, 2)


def rules(t: int, s: int) -> Mask:
    allowed = normal(B, 1, t, s) > 0.0
    allowed[..., 0] = True
    return Mask(allowed=allowed)


@pytest.mark.parametrize("s", [1, 5, WIDTH - 1, WIDTH, 17, 40, 77])
@pytest.mark.parametrize("t", [1, 2, 4, 8])
@pytest.mark.parametrize("g", [4, 2, 1])
@pytest.mark.parametrize("masked", [True, False])
def test_it_is_the_equation(t: int, s: int, g: int, masked: bool) -> None:
    q, space, v = heads(t, H), normal(B, g, 128, D), heads(s, g)
    k = space[:, :, :s]  # a part of what is reserved, as in a cache
    mask, bias = rules(t, s) if masked else Mask(), normal(H, t, s)
    mine = short_attention(q, k, v, bias, mask.added, scale=SCALE)
    expected = reference(q, k, v, mask, bias=bias, scale=SCALE, dropout=0.0)
    if s >= WIDTH and g == H:
        assert torch.equal(mine, expected)
    torch.testing.assert_close(mine, expected, rtol=1e-5, atol=1e-6)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    seen: list[tuple[int, ...]] = []

    def attention(q: Tensor, k: Tensor, v: Tensor, *biases: Tensor | None, scale: float) -> Tensor:
        seen.append(tuple(k.shape))
        return short_attention(q, k, v, *biases, scale=scale)

    monkeypatch.setattr(module, "short_attention", attention)
    return seen


def look(mask: Mask, t: int = 4, s: int = 20) -> Tensor:
    return fused(heads(t, H), heads(s, H), heads(s, H), mask, bias=None, scale=SCALE, dropout=0.0)


@torch.no_grad()
def test_it_runs_where_the_weights_stay(short: list[object]) -> None:
    mask = rules(4, 20)
    plain = look(mask)
    assert not short
    with packed_weights():
        assert torch.equal(look(mask), plain) and len(short) == 1
        for other in (Mask(causal=True), Mask(window=3)):
            look(other)
        look(Mask(), t=9)  # too many queries
        with torch.enable_grad():
            look(mask)
    assert len(short) == 1


@torch.no_grad()
def test_a_query_that_may_look_at_nothing_gets_zero(short: list[object]) -> None:
    mask = rules(4, 20)
    assert mask.allowed is not None
    mask.allowed[1, :, 2] = False
    with packed_weights():
        seen = look(mask)
    assert not short and not seen[1, :, 2].any() and seen.isfinite().all()
