"""Attention of short texts against the equation, with slopes; on an accelerator, or with TRITON_INTERPRET=1."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from glassformer.layers.attention.kernel import fused, reference
from glassformer.layers.attention.mask import Mask
from kernel_device import DEVICE, INTERPRETED, KERNEL_TESTS

pytestmark = KERNEL_TESTS
CLOSE = {torch.float16: 4e-3, torch.bfloat16: 3e-2}  # of numbers around 1
SIZES = {  # b h t s d_k d_v
    "the paper's": (3, 8, 32, 32, 64, 64),
    "patches": (2, 4, 50, 50, 32, 32),
    "as long as may be": (2, 2, 64, 64, 64, 64),
    "across": (2, 2, 7, 40, 16, 24),
    "one of each": (1, 1, 1, 1, 8, 8),
    "no power of two": (2, 3, 17, 33, 20, 9),
}
MASKS = {
    "all": lambda b, h, t, s: Mask(),
    "causal": lambda b, h, t, s: Mask(causal=True),
    "padding": lambda b, h, t, s: Mask(allowed=(torch.arange(s) < max(1, s // 2)).expand(b, 1, 1, s).to(DEVICE)),
    "by heads": lambda b, h, t, s: Mask(allowed=(torch.rand(b, h, t, s) < 0.5).to(DEVICE)),
    "some see nothing": lambda b, h, t, s: Mask(
        allowed=(torch.arange(t) % 2 == 1)[:, None].expand(b, 1, t, s).to(DEVICE)
    ),
}


def heads(b: int, h: int, n: int, d: int, dtype: torch.dtype) -> Tensor:
    """As they come from one wide product: not close together in memory."""
    return torch.randn(b, n, h + 1, d, device=DEVICE, dtype=dtype)[:, :, :h].transpose(1, 2).requires_grad_()


def kernel(q: Tensor, k: Tensor, v: Tensor, mask: Mask, *, scale: float, dropout: float = 0.0) -> Tensor:
    from glassformer.kernels.short_texts import short_texts

    causal = mask.is_plainly_causal and q.shape[2] == k.shape[2]
    allowed = None if causal else mask.dense(q.shape[2], k.shape[2], q.device)
    return short_texts(q, k, v, allowed, causal=causal, scale=scale, dropout=dropout)


def slopes(out: Tensor, along: Tensor, *inputs: Tensor) -> list[Tensor]:
    return [x.float() for x in torch.autograd.grad(out, inputs, along.to(out.dtype))]


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("sizes", SIZES)
def test_it_is_the_equation_with_its_slopes(sizes: str, mask: str, dtype: torch.dtype) -> None:
    if INTERPRETED and dtype == torch.bfloat16:
        pytest.skip("the interpreter cannot multiply matrices of this type")
    torch.manual_seed(0)
    b, h, t, s, d_k, d_v = SIZES[sizes]
    q, k, v = heads(b, h, t, d_k, dtype), heads(b, h, s, d_k, dtype), heads(b, h, s, d_v, dtype)
    rules, along = MASKS[mask](b, h, t, s), torch.randn(b, h, t, d_v, device=DEVICE)
    found = kernel(q, k, v, rules, scale=0.2)
    wide = [x.detach().float().requires_grad_() for x in (q, k, v)]
    expected = reference(*wide, rules, bias=None, scale=0.2, dropout=0.0)
    assert found.dtype == dtype and found.transpose(1, 2).is_contiguous()  # joining the heads copies nothing
    torch.testing.assert_close(found.float(), expected, rtol=CLOSE[dtype], atol=CLOSE[dtype])
    for mine, right in zip(slopes(found, along, q, k, v), slopes(expected, along, *wide), strict=True):
        torch.testing.assert_close(mine, right, rtol=2 * CLOSE[dtype], atol=2 * CLOSE[dtype])


def test_dropout_drops_the_same_weights_forward_and_backward() -> None:
    torch.manual_seed(0)
    n, dtype = 48, torch.float16
    q, k, v = (heads(2, 3, n, n, dtype) for _ in range(3))
    ones = torch.eye(n, device=DEVICE, dtype=dtype).expand(2, 3, n, n)
    random = torch.get_rng_state() if DEVICE == "cpu" else torch.cuda.get_rng_state()
    weights = kernel(q, k, ones, Mask(), scale=0.2, dropout=0.3)  # against the identity
    dropped = weights == 0
    assert 0.25 < dropped.float().mean() < 0.35
    assert not torch.equal(dropped, kernel(q, k, ones, Mask(), scale=0.2, dropout=0.3) == 0)  # the next seed
    torch.set_rng_state(random) if DEVICE == "cpu" else torch.cuda.set_rng_state(random)
    found = kernel(q, k, v, Mask(), scale=0.2, dropout=0.3)
    wide = [x.detach().float().requires_grad_() for x in (q, k, v)]
    a = (wide[0] @ wide[1].transpose(2, 3) * 0.2).softmax(-1)
    expected = a.masked_fill(dropped, 0.0) / 0.7 @ wide[2]
    torch.testing.assert_close(found.float(), expected, rtol=1e-2, atol=1e-2)
    along = torch.randn_like(expected)
    for mine, right in zip(slopes(found, along, q, k, v), slopes(expected, along, *wide), strict=True):
        torch.testing.assert_close(mine, right, rtol=2e-2, atol=2e-2)


@pytest.mark.skipif(DEVICE == "cpu", reason="needs an accelerator")
def test_training_on_short_texts_runs_it_compiled_or_not_and_long_ones_do_not() -> None:
    from torch.profiler import ProfilerActivity, profile

    from glassformer.kernels.short_texts import are_short

    torch.manual_seed(0)
    q, k, v = (heads(2, 8, 32, 64, torch.bfloat16) for _ in range(3))
    compiled = torch.compile(fused, fullgraph=True)
    wide = [x.detach().float() for x in (q, k, v)]
    expected = reference(*wide, Mask(causal=True), bias=None, scale=0.125, dropout=0.0)
    for form in (fused, compiled):
        with profile(activities=[ProfilerActivity.CUDA]) as seen:
            found = form(q, k, v, Mask(causal=True), bias=None, scale=0.125, dropout=0.0)
            torch.cuda.synchronize()
        assert any("forward_head" in event.key for event in seen.key_averages())
        torch.testing.assert_close(found.float(), expected, rtol=2e-2, atol=2e-2)
    assert torch.equal(fused(q, k, v, Mask(causal=True), bias=None, scale=0.125, dropout=0.0), found)
    long = [heads(2, 8, 65, 64, torch.bfloat16) for _ in range(3)]
    assert are_short(q, k, v) and not are_short(*long)
    assert not are_short(q, k[:1], v[:1]) and not are_short(
        q, k[:, :1], v[:, :1]
    )  # of another number of texts or heads
    assert not are_short(q.float(), k.float(), v.float())
