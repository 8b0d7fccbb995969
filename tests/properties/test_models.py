from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import glassformer as gf
from glassformer.layers.position import POSITIONS
from glassformer.layers.residual import NORM_ORDERS

FAMILIES = ("encoder", "decoder", "encoder-decoder")
STYLES: dict[str, dict[str, Any]] = {
    "classic": {},
    "grouped": {
        "n_kv_heads": 2,
        "d_k": 6,
        "d_v": 5,
        "norm": "rms",
        "feed_forward": "gated",
        "activation": "silu",
        "qk_norm": True,
        "bias": False,
    },
}
KINDS = list(product(sorted(POSITIONS), NORM_ORDERS, sorted(STYLES)))
SIDES = ("encoder", "decoder", "source", "target")  # whose text is changed; the last two are an encoder-decoder's
every_side = pytest.mark.parametrize(
    ("side", "position", "norm_order", "style"), [(s, *k) for s in SIDES for k in KINDS]
)
causal_sides = pytest.mark.parametrize(
    ("side", "position", "norm_order", "style"), [(s, *k) for s in ("decoder", "target") for k in KINDS]
)
every_family = pytest.mark.parametrize(
    ("family", "position", "norm_order", "style"), [(f, *k) for f in FAMILIES for k in KINDS]
)

TOKENS = torch.randint(0, 11, (3, 6), generator=torch.Generator().manual_seed(0))
OTHER = torch.randint(0, 11, (3, 5), generator=torch.Generator().manual_seed(1))  # the side that stays as it is
LENGTHS = (6, 4, 1)
BEHIND = torch.tensor([[t < length for t in range(6)] for length in LENGTHS])  # True = a real token
IN_FRONT = BEHIND.flip(1)
CLOSE = 1e-10


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Matrices as small as these only wait for a second thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@cache
def built(
    family: str, position: str, norm_order: str, style: str, kernel: str = "fused", window: int | None = None
) -> nn.Module:
    layers = {f"n_{side}_layers": 2 for side in family.split("-")}
    table = {
        "family": family,
        "vocab_size": 11,
        "max_len": 12,
        "d_model": 16,
        "n_heads": 4,
        "d_ff": 24,
        "position": position,
        "norm_order": norm_order,
        "window": window,
        "head": "language_model",
        **layers,
        **STYLES[style],
    }
    model = gf.build(table, seed=0, dtype=torch.float64, kernel=kernel).eval()
    with torch.no_grad():  # a fresh model has biases of 0 and norms of 1, which would hide mistakes
        generator = torch.Generator().manual_seed(1)
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                noise = 0.3 * torch.randn(parameter.shape, dtype=torch.float64, generator=generator)
                parameter.copy_(noise if name.endswith("bias") else 1 + noise)
    return model


def family_of(side: str) -> str:
    return side if side in ("encoder", "decoder") else "encoder-decoder"


def answer(
    model: nn.Module, side: str, tokens: Tensor, mask: Tensor | None = None, rows: slice = slice(None)
) -> Tensor:
    """The logits when `tokens` stand on that side. `rows`: which rows of the other side go with them."""
    match side:
        case "source":
            return model(tokens, OTHER[rows], mask, None)
        case "target":
            return model(OTHER[rows], tokens, None, mask)
    return model(tokens, mask)


def real(logits: Tensor, side: str, mask: Tensor) -> Tensor:
    """What must not depend on padding: logits at real tokens, all of them where the padding is the source's."""
    return logits if side == "source" else logits[mask]


def largest(x: Tensor) -> float:
    return x.abs().max().item()


@pytest.mark.many
@causal_sides
def test_the_future_cannot_be_seen(side: str, position: str, norm_order: str, style: str) -> None:
    model = built(family_of(side), position, norm_order, style)
    before = answer(model, side, TOKENS)
    for t in range(6):
        changed = TOKENS.clone()
        changed[:, t] = (changed[:, t] + 1) % 11
        after = answer(model, side, changed)
        assert torch.equal(after[:, :t], before[:, :t])
        assert (after[:, t] != before[:, t]).any(-1).all()


