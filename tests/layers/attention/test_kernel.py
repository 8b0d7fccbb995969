from __future__ import annotations

import math
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from glassformer.layers.attention.kernel import KERNELS, attention_weights, share_heads
from glassformer.layers.attention.mask import Mask, padding
from glassformer.tap import Selection, observe

BOTH = sorted(KERNELS)


class Notebook:
    """Keeps everything that it is shown."""

    def __init__(self) -> None:
        self.seen: dict[str, Tensor] = {}

    def see(self, name: str, x: Tensor) -> Tensor:
        self.seen[name] = x
        return x

    def wants(self, name: str) -> bool:
        return True

    def edits(self, name: str) -> bool:
        return False

    @property
    def selection(self) -> Selection | None:
        return None


EVERYONE = Mask()


def masks(b: int, t: int, s: int) -> dict[str, Mask]:
    generator = torch.Generator().manual_seed(1)
    real = padding(torch.tensor([s, *range(1, b)]), s)[:, None, None]
    arbitrary = torch.rand(b, 1, t, s, generator=generator) > 0.4
    per_head = torch.rand(b, 4, t, s, generator=generator) > 0.4
    lengths = torch.arange(1, b + 1)
    return {
        "nothing": EVERYONE,
        "causal": Mask(causal=True),
        "window": Mask(window=2),
        "causal window": Mask(causal=True, window=2),
        "prefix": Mask(causal=True, prefix=padding(lengths, s)),
        "prefix window": Mask(causal=True, prefix=padding(lengths, s), window=3),
        "padding": Mask(allowed=real),
        "causal padding": Mask(causal=True, allowed=real),
        "causal window padding": Mask(causal=True, window=3, allowed=real),
        "arbitrary": Mask(allowed=arbitrary),
        "per head": Mask(causal=True, allowed=per_head),
        "nobody": Mask(allowed=torch.zeros(b, 1, 1, s, dtype=torch.bool)),
    }


KINDS = sorted(masks(2, 3, 3))


def two_tokens() -> tuple[Tensor, Tensor, Tensor]:
    q = torch.tensor([[[[1.0, 0.0], [0.0, 1.0]]]], dtype=torch.float64)  # b=1 h=1 t=2 d_k=2
    v = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]], dtype=torch.float64)
    return q, q.clone(), v


def random_heads(b: int, t: int, s: int, groups: int = 4) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(b, 4, t, 6, dtype=torch.float64, generator=generator)
    k = torch.randn(b, groups, s, 6, dtype=torch.float64, generator=generator)
    v = torch.randn(b, groups, s, 5, dtype=torch.float64, generator=generator)
    return q.requires_grad_(), k.requires_grad_(), v.requires_grad_()


@pytest.mark.parametrize("kernel", BOTH)
def test_two_tokens_by_hand(kernel: str) -> None:
    # Scores are 1/√2 for itself and 0 for the other: e^0.70711 = 2.02812, so 2.02812/3.02812 = 0.66976 and 0.33024.
    q, k, v = two_tokens()
    result = KERNELS[kernel](q, k, v, EVERYONE, bias=None, scale=2**-0.5, dropout=0.0)
    expected = torch.tensor([[[[1.66048, 2.66048], [2.33952, 3.33952]]]], dtype=torch.float64)
    torch.testing.assert_close(result, expected, atol=5e-6, rtol=0)


@pytest.mark.parametrize("kernel", BOTH)
def test_two_tokens_by_hand_with_the_look_ahead_mask(kernel: str) -> None:
    q, k, v = two_tokens()
    result = KERNELS[kernel](q, k, v, Mask(causal=True), bias=None, scale=2**-0.5, dropout=0.0)
    expected = torch.tensor([[[[1.0, 2.0], [2.33952, 3.33952]]]], dtype=torch.float64)  # the first sees itself alone
    torch.testing.assert_close(result, expected, atol=5e-6, rtol=0)


@pytest.mark.parametrize("kernel", BOTH)
def test_a_bias_is_added_to_the_scores(kernel: str) -> None:
    # Without questions all scores are 0: a bias of ln 3 makes the second key three times as heavy as the first.
    q, k, v = two_tokens()
    bias = torch.tensor([[[0.0, math.log(3.0)], [math.log(3.0), 0.0]]], dtype=torch.float64)
    result = KERNELS[kernel](torch.zeros_like(q), k, v, EVERYONE, bias=bias, scale=1.0, dropout=0.0)
    expected = torch.tensor([[[[2.5, 3.5], [1.5, 2.5]]]], dtype=torch.float64)
    torch.testing.assert_close(result, expected, atol=1e-12, rtol=0)


