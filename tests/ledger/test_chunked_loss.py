"""The loss in chunks: its sizes by hand, and on an accelerator what the kernel really takes."""

from __future__ import annotations

import gc
from dataclasses import replace

import pytest
import torch

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.formula import evaluate_formula
from glassformer.kernels import TRITON
from glassformer.kernels.chunk import LOGITS_AT_ONCE, chunk_rows, padded
from glassformer.layers.head import LanguageModelHead
from glassformer.ledger.chunked_loss import ChunkedLoss
from glassformer.ledger.costs import Pass, costs
from glassformer.models.presets import PRESETS

SIZES = {"b": 4, "t": 8, "d_model": 16, "vocab_size": 100, "w": 4, "c": 2}


def chunks(**changes: int) -> ChunkedLoss:
    sizes = SIZES | changes
    head = LanguageModelHead(d_model=sizes["d_model"], vocab_size=sizes["vocab_size"])
    found = ChunkedLoss.of(head, sizes)
    assert found is not None
    return found


def test_by_hand() -> None:
    found, width = chunks(), 128  # 100 words are computed as 128
    assert [entry.amount for entry in found.kept] == [4 * 8 * 16 * 2, width * 16 * 4]
    assert found.forward.amount == 4 * 8 * 16 * (4 + 2) + width * 16 * 2 + 4 * 8 * width * 2
    assert found.backward.amount == 4 * 8 * 16 * 4 + 100 * 16 * 4
    assert found.traffic == 6 * 4 * 8 * width * 2
    assert found.largest == found.forward


def test_without_mixed_precision_the_stream_is_not_copied() -> None:
    assert chunks(c=4).forward.amount == 4 * 8 * 16 * 4 + 128 * 16 * 4 + 4 * 8 * 128 * 4
    assert chunks(w=2).backward.amount == 4 * 8 * 16 * 2 + 100 * 16 * (4 + 2)


def test_never_more_logits_than_a_chunk() -> None:
    many = chunks(b=4096, t=1024, vocab_size=50257)
    assert many.values["rows"] * many.values["width"] <= LOGITS_AT_ONCE
    assert many.values["rows"] == chunk_rows(4096 * 1024, padded(50257)) == LOGITS_AT_ONCE // 50304
    assert many.forward.amount - 4096 * 1024 * 16 * 6 - 50304 * 16 * 2 == 2 * many.values["rows"] * 50304


def test_formulas_give_the_bytes() -> None:
    cost = costs(PRESETS["gpt2"](), Pass(batch=2, length=16, device="cuda", autocast=True))["head"].to_json()
    assert cost["saved_formula"] == "b×t×d_model×c+width×d_model×4"
    assert evaluate_formula(cost["saved_numbers"], {}) == cost["saved_bytes"] == 2 * 16 * 768 * 2 + 50304 * 768 * 4


@pytest.mark.parametrize("options", [{"bias": True}, {"transform": True}, {"offset": True}, {"scale": True}])
def test_a_head_that_is_more_than_a_product_holds_all_logits(options: dict[str, bool]) -> None:
    config = replace(PRESETS["gpt2"](), head=Choice("language_model", options))
    run = Pass(batch=2, length=16, device="cuda", autocast=True)
    assert costs(config, run) == costs(config, replace(run, loss="whole"))


def test_eight_bytes_a_number_hold_all_logits() -> None:
    run = Pass(length=16, device="cuda", dtype="float64")
    assert costs(PRESETS["gpt2"](), run) == costs(PRESETS["gpt2"](), replace(run, loss="whole"))


def test_flops_are_those_of_the_whole_loss() -> None:
    run = Pass(batch=2, length=16, device="cuda", autocast=True)
    for part, cost in costs(PRESETS["gpt2"](), run).items():
        whole = costs(PRESETS["gpt2"](), replace(run, loss="whole"))[part]
        assert (cost.forward, cost.backward) == (whole.forward, whole.backward)


def test_a_classifier_has_no_chunks() -> None:
    config: ModelConfig = PRESETS["mini-classifier"]()
    assert costs(config, Pass(device="cuda")) == costs(config, Pass(device="cuda", loss="whole"))


@pytest.mark.gpu
@pytest.mark.skipif(not (torch.cuda.is_available() and TRITON), reason="no accelerator")
@pytest.mark.parametrize(("n", "v"), [(16384, 50257), (65536, 10000)])
def test_the_kernel_takes_what_is_predicted(n: int, v: int) -> None:
    from glassformer.kernels.linear_cross_entropy import linear_cross_entropy

    d = 768
    found = chunks(b=1, t=n, d_model=d, vocab_size=v)
    x = torch.randn(n, d, device="cuda", requires_grad=True)
    weight = torch.randn(v, d, device="cuda", requires_grad=True)
    targets = torch.randint(v, (n,), device="cuda")
    x[:64].bfloat16() @ weight[:64].T.bfloat16()  # the library's own memory is there from the first product on
    gc.collect()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    loss = linear_cross_entropy(x, weight, targets, ignore=-100, smoothing=0.1, dtype=torch.bfloat16)
    kept = sum(entry.amount for entry in found.kept)
    stream = n * d * 4  # was there before
    assert torch.cuda.memory_allocated() - before == pytest.approx(kept, rel=0.01)
    assert torch.cuda.max_memory_allocated() - before == pytest.approx(kept + found.forward.amount - stream, rel=0.01)
    torch.cuda.reset_peak_memory_stats()
    loss.backward()
    assert torch.cuda.max_memory_allocated() - before == pytest.approx(kept + found.backward.amount, rel=0.03)