@pytest.mark.parametrize(("side", "kernel"), list(product(("decoder", "target"), ("fused", "reference"))))
@pytest.mark.parametrize("position", sorted(POSITIONS))
def test_the_future_cannot_be_seen_through_a_window_either(side: str, kernel: str, position: str) -> None:
    model = built(family_of(side), position, "pre", "grouped", kernel=kernel, window=3)
    before = answer(model, side, TOKENS, BEHIND)
    changed = TOKENS.clone()
    changed[:, 4:] = (changed[:, 4:] + 1) % 11
    after = answer(model, side, changed, BEHIND)
    assert torch.equal(after[:, :4], before[:, :4])
    assert not torch.equal(after[0, 4:], before[0, 4:])


@pytest.mark.parametrize("position", sorted(POSITIONS))
def test_after_the_prefix_the_future_cannot_be_seen(position: str) -> None:
    model = built("decoder", position, "post", "classic")
    prefix = torch.tensor([3, 3, 3])
    before = model(TOKENS, prefix=prefix)
    changed = TOKENS.clone()
    changed[:, 4] = (changed[:, 4] + 1) % 11
    assert torch.equal(model(changed, prefix=prefix)[:, :4], before[:, :4])
    changed = TOKENS.clone()
    changed[:, 2] = (changed[:, 2] + 1) % 11
    assert not torch.equal(model(changed, prefix=prefix)[:, 0], before[:, 0])  # within it everyone sees everyone


@pytest.mark.many
@every_side
def test_what_stands_under_padding_does_not_matter(side: str, position: str, norm_order: str, style: str) -> None:
    model = built(family_of(side), position, norm_order, style)
    for mask in (BEHIND, IN_FRONT):
        before = answer(model, side, TOKENS, mask)
        after = answer(model, side, TOKENS.where(mask, (TOKENS + 5) % 11), mask)
        assert torch.equal(real(after, side, mask), real(before, side, mask))
        if side in ("encoder", "source") or mask is IN_FRONT:  # the triangle alone hides what stands behind
            seen = answer(model, side, TOKENS.where(mask, (TOKENS + 5) % 11))
            assert not torch.equal(real(seen, side, mask), real(answer(model, side, TOKENS), side, mask))


@pytest.mark.many
@every_side
def test_padding_in_front_or_behind_changes_nothing(side: str, position: str, norm_order: str, style: str) -> None:
    model = built(family_of(side), position, norm_order, style)
    for mask in (BEHIND, IN_FRONT):
        padded = answer(model, side, TOKENS, mask)
        for row in range(3):
            alone = answer(model, side, TOKENS[row, mask[row]][None], rows=slice(row, row + 1))[0]
            together = padded[row] if side == "source" else padded[row, mask[row]]
            assert largest(together - alone) <= CLOSE


@pytest.mark.many
@every_side
def test_a_sentence_does_not_depend_on_its_batch(side: str, position: str, norm_order: str, style: str) -> None:
    model = built(family_of(side), position, norm_order, style)
    together = answer(model, side, TOKENS)
    for row in range(3):
        rows = slice(row, row + 1)
        assert largest(answer(model, side, TOKENS[rows], rows=rows) - together[rows]) <= CLOSE
    pair = answer(model, side, TOKENS[1:], rows=slice(1, 3))
    assert largest(pair - together[1:]) <= CLOSE


def decode(model: nn.Module, side: str, tokens: Tensor, mask: Tensor | None, cache: gf.Cache, memory: Tensor) -> Tensor:
    if side == "target":
        return model.decode(tokens, memory, mask, None, cache=cache)
    return model(tokens, mask, cache=cache)


def memory_of(model: nn.Module, side: str) -> Tensor:
    return model.encode(OTHER) if side == "target" else torch.empty(0)


@pytest.mark.many
@causal_sides
def test_a_cache_step_by_step_equals_the_whole_pass(side: str, position: str, norm_order: str, style: str) -> None:
    model = built(family_of(side), position, norm_order, style)
    cache, memory = model.decoder.empty_cache(), memory_of(model, side)
    steps = [decode(model, side, TOKENS[:, t : t + 1], None, cache, memory) for t in range(6)]
    assert largest(torch.cat(steps, 1) - answer(model, side, TOKENS)) <= CLOSE
    assert cache.length == 6