def test_weights_of_two_tokens_by_hand() -> None:
    q, k, _ = two_tokens()
    weights = attention_weights(q, k, EVERYONE, bias=None, scale=2**-0.5)
    torch.testing.assert_close(weights[0, 0, 0], torch.tensor([0.669761, 0.330239]).double(), atol=1e-6, rtol=0)


def test_the_scale_keeps_the_variance_of_a_score_at_one() -> None:
    torch.manual_seed(0)
    q, k = torch.randn(2, 1, 8, 400, 64)
    notebook = Notebook()
    before = observe(notebook)
    try:
        attention_weights(q, k, EVERYONE, bias=None, scale=64**-0.5)
    finally:
        observe(before)
    assert notebook.seen["scores"].var().item() == pytest.approx(1.0, abs=0.05)
    assert (q @ k.transpose(-2, -1)).var().item() == pytest.approx(64.0, rel=0.05)


@pytest.mark.parametrize(("kind", "biased"), list(product(KINDS, (False, True))))
def test_rows_sum_to_one_and_masked_entries_are_exactly_zero(kind: str, biased: bool) -> None:
    q, k, _ = random_heads(3, 5, 5)
    bias = torch.randn(4, 5, 5, dtype=torch.float64) if biased else None
    mask = masks(3, 5, 5)[kind]
    weights = attention_weights(q * 50, k, mask, bias=bias, scale=1.0)
    allowed = mask.dense(5, 5, q.device)
    allowed = torch.ones(3, 4, 5, 5, dtype=torch.bool) if allowed is None else allowed.expand(3, 4, 5, 5)
    assert torch.equal(weights[~allowed], torch.zeros(int((~allowed).sum()), dtype=torch.float64))
    sums = allowed.any(-1).double()  # 0 where nobody may be looked at
    torch.testing.assert_close(weights.sum(-1), sums, atol=1e-12, rtol=0)


@pytest.mark.parametrize(("kind", "groups", "biased"), list(product(KINDS, (4, 2, 1), (False, True))))
def test_both_kernels_give_one_answer_and_one_gradient(kind: str, groups: int, biased: bool) -> None:
    inputs = random_heads(3, 5, 5, groups)
    bias = torch.randn(4, 5, 5, dtype=torch.float64, requires_grad=True) if biased else None
    leaves = inputs if bias is None else (*inputs, bias)
    downstream = torch.randn(3, 4, 5, 5, dtype=torch.float64)
    results = {}
    for name, kernel in KERNELS.items():
        y = kernel(*inputs, masks(3, 5, 5)[kind], bias=bias, scale=6**-0.5, dropout=0.0)
        results[name] = (y, *torch.autograd.grad((y * downstream).sum(), leaves))
    for ours, theirs in zip(results["reference"], results["fused"], strict=True):
        assert (ours - theirs).abs().max().item() <= 1e-10


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "prefix" not in kind])
def test_both_kernels_agree_when_the_queries_are_the_last_of_the_keys(kind: str) -> None:
    inputs = random_heads(2, 3, 7, groups=2)
    answers = [
        kernel(*inputs, masks(2, 3, 7)[kind], bias=None, scale=0.3, dropout=0.0)
        for _, kernel in sorted(KERNELS.items())
    ]
    assert (answers[0] - answers[1]).abs().max().item() <= 1e-10


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    b=st.integers(1, 3),
    t=st.integers(1, 9),
    s=st.integers(1, 9),
    groups=st.sampled_from([1, 2, 4]),
    density=st.floats(0.0, 1.0),
    seed=st.integers(0, 2**16),
)
def test_both_kernels_agree_on_any_mask(b: int, t: int, s: int, groups: int, density: float, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    q = torch.randn(b, 4, t, 6, dtype=torch.float64, generator=generator)
    k, v = torch.randn(2, b, groups, s, 6, dtype=torch.float64, generator=generator)
    mask = Mask(allowed=torch.rand(b, 4, t, s, generator=generator) < density)
    ours, theirs = (KERNELS[name](q, k, v, mask, bias=None, scale=6**-0.5, dropout=0.0) for name in BOTH)
    assert (ours - theirs).abs().max().item() <= 1e-10


@pytest.mark.parametrize(
    ("kernel", "dtype", "biased"), list(product(BOTH, (torch.float64, torch.float32, torch.bfloat16), (False, True)))
)
def test_a_query_that_may_look_at_nothing_gets_zero_and_no_nan(kernel: str, dtype: torch.dtype, biased: bool) -> None:
    q, k, v = (x.detach().to(dtype).requires_grad_() for x in random_heads(2, 5, 5))
    bias = torch.randn(4, 5, 5, dtype=dtype, requires_grad=True) if biased else None
    allowed = torch.ones(2, 1, 5, 5, dtype=torch.bool)
    allowed[0, :, 2] = False  # one row of one sentence
    allowed[1] = False  # a whole sentence
    y = KERNELS[kernel](q, k, v, Mask(allowed=allowed), bias=bias, scale=6**-0.5, dropout=0.0)
    assert torch.equal(y[0, :, 2], torch.zeros_like(y[0, :, 2]))
    assert torch.equal(y[1], torch.zeros_like(y[1]))
    assert y[0, :, 1].abs().min().item() > 0
    leaves = (q, k, v) if bias is None else (q, k, v, bias)
    for gradient in torch.autograd.grad(y.square().sum(), leaves):
        assert torch.isfinite(gradient).all()
        if gradient.shape[0] == 2:  # what nobody looks at, and who looks at nothing, learns nothing
            assert torch.equal(gradient[1], torch.zeros_like(gradient[1]))


@pytest.mark.parametrize("kernel", BOTH)
def test_dropout_drops_weights_and_scales_the_rest(kernel: str) -> None:
    torch.manual_seed(0)
    q, k = torch.randn(2, 1, 2, 30, 4, dtype=torch.float64)
    v = torch.eye(30, dtype=torch.float64).expand(1, 2, 30, 30)  # so that the result is the weights themselves
    weights = attention_weights(q, k, EVERYONE, bias=None, scale=0.5)
    dropped = KERNELS[kernel](q, k, v, EVERYONE, bias=None, scale=0.5, dropout=0.25)
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], weights[kept] / 0.75, atol=1e-10, rtol=0)
    assert kept.double().mean().item() == pytest.approx(0.75, abs=0.04)


