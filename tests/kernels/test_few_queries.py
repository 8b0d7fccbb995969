"""Attention of a few queries against the equation; on an accelerator, or by hand with TRITON_INTERPRET=1."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from glassformer.layers.attention.kernel import fused, reference
from glassformer.layers.attention.mask import Mask
from kernel_device import DEVICE, INTERPRETED, KERNEL_TESTS

pytestmark = KERNEL_TESTS
CLOSE = {torch.float32: 2e-5, torch.float16: 3e-3, torch.bfloat16: 2e-2}
SIZES = {  # b h g t s d_k d_v
    "beams in slots": (3, 8, 8, 4, 128, 64, 64),
    "greedy": (2, 8, 8, 1, 96, 64, 64),
    "grouped heads": (2, 8, 2, 4, 70, 32, 32),
    "more rows than one program has": (2, 8, 1, 3, 130, 16, 16),
    "one of each": (1, 1, 1, 1, 1, 8, 8),
    "no power of two": (2, 6, 2, 16, 67, 65, 17),
    "wide heads": (1, 2, 2, 5, 40, 192, 128),
    "the widest": (1, 2, 2, 3, 40, 256, 256),
    "a long past": (1, 4, 4, 2, 1000, 64, 64),
}
MASKS = {
    "all": lambda b, h, t, s: None,
    "each its own": lambda b, h, t, s: torch.rand(b, 1, t, s) < 0.3,
    "padding": lambda b, h, t, s: torch.rand(b, 1, 1, s) < 0.5,
    "one for all": lambda b, h, t, s: torch.rand(t, s) < 0.5,
    "by heads": lambda b, h, t, s: torch.rand(b, h, t, s) < 0.5,
    "the first slots are filled": lambda b, h, t, s: (torch.arange(s) < s // 3).expand(b, 1, t, s),
    "the last ones": lambda b, h, t, s: (torch.arange(s) >= s - 3).expand(b, 1, t, s),
    "nothing": lambda b, h, t, s: torch.zeros(b, 1, t, s, dtype=torch.bool),
    "some see nothing": lambda b, h, t, s: (torch.arange(t) % 2 == 1)[:, None].expand(b, 1, t, s),
}


def close(found: Tensor, expected: Tensor, dtype: torch.dtype) -> bool:
    return found.dtype == dtype and float((found.float() - expected).abs().max()) <= CLOSE[dtype]


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("sizes", SIZES)
def test_few_queries(sizes: str, mask: str, dtype: torch.dtype) -> None:
    from glassformer.kernels.few_queries import few_queries

    if INTERPRETED and dtype == torch.bfloat16:
        pytest.skip("the interpreter cannot multiply matrices of this type")
    torch.manual_seed(0)
    b, h, g, t, s, d_k, d_v = SIZES[sizes]
    q = torch.randn(b, t, h, d_k, device=DEVICE, dtype=dtype).transpose(1, 2)  # as the heads come from one product
    k = torch.randn(b, g, s + 3, d_k, device=DEVICE, dtype=dtype)[:, :, :s]
    v = torch.randn(b, g, d_v, s, device=DEVICE, dtype=dtype).transpose(2, 3)
    allowed = MASKS[mask](b, h, t, s)
    allowed = None if allowed is None else allowed.to(DEVICE)
    found = few_queries(q, k, v, allowed, scale=0.2)
    wide = reference(q.float(), k.float(), v.float(), Mask(allowed=allowed), bias=None, scale=0.2, dropout=0.0)
    assert close(found, wide, dtype)
    assert found.transpose(1, 2).is_contiguous()  # joining the heads copies nothing


def test_what_nobody_looks_at_is_not_read() -> None:
    from glassformer.kernels.few_queries import few_queries

    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 4, n, 32, device=DEVICE) for n in (3, 200, 200))
    allowed = torch.rand(2, 1, 3, 200, device=DEVICE) < 0.1
    expected = few_queries(q, k, v, allowed, scale=0.2)
    hidden = ~allowed.any(2)[:, 0]  # b s
    for x in (k, v):
        x.transpose(1, 2)[hidden] = float("nan")
    assert torch.equal(few_queries(q, k, v, allowed, scale=0.2), expected)
    k[:, :, 0] = float("nan")
    allowed[0, :, 1, 0] = True
    assert bool(few_queries(q, k, v, allowed, scale=0.2)[0, :, 1].isnan().all())


def test_when_it_is_used() -> None:
    from glassformer.kernels.few_queries import ALONE, ENOUGH, MOST, WIDEST, suits

    def asked(b: int, t: int, s: int, d_v: int = 4) -> bool:
        return suits(torch.empty(b, 8, t, 4), torch.empty(b, 2, s, d_v))

    assert asked(1, MOST, ALONE) and not asked(1, MOST + 1, 5)
    assert asked(1, 1, 5, WIDEST) and not asked(1, 1, 5, WIDEST + 1)
    assert not asked(1, 1, ALONE + 1) and asked(ENOUGH // 2, 1, ALONE + 1)


@pytest.mark.skipif(DEVICE == "cpu", reason="needs an accelerator")
@pytest.mark.parametrize("dtype", CLOSE, ids=str)
def test_attention_takes_it_only_without_gradients(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    from glassformer.kernels import few_queries as kernel

    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 4, n, 32, device=DEVICE, dtype=dtype) for n in (3, 50, 50))
    mask, calls, plain = Mask(allowed=torch.rand(2, 1, 3, 50, device=DEVICE) < 0.5), [], kernel.few_queries
    monkeypatch.setattr(kernel, "few_queries", lambda *given, **more: calls.append(1) or plain(*given, **more))
    expected = fused(q, k, v, mask, bias=None, scale=0.2, dropout=0.0).float()
    assert not calls
    with torch.no_grad():
        assert close(fused(q, k, v, mask, bias=None, scale=0.2, dropout=0.0), expected, dtype)
        assert len(calls) == 1
        fused(q, k, v, mask, bias=torch.zeros(4, 3, 50, device=DEVICE, dtype=dtype), scale=0.2, dropout=0.0)
        with torch.autocast("cuda", torch.bfloat16):
            fused(q, k, v, mask, bias=None, scale=0.2, dropout=0.0)
    assert len(calls) == 1