@pytest.mark.many
@causal_sides
def test_a_cache_in_pieces_with_padding_in_front(side: str, position: str, norm_order: str, style: str) -> None:
    model = built(family_of(side), position, norm_order, style)
    cache, memory = model.decoder.empty_cache(), memory_of(model, side)
    pieces = []
    for start, end in ((0, 3), (3, 4), (4, 6)):  # the mask covers the past too
        pieces.append(decode(model, side, TOKENS[:, start:end], IN_FRONT[:, :end], cache, memory))
    difference = torch.cat(pieces, 1) - answer(model, side, TOKENS, IN_FRONT)
    assert largest(difference[IN_FRONT]) <= CLOSE


@pytest.mark.many
@pytest.mark.parametrize(("side", "kernel"), list(product(("decoder", "target"), ("fused", "reference"))))
@pytest.mark.parametrize("position", sorted(POSITIONS))
def test_a_cache_behind_a_sliding_window(side: str, kernel: str, position: str) -> None:
    model = built(family_of(side), position, "pre", "grouped", kernel=kernel, window=2)
    cache, memory = model.decoder.empty_cache(), memory_of(model, side)
    steps = [decode(model, side, piece, None, cache, memory) for piece in TOKENS.split([1, 1, 3, 1], 1)]
    whole = answer(model, side, TOKENS)
    assert largest(torch.cat(steps, 1) - whole) <= CLOSE
    open_model = built(family_of(side), position, "pre", "grouped", kernel=kernel)
    everything = decode(open_model, side, TOKENS, None, open_model.decoder.empty_cache(), memory)
    assert largest(whole[:, :2] - everything[:, :2]) <= CLOSE  # within the window
    assert largest(whole[:, 2:] - everything[:, 2:]) > 1e-6


@pytest.mark.many
@causal_sides
def test_a_copied_cache_goes_its_own_way(side: str, position: str, norm_order: str, style: str) -> None:
    model = built(family_of(side), position, norm_order, style)
    cache, memory = model.decoder.empty_cache(), memory_of(model, side)
    decode(model, side, TOKENS[:, :4], None, cache, memory)
    copy = cache.copy()
    other = (TOKENS[:, 4:5] + 1) % 11
    decode(model, side, other, None, copy, memory)
    assert (cache.length, copy.length) == (4, 5)
    whole = answer(model, side, TOKENS)
    assert largest(decode(model, side, TOKENS[:, 4:5], None, cache, memory) - whole[:, 4:5]) <= CLOSE


@pytest.mark.many
@causal_sides
def test_chosen_rows_of_a_cache_go_on(side: str, position: str, norm_order: str, style: str) -> None:
    model = built(family_of(side), position, norm_order, style)
    cache, memory, rows = model.decoder.empty_cache(), memory_of(model, side), torch.tensor([2, 0, 0, 2])
    decode(model, side, TOKENS[:, :4], None, cache, memory)
    following = torch.tensor([[1], [2], [3], [4]])
    chosen_memory = memory[rows] if side == "target" else memory
    chosen = decode(model, side, following, None, cache.select(rows), chosen_memory)
    texts = torch.cat([TOKENS[rows, :4], following], 1)
    expected = model(OTHER[rows], texts) if side == "target" else model(texts)
    assert largest(chosen - expected[:, 4:]) <= CLOSE


@pytest.mark.many
@every_side
def test_both_kernels_give_one_answer_and_one_gradient(side: str, position: str, norm_order: str, style: str) -> None:
    results = []
    for kernel in ("fused", "reference"):
        model = built(family_of(side), position, norm_order, style, kernel=kernel)
        logits = answer(model, side, TOKENS, IN_FRONT)
        kept = real(logits, side, IN_FRONT)
        results.append((logits, *torch.autograd.grad(kept.square().mean(), tuple(model.parameters()))))
    for fused, reference in zip(*results, strict=True):
        assert largest(fused - reference) <= CLOSE


