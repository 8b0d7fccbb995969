from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from glassformer.bench.gpt_step import (
    LIMIT,
    STEPS,
    GPTStep,
    apart_from,
    decoder,
    difference,
    flops,
    losses,
    measured,
    our_names,
    pair,
    refuse_unequal,
    run,
    table,
)
from glassformer.bench.nanogpt import GPTShape, NanoGPT
from glassformer.errors import ConfigError, InputError
from glassformer.models.build import build

SMALL = GPTShape(vocab_size=41, block_size=16, n_layer=2, n_head=2, n_embd=32)
TINY = GPTStep(replace(SMALL, vocab_size=48, dropout=0.2), vocab_size=41, batch=2, rounds=2, figures=(100.0, 110.0))
ROWS = torch.randint(41, (3, 13), generator=torch.Generator().manual_seed(1))
GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")


@pytest.mark.parametrize("bias", [False, True])
def test_the_same_weights_give_the_same_loss(bias: bool) -> None:
    assert difference(replace(SMALL, bias=bias), "cpu", 3, 12) <= 1e-6


@pytest.mark.parametrize("bias", [False, True])
def test_and_the_same_gradients(bias: bool) -> None:
    mine, theirs = pair(replace(SMALL, bias=bias), "cpu")
    ours, yours = losses(mine, theirs, ROWS)
    ours.backward()
    yours.backward()
    wanted = our_names({name: p.grad for name, p in theirs.named_parameters() if p.grad is not None})
    found = {name: p.grad for name, p in mine.named_parameters()}
    assert found.keys() == wanted.keys()
    for name, gradient in found.items():
        torch.testing.assert_close(gradient, wanted[name], rtol=1e-4, atol=1e-6, msg=name)


@pytest.mark.parametrize(
    "name", ["decoder.blocks.1.self_attention.w_k.weight", "decoder.blocks.0.feed_forward_norm.weight"]
)
def test_a_weight_that_differs_is_noticed(name: str) -> None:
    mine, theirs = pair(SMALL, "cpu")
    with torch.no_grad():
        mine.get_parameter(name).mul_(1.01)
        ours, yours = losses(mine, theirs, ROWS)
    apart = abs(ours.item() - yours.item())
    assert apart > LIMIT
    with pytest.raises(InputError, match=r"gpt2: with the same weights and tokens our loss and the peer's differ by"):
        refuse_unequal("gpt2", apart)


def test_a_loss_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match="differ by nan"):
        refuse_unequal("gpt2", float("nan"))


@pytest.mark.parametrize("name", STEPS)
def test_the_shapes_are_of_one_size(name: str) -> None:
    """As many parameters as nanoGPT has, apart from the words that it adds."""
    step = STEPS[name]
    with torch.device("meta"):
        theirs = sum(p.numel() for p in NanoGPT(step.shape).parameters())
    ours = sum(p.numel() for p in build(decoder(step.shape, step.vocab_size), seed=0, device="meta").parameters())
    assert theirs - ours == (step.shape.vocab_size - step.vocab_size) * step.shape.n_embd


def test_flops_are_six_for_each_weight_and_token_and_those_of_attention() -> None:
    """6 N t + 12 · layers · d · t² for each text, as nanoGPT counts; positions and norms take no product."""
    shape, tokens = SMALL, TINY.batch * SMALL.block_size
    weights = shape.n_layer * 12 * shape.n_embd**2 + shape.vocab_size * shape.n_embd
    attention = 12 * shape.n_layer * shape.n_embd * shape.block_size * tokens
    assert flops(TINY._replace(shape=shape), shape.vocab_size) == 6 * weights * tokens + attention


def test_all_sides_are_measured_and_shown() -> None:
    row = measured("gpt2", TINY, "cpu", "NVIDIA H200", compiled=False)
    assert list(row["seconds"]) == ["glassformer", "nanogpt", "deterministic"]
    assert row["vocabulary"] == {"glassformer": 41, "nanogpt": 48, "deterministic": 41}
    assert not torch.are_deterministic_algorithms_enabled()
    assert row["figures"] == [100.0, 110.0]
    assert measured("gpt2", TINY, "cpu", "another card", compiled=False)["figures"] is None


@pytest.mark.parametrize(
    ("lang", "title", "said"),
    [("en", "against its own figure", "+10.0 %: counts"), ("ko", "본래 수치 대비", "+10.0 %: 유효")],
)
def test_the_table_compares_with_ours_and_with_the_figure(lang: str, title: str, said: str) -> None:
    seconds = {side: {"median": m, "low": m, "high": m} for side, m in (("glassformer", 0.5), ("nanogpt", 1.0))}
    row = {"model": "gpt2", "batch": 2, "length": 55, "seconds": seconds, "figures": [90.0, 100.0]}
    row |= {"vocabulary": {"glassformer": 5, "nanogpt": 6}, "peak": {"glassformer": 2**30, "nanogpt": 2**31}}
    row |= {"flops": {"glassformer": 10, "nanogpt": 20}}
    rows = table({"ceiling": 100.0, "rows": [row]}, lang)
    assert rows[0][-1] == title
    assert rows[1][3:] == ["500.00", "1.00", "1.00 – 1.00", "220", "20.0 %", "1.00 GiB", "–"]
    assert rows[2][3:] == ["1000.00", "2.00", "2.00 – 2.00", "110", "20.0 %", "2.00 GiB", said]


@pytest.mark.parametrize(("speed", "apart"), [(90.0, -0.1), (100.0, 0.0), (105.0, 0.0), (121.0, 0.1)])
def test_a_speed_is_compared_with_the_nearer_figure(speed: float, apart: float) -> None:
    assert apart_from(speed, (100.0, 110.0)) == pytest.approx(apart)


def test_a_slow_peer_does_not_count() -> None:
    seconds = {side: {"median": 1.0, "low": 1.0, "high": 1.0} for side in ("glassformer", "nanogpt")}
    row = {"model": "gpt2", "batch": 1, "length": 94, "seconds": seconds, "figures": [100.0, 100.0], "peak": {}}
    row |= {"vocabulary": dict.fromkeys(seconds, 5), "flops": dict.fromkeys(seconds, 5)}
    assert table({"ceiling": 100.0, "rows": [row]}, "en")[2][-1] == "-6.0 %: too slow to count"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is an accelerator")
def test_without_an_accelerator_it_says_so() -> None:
    with pytest.raises(ConfigError, match="gpt-step is measured on an accelerator, and there is none here"):
        run()


@pytest.mark.gpu
@GPU
@pytest.mark.parametrize("name", STEPS)
def test_the_kernels_give_nanogpts_loss(name: str) -> None:
    step = STEPS[name]
    assert difference(replace(step.shape, vocab_size=step.vocab_size), "cuda", 2, 64) <= LIMIT


@pytest.mark.gpu
@GPU
@pytest.mark.filterwarnings("ignore")  # torch's own compiler warns about itself
def test_a_captured_step_has_a_peak() -> None:
    row = measured("gpt2", TINY, "cuda", "")
    assert min(row["peak"].values()) > 0
