from __future__ import annotations

import math

import pytest
import torch

from glassformer.layers.embedding import token_matrix
from glassformer.losses import IGNORE, CompiledLoss, cross_entropy, make_loss
from glassformer.models.build import build
from glassformer.models.decoder import DecoderOnly
from glassformer.tasks.token_scores import (
    head_loss,
    head_scores,
    plain_smoothing,
    rows_scores,
    tied_matrix,
    token_scores,
    with_perplexity,
)
from tiny_tasks import tiny


def writer(tie: str) -> DecoderOnly:
    config = tiny("language_model", model={"tie_embeddings": tie, "vocab_size": 30}).model
    model = build(config, seed=0)
    assert isinstance(model, DecoderOnly)
    return model


@pytest.mark.parametrize("tie", ["all", "none"])
def test_a_few_rows_at_a_time_give_the_loss_of_all_and_its_gradients(tie: str) -> None:
    model = writer(tie)
    tied = tied_matrix(model.head, model.embedding)
    assert (tied is token_matrix(model.embedding)) is (tie == "all") and (tied is None) is (tie == "none")
    targets = torch.randint(30, (2, 5), generator=torch.Generator().manual_seed(0))
    found = []
    for size in (0, 3):
        x = torch.linspace(-1, 1, 2 * 5 * 32).reshape(2, 5, 32).requires_grad_()
        if size:
            one = head_loss(model.head, model.embedding, x, targets, loss=cross_entropy, size=size)
        else:
            one = cross_entropy(model.head(x, None, tied), targets)
        (gradient,) = torch.autograd.grad(one.total, x)
        found.append((one.total.detach(), one.count, gradient))
    for whole, parts in zip(*found, strict=True):
        torch.testing.assert_close(whole, parts)


def test_a_kernel_knows_the_loss_it_can_replace_compiled_or_not() -> None:
    smoothed = make_loss("cross_entropy", {"smoothing": 0.1})
    assert plain_smoothing(smoothed) == plain_smoothing(CompiledLoss(smoothed, torch.compile(smoothed))) == 0.1
    assert plain_smoothing(make_loss("cross_entropy", {})) == 0.0
    for other in (make_loss("focal", {}), make_loss("cross_entropy", {"weights": (1.0, 2.0)})):
        assert plain_smoothing(other) is plain_smoothing(CompiledLoss(other, other)) is None


def test_scores_by_hand() -> None:
    logits = torch.log(torch.tensor([[[0.5, 0.25, 0.25], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]]))
    found = token_scores(logits, torch.tensor([[0, 2, IGNORE]]))
    assert (found["accuracy"].total, found["accuracy"].count, found["loss"].count) == (1, 2, 2)
    assert float(found["loss"].total) == pytest.approx(-math.log(0.5) - math.log(0.1))


def test_perplexity_is_e_to_the_loss_and_stays_a_number() -> None:
    assert with_perplexity({"loss": math.log(8)}) == {"loss": math.log(8), "perplexity": pytest.approx(8)}
    assert math.isfinite(with_perplexity({"loss": 1e6})["perplexity"])


@pytest.mark.parametrize("size", [1, 3, 10, 100])
@pytest.mark.parametrize("tie", ["all", "none"])
def test_scores_a_few_rows_at_a_time_are_those_of_all(tie: str, size: int) -> None:
    model = writer(tie).double()
    x = torch.linspace(-1, 1, 2 * 5 * 32, dtype=torch.float64).reshape(2, 5, 32)
    targets = torch.randint(30, (2, 5), generator=torch.Generator().manual_seed(0))
    targets[0, 2] = IGNORE
    tied = tied_matrix(model.head, model.embedding)
    whole = head_scores(model.head, model.embedding, x, targets)
    assert whole.keys() == token_scores(model.head(x, None, tied), targets).keys()
    parts = rows_scores(lambda rows: model.head(rows[None], None, tied), x.flatten(0, 1), targets.flatten(), size)
    for name, one in whole.items():
        assert int(parts[name].count) == int(one.count) == 9
        torch.testing.assert_close(parts[name].total, one.total, atol=1e-10, rtol=0)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_an_evaluation_never_holds_all_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    model = writer("all").cuda()
    x, targets = torch.randn(8, 4096, 32, device="cuda"), torch.zeros(8, 4096, dtype=torch.long, device="cuda")
    whole = token_scores(model.head(x, None, tied_matrix(model.head, model.embedding)), targets)
    monkeypatch.setattr("glassformer.tasks.token_scores.chunk_rows", lambda n, width: 64)
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    parts = head_scores(model.head, model.embedding, x, targets)
    assert torch.cuda.max_memory_allocated() - before < 8 * 4096 * 30 * 4 / 4
    assert int(parts["accuracy"].count) == int(whole["accuracy"].count)
    torch.testing.assert_close(parts["loss"].total, whole["loss"].total)
