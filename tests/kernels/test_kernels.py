"""Each kernel against its plain form, on an accelerator."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glassformer.losses import IGNORE, cross_entropy

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator"),
]
CLOSE = {torch.float32: 1e-5, torch.bfloat16: 2e-2}  # of the largest


def same(found: Tensor, expected: Tensor, dtype: torch.dtype) -> bool:
    return float((found.float() - expected.float()).abs().max()) <= CLOSE[dtype] * float(expected.abs().max())


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("v", [65, 8_000, 50_257])
def test_linear_cross_entropy(v: int, smoothing: float, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    from glassformer.kernels import linear_cross_entropy as kernel

    monkeypatch.setattr(kernel, "LOGITS_AT_ONCE", 100 * v)  # several chunks, the last one smaller
    torch.manual_seed(0)
    x = torch.randn(333, 64, device="cuda", requires_grad=True)
    weight = (torch.randn(v, 64, device="cuda") / 8).requires_grad_()
    targets = torch.randint(v, (333,), device="cuda")
    targets[::7] = IGNORE
    plain = cross_entropy(x @ weight.T, targets, smoothing=smoothing).total
    expected = torch.autograd.grad(plain / 300, (x, weight))
    found = kernel.linear_cross_entropy(x, weight, targets, ignore=IGNORE, smoothing=smoothing, dtype=dtype)
    assert same(found, plain, dtype)
    for one, other in zip(torch.autograd.grad(found / 300, (x, weight)), expected, strict=True):
        assert same(one, other, dtype)


def test_targets_that_are_every_other_number() -> None:
    from glassformer.kernels.linear_cross_entropy import linear_cross_entropy

    torch.manual_seed(0)
    x, weight = torch.randn(9, 64, device="cuda"), torch.randn(70, 64, device="cuda")
    targets = torch.randint(70, (9, 2), device="cuda")[:, 1]
    found = linear_cross_entropy(x, weight, targets, ignore=IGNORE, smoothing=0.0, dtype=torch.float32)
    assert same(found, cross_entropy(x @ weight.T, targets).total, torch.float32)


LAYOUTS = {
    "rows": lambda d: torch.randn(5, 77, d, device="cuda"),
    "rows in another order": lambda d: torch.randn(77, 5, d, device="cuda").transpose(0, 1),
    "columns": lambda d: torch.randn(5, d, 77, device="cuda").transpose(1, 2),
    "a part": lambda d: torch.randn(5, 77, 2 * d, device="cuda")[..., :d],
    "the same again": lambda d: torch.randn(5, 1, d, device="cuda").expand(5, 77, d),
}


@pytest.mark.parametrize("d", [64, 100, 384, 768, 1600])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layer_norm_and_the_stream_beside_it(layout: str, bias: bool, d: int) -> None:
    from glassformer.kernels.layer_norm import branch, layer_norm

    torch.manual_seed(0)
    x = LAYOUTS[layout](d).requires_grad_()
    gamma = torch.randn(d, device="cuda", requires_grad=True)
    beta = torch.randn(d, device="cuda", requires_grad=True) if bias else None
    along, beside = torch.randn(2, *x.shape, device="cuda")
    given = [t for t in (x, gamma, beta) if t is not None]
    plain = F.layer_norm(x, (d,), gamma, beta, 1e-5)
    stream, y = branch(x, gamma, beta, 1e-5, torch.float32)
    assert same(y, plain, torch.float32) and torch.equal(stream, x)
    expected = torch.autograd.grad((plain * along).sum() + (x * beside).sum(), given, retain_graph=True)
    found = torch.autograd.grad((y * along).sum() + (stream * beside).sum(), given)
    assert all(same(*both, torch.float32) for both in zip(found, expected, strict=True))
    alone = torch.autograd.grad((layer_norm(x, gamma, beta, 1e-5, torch.float32) * along).sum(), given)
    expected = torch.autograd.grad((plain * along).sum(), given)
    assert all(same(*both, torch.float32) for both in zip(alone, expected, strict=True))


def test_one_product_for_three_layers() -> None:
    from glassformer.kernels.joint_linear import joint_linear

    torch.manual_seed(0)
    layers = [nn.Linear(64, n, device="cuda") for n in (64, 32, 32)]
    x = torch.randn(3, 5, 64, device="cuda")
    for found, layer in zip(joint_linear(x, *layers), layers, strict=True):
        assert same(found, layer(x), torch.float32)


def rows_of(lengths: list[int], heads: int) -> Tensor:
    """Vectors of texts of these lengths in one row: 1 h t d."""
    return torch.randn(1, sum(lengths), heads, 32, device="cuda").bfloat16().transpose(1, 2).requires_grad_()


def starts_of(lengths: list[int]) -> Tensor:
    return torch.tensor([0, *lengths], device="cuda").cumsum(0).int()


@pytest.mark.parametrize("groups", [4, 2])
@pytest.mark.parametrize(
    ("causal", "asking", "asked"),
    [
        (True, [5, 1, 130, 7, 0, 0], [5, 1, 130, 7, 0, 0]),
        (False, [5, 1, 130, 7, 0, 0], [3, 4, 140, 9, 0, 0]),
        (False, [5, 1, 3, 7], [3, 4, 0, 9]),  # the third looks at nothing
    ],
)
def test_several_texts_in_a_row(causal: bool, asking: list[int], asked: list[int], groups: int) -> None:
    """FlashAttention's kernel against the equation with a mask: what each text looks at, and all gradients."""
    from glassformer.layers.attention.kernel import fused, reference
    from glassformer.layers.attention.mask import Mask, Packing

    torch.manual_seed(0)
    given = rows_of(asking, 4), rows_of(asked, groups), rows_of(asked, groups)
    both = Packing(starts_of(asking), 192), Packing(starts_of(asked), 192)
    mask, along = Mask(causal=causal, packing=both), torch.randn(1, 4, sum(asking), 32, device="cuda")
    dense = Mask(allowed=mask.dense(sum(asking), sum(asked), along.device))
    found = fused(*given, mask, bias=None, scale=0.2, dropout=0.0)
    wide = [x.detach().float().requires_grad_() for x in given]
    expected = reference(*wide, dense, bias=None, scale=0.2, dropout=0.0)
    assert same(found, expected, torch.bfloat16)
    slopes = torch.autograd.grad((found.float() * along).sum(), given)
    for one, other in zip(slopes, torch.autograd.grad((expected * along).sum(), wide), strict=True):
        assert bool(one.isfinite().all()) and same(one, other, torch.bfloat16)


def test_dropout_in_a_row_of_several_texts_follows_the_generator() -> None:
    from glassformer.layers.attention.kernel import fused
    from glassformer.layers.attention.mask import Mask, Packing

    lengths = [5, 60, 7]
    q, k, v = (rows_of(lengths, 4) for _ in range(3))
    mask = Mask(causal=True, packing=(Packing(starts_of(lengths), 64),) * 2)

    def attend() -> Tensor:
        return fused(q, k, v, mask, bias=None, scale=0.2, dropout=0.5)

    torch.manual_seed(0)
    first, second = attend(), attend()
    torch.manual_seed(0)
    assert torch.equal(attend(), first) and not torch.equal(first, second)
