"""Dropout on a CPU: the right share, the right mean, one mask for both ways, drawn from torch's generator."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from glassformer.kernels.dropout import LARGE, Dropout, dropout

N = 4 * LARGE + 3  # no multiple of four


@pytest.mark.parametrize("rate", [0.1, 0.2, 0.3, 0.5, 0.9])
def test_share_and_scale(rate: float) -> None:
    torch.manual_seed(0)
    y = dropout(torch.ones(N), rate, True)
    dropped = (y == 0).float().mean().item()
    assert abs(dropped - rate) < 5 * (rate * (1 - rate) / N) ** 0.5 + 2**-17
    assert y.max().item() == pytest.approx(1 / (1 - rate), rel=2**-16 / (1 - rate))
    assert len(y.unique()) == 2


def test_every_place_has_the_same_chance() -> None:
    """Four places share a number of the generator: none may be favoured, and none follow another."""
    torch.manual_seed(0)
    kept = (dropout(torch.ones(64 * LARGE), 0.5, True) > 0).view(-1, 4).float()  # n 4
    tolerance = 5 * 0.5 / len(kept) ** 0.5
    assert (kept.mean(0) - 0.5).abs().max() < tolerance
    together = kept.T @ kept / len(kept)  # 4 4: ½ on the diagonal, ¼ elsewhere
    assert (together - (torch.eye(4) + 1) / 4).abs().max() < tolerance


def test_the_same_mask_both_ways() -> None:
    x = torch.ones(N, requires_grad=True)
    y = dropout(x, 0.3, True)
    (slope,) = torch.autograd.grad(y.sum(), x)
    assert torch.equal(slope, y.detach())


def test_drawn_from_torchs_generator() -> None:
    x = torch.ones(2, N)
    torch.manual_seed(7)
    state = torch.get_rng_state()
    first, second = dropout(x, 0.3, True), dropout(x, 0.3, True)
    torch.set_rng_state(state)
    assert torch.equal(dropout(x, 0.3, True), first) and not torch.equal(first, second)


def test_it_keeps_as_much_as_torchs_own() -> None:
    def kept(drop: object) -> list[int]:
        sizes: list[int] = []

        def keep(saved: Tensor) -> Tensor:
            sizes.append(saved.untyped_storage().nbytes())
            return saved

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda saved: saved):
            drop(torch.ones(N, requires_grad=True), 0.3, True)  # type: ignore[operator]
        return sizes

    assert kept(dropout) == kept(F.dropout) == [4 * N]


@pytest.mark.parametrize("x", [torch.ones(LARGE - 1), torch.ones(N, dtype=torch.float64)])
def test_elsewhere_it_is_torchs_own(x: Tensor) -> None:
    torch.manual_seed(0)
    mine = dropout(x, 0.3, True)
    torch.manual_seed(0)
    assert torch.equal(mine, F.dropout(x, 0.3, True))


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_nothing_and_everything(rate: float) -> None:
    assert torch.equal(dropout(torch.ones(N), rate, True), torch.full((N,), 1 - rate))


def test_outside_of_training() -> None:
    x = torch.ones(N)
    assert dropout(x, 0.5, False) is x or torch.equal(dropout(x, 0.5, False), x)
    assert torch.equal(Dropout(0.5).eval()(x), x)