def test_shared_heads_serve_neighbours() -> None:
    x = torch.tensor([10.0, 20.0]).reshape(1, 2, 1, 1)
    assert share_heads(x, 4).flatten().tolist() == [10.0, 10.0, 20.0, 20.0]
    assert share_heads(x[:, :1], 3).flatten().tolist() == [10.0, 10.0, 10.0]
    assert share_heads(x, 2) is x


@pytest.mark.parametrize("kernel", BOTH)
def test_each_query_head_reads_the_keys_of_its_group(kernel: str) -> None:
    q = torch.zeros(1, 4, 1, 2, dtype=torch.float64)
    k = torch.zeros(1, 2, 1, 2, dtype=torch.float64)
    v = torch.tensor([5.0, 7.0], dtype=torch.float64).reshape(1, 2, 1, 1).repeat(1, 1, 1, 2)
    y = KERNELS[kernel](q, k, v, EVERYONE, bias=None, scale=1.0, dropout=0.0)
    assert y[0, :, 0, 0].tolist() == [5.0, 5.0, 7.0, 7.0]


@pytest.mark.parametrize("kernel", BOTH)
def test_a_watched_kernel_shows_scores_and_weights_and_answers_the_same(kernel: str) -> None:
    inputs = random_heads(2, 5, 5, groups=2)
    bias = torch.randn(4, 5, 5, dtype=torch.float64)
    mask = masks(2, 5, 5)["causal padding"]
    unwatched = KERNELS[kernel](*inputs, mask, bias=bias, scale=0.4, dropout=0.0)
    notebook = Notebook()
    before = observe(notebook)
    try:
        watched = KERNELS[kernel](*inputs, mask, bias=bias, scale=0.4, dropout=0.0)
    finally:
        observe(before)
    assert torch.equal(unwatched, watched)
    assert list(notebook.seen) == ["scores", "weights"]
    rebuilt = notebook.seen["weights"] @ share_heads(inputs[2], 4)
    torch.testing.assert_close(rebuilt, watched, atol=1e-12, rtol=0)
    raw = (inputs[0] * 0.4) @ share_heads(inputs[1], 4).transpose(-2, -1)
    assert torch.equal(notebook.seen["scores"], raw)  # before bias and mask
