from __future__ import annotations

import pytest
import torch
from torch import nn

from glassformer.lessons.norm.batch_norm import BatchNorm, NoNorm, told_of_padding


def test_it_agrees_with_torch_in_both_modes() -> None:
    torch.manual_seed(0)
    ours, theirs = BatchNorm(6), nn.BatchNorm1d(6)
    for _ in range(3):
        x = torch.randn(4, 5, 6) * 3 + 1
        assert torch.allclose(ours(x), theirs(x.flatten(0, 1)).view_as(x), atol=1e-5)
    assert torch.allclose(ours.mean, theirs.running_mean, atol=1e-6)  # type: ignore[arg-type]
    # torch keeps the unbiased variance, which 20 tokens make 20/19 of ours, mixed with the 1 that both begin with
    assert torch.allclose(ours.variance, theirs.running_var, rtol=0.06)  # type: ignore[arg-type]
    ours.eval()
    x = torch.randn(1, 2, 6)
    assert torch.allclose(ours(x), (x - ours.mean) / (ours.variance + 1e-5).sqrt(), atol=1e-5)


def test_told_of_padding_it_leaves_padding_out() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.Sequential(BatchNorm(2))

        def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return self.encoder(x)

    x, mask = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [900.0, 900.0]]]), torch.tensor([[True, True, False]])
    plain, told = Model(), told_of_padding(Model(), lambda inputs: inputs[1])
    assert told(x, mask)[0, :2].tolist() == [pytest.approx([-1, -1], abs=1e-4), pytest.approx([1, 1], abs=1e-4)]
    assert float(plain(x, mask)[0, :2].detach().std()) < 0.1


def test_no_norm_is_no_norm() -> None:
    x = torch.randn(2, 3)
    assert NoNorm(3, eps=1e-5, bias=True)(x) is x