@pytest.mark.many
@pytest.mark.parametrize("kernel", ["fused", "reference"])
@every_side
def test_a_sentence_of_padding_alone_gives_no_nan(
    side: str, position: str, norm_order: str, style: str, kernel: str
) -> None:
    model = built(family_of(side), position, norm_order, style, kernel=kernel)
    mask = BEHIND.clone()
    mask[1] = False
    with gf.record(model) as trace:
        logits = answer(model, side, TOKENS, mask)
    assert torch.isfinite(logits).all()
    for gradient in torch.autograd.grad(logits.square().mean(), tuple(model.parameters())):
        assert torch.isfinite(gradient).all()
    stack = {"encoder": "encoder", "source": "encoder"}.get(side, "decoder")
    heads = [trace[name] for name in trace.names() if name.startswith(stack) and name.endswith("self_attention.heads")]
    if side == "source":
        heads += [trace[name] for name in trace.names() if name.endswith("cross_attention.heads")]
    assert heads
    for one in heads:
        assert torch.equal(one[1], torch.zeros_like(one[1]))
        assert largest(one[0]) > 0


@pytest.mark.parametrize(("norm_order", "style"), list(product(NORM_ORDERS, sorted(STYLES))))
def test_without_positions_an_encoder_sees_a_bag(norm_order: str, style: str) -> None:
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    model = built("encoder", "none", norm_order, style)
    assert largest(model(TOKENS[:, order]) - model(TOKENS)[:, order]) <= CLOSE
    for position in sorted(set(POSITIONS) - {"none"}):
        ordered = built("encoder", position, norm_order, style)
        assert largest(ordered(TOKENS[:, order]) - ordered(TOKENS)[:, order]) > 1e-4


@pytest.mark.many
@every_family
def test_rows_of_attention_sum_to_one_and_masked_entries_are_zero(
    family: str, position: str, norm_order: str, style: str
) -> None:
    model = built(family, position, norm_order, style)
    with gf.record(model) as trace:
        if family == "encoder-decoder":
            model(TOKENS, OTHER, BEHIND, None)
        else:
            model(TOKENS, BEHIND)
    padding = BEHIND[:, None, None].expand(3, 4, 6, 6)
    rules = {
        "encoder": {"self_attention": padding},
        "decoder": {"self_attention": padding & torch.ones(6, 6).tril().bool()},
        "encoder-decoder": {
            "self_attention": padding,
            "cross_attention": BEHIND[:, None, None].expand(3, 4, 5, 6),
        },
    }[family]
    for kind, allowed in rules.items():
        maps = trace.attention(kind)
        assert len(maps) == (4 if (family, kind) == ("encoder-decoder", "self_attention") else 2)
        for weights in maps[:2]:
            assert torch.equal(weights[~allowed], torch.zeros_like(weights[~allowed]))
            assert weights[allowed].min().item() > 0
            assert largest(weights.sum(-1) - 1) <= 1e-12
    if family == "encoder-decoder":
        triangle = torch.ones(5, 5).tril().bool().expand(3, 4, 5, 5)
        for weights in trace.attention()[2:]:
            assert torch.equal(weights[~triangle], torch.zeros_like(weights[~triangle]))
            assert largest(weights.sum(-1) - 1) <= 1e-12


@pytest.mark.many
@pytest.mark.parametrize("kernel", ["fused", "reference"])
@every_family
def test_recording_is_bit_identical(family: str, position: str, norm_order: str, style: str, kernel: str) -> None:
    model = built(family, position, norm_order, style, kernel=kernel)
    inputs = (TOKENS, OTHER, BEHIND) if family == "encoder-decoder" else (TOKENS, BEHIND)
    before = model(*inputs)
    with gf.record(model) as trace:
        during = model(*inputs)
    assert torch.equal(before, during)
    assert torch.equal(trace["head.logits"], before)
    assert torch.equal(model(*inputs), before)


@pytest.mark.many
@every_family
def test_gradients_reach_every_parameter(family: str, position: str, norm_order: str, style: str) -> None:
    model = built(family, position, norm_order, style)
    logits = model(TOKENS, OTHER) if family == "encoder-decoder" else model(TOKENS)
    torch.manual_seed(0)
    loss = (logits * torch.randn_like(logits)).sum()
    names, parameters = zip(*model.named_parameters(), strict=True)
    gradients = torch.autograd.grad(loss, parameters)
    silent = [name for name, gradient in zip(names, gradients, strict=True) if largest(gradient) <= 1e-9]
    # A bias on all keys moves every score of a row alike, and softmax does not notice; a rotation makes it differ.
    blind = [name for name in names if name.endswith("w_k.bias") and (position != "rotary" or "cross" in name)]
    assert silent == blind
