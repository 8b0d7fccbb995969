"""The weights that an observer sees against the equation; on an accelerator, or by hand with TRITON_INTERPRET=1."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import glassformer as gf
from glassformer.layers.attention import kernel as attention
from glassformer.layers.attention.kernel import attention_weights, share_heads
from glassformer.layers.attention.mask import Mask
from kernel_device import DEVICE, INTERPRETED, KERNEL_TESTS

pytestmark = KERNEL_TESTS
CLOSE = {torch.float32: 2e-5, torch.float16: 1e-3, torch.bfloat16: 8e-3}
SIZES = {  # b h g t s d_k
    "several blocks": (1, 2, 2, 200, 200, 64),
    "a past before the queries": (2, 2, 2, 70, 150, 32),
    "grouped heads": (2, 8, 2, 40, 40, 32),
    "one head of keys": (1, 4, 1, 17, 33, 16),
    "one of each": (1, 1, 1, 1, 1, 8),
    "no power of two": (2, 6, 2, 67, 131, 65),
    "the widest": (1, 2, 2, 20, 40, 256),
}
MASKS = {
    "all": lambda b, h, t, s: Mask(),
    "looking back": lambda b, h, t, s: Mask(causal=True),
    "a window": lambda b, h, t, s: Mask(causal=True, window=5),
    "each its own": lambda b, h, t, s: Mask(allowed=torch.rand(b, 1, t, s, device=DEVICE) < 0.3),
    "padding": lambda b, h, t, s: Mask(allowed=torch.rand(b, 1, 1, s, device=DEVICE) < 0.5),
    "by heads": lambda b, h, t, s: Mask(allowed=torch.rand(b, h, t, s, device=DEVICE) < 0.5),
    "nothing": lambda b, h, t, s: Mask(allowed=torch.zeros(b, 1, t, s, dtype=torch.bool, device=DEVICE)),
    "some see nothing": lambda b, h, t, s: Mask(
        allowed=(torch.arange(t, device=DEVICE) % 2 == 1)[:, None].expand(t, s)
    ),
}


def shown(q: Tensor, k: Tensor, mask: Mask) -> Tensor:
    from glassformer.kernels.shown_weights import shown_weights

    causal = mask.is_plainly_causal
    allowed = None if causal else mask.dense(q.shape[-2], k.shape[-2], q.device)
    return shown_weights(q, k, allowed, causal=causal, scale=0.2)


def plain(q: Tensor, k: Tensor, mask: Mask) -> Tensor:
    return attention_weights(q, share_heads(k, q.shape[1]), mask, bias=None, scale=0.2)


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("sizes", SIZES)
def test_shown_weights(sizes: str, mask: str, dtype: torch.dtype) -> None:
    if INTERPRETED and dtype == torch.bfloat16:
        pytest.skip("the interpreter cannot multiply matrices of this type")
    torch.manual_seed(0)
    b, h, g, t, s, d_k = SIZES[sizes]
    q = torch.randn(b, t, h, d_k, device=DEVICE, dtype=dtype).transpose(1, 2)  # as the heads come from one product
    k = torch.randn(b, g, s + 3, d_k, device=DEVICE, dtype=dtype)[:, :, :s]
    given = MASKS[mask](b, h, t, s)
    found, expected = shown(q, k, given), plain(q.float(), k.float(), given)
    assert found.dtype == dtype and found.shape == (b, h, t, s) and found.is_contiguous()
    assert float((found.float() - expected).abs().max()) <= CLOSE[dtype]
    allowed = given.dense(t, s, q.device)
    if allowed is not None:
        assert not found[~allowed.expand(b, h, t, s)].any()  # exactly 0


def test_large_scores_do_not_overflow() -> None:
    torch.manual_seed(0)
    q, k = (10 * torch.randn(1, 2, 150, 64, device=DEVICE) for _ in range(2))  # scores up to 600
    torch.testing.assert_close(shown(q, k, Mask(causal=True)), plain(q, k, Mask(causal=True)), rtol=1e-2, atol=1e-5)


def test_when_it_can_be_used() -> None:
    from glassformer.kernels.shown_weights import WIDEST, suits_showing

    wide, wider = (torch.empty(1, 1, 2, n, device=DEVICE) for n in (WIDEST, WIDEST + 1))
    assert suits_showing(wide, wide) and not suits_showing(wider, wider)
    assert not suits_showing(wide, wide.half())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("chosen", [{}, {"heads": [2, 0]}, {"rows": [5, 1]}, {"heads": [3], "rows": [0, 7]}], ids=str)
@pytest.mark.parametrize("options", [{}, {"n_kv_heads": 2}, {"window": 4}, {"position": "alibi"}], ids=str)
def test_a_record_shows_the_kernels_weights_and_changes_nothing(
    options: dict[str, Any], chosen: dict[str, list[int]], dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pass is the same bit for bit; the weights are those of a record with scores, which has the plain form."""
    from glassformer.kernels import shown_weights as kernel

    if INTERPRETED and dtype == torch.bfloat16:
        pytest.skip("the interpreter cannot multiply matrices of this type")
    if INTERPRETED:
        monkeypatch.setattr(attention, "runs_on", lambda x: True)
    sizes = {"d_model": 64, "n_heads": 4, "d_ff": 96, "vocab_size": 50, "n_decoder_layers": 3}
    config = gf.ModelConfig.from_dict({"family": "decoder", "head": "language_model", **sizes, **options})
    model = gf.build(config, seed=0, device=DEVICE, dtype=dtype).eval()
    tokens, calls, own = torch.randint(50, (2, 20), device=DEVICE), [], kernel.shown_weights
    monkeypatch.setattr(kernel, "shown_weights", lambda *given, **more: calls.append(1) or own(*given, **more))
    name = "decoder.blocks.1.self_attention.weights"
    with torch.no_grad():
        alone = model(tokens)
        with gf.record(model, name, layers=[1], **chosen) as trace:
            assert torch.equal(model(tokens), alone)
        assert len(calls) == ("position" not in options)  # a bias is for the plain form
        with gf.record(model, "*", layers=[1], **chosen) as whole:
            assert torch.equal(model(tokens), alone)
    assert len(calls) == ("position" not in options)
    assert trace[name].dtype == dtype and trace[name].shape == whole[name].shape
    close = 1e-5 if dtype == torch.float32 else 2e-2
    torch.testing.assert_close(trace[name], whole[name], rtol=0.0, atol=close)
