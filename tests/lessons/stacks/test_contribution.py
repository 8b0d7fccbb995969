from __future__ import annotations

import pytest
import torch
from torch import Tensor

from glassformer.lessons.stacks.contribution import contributions, halves, relative, slope
from glassformer.loading import open_config
from glassformer.models.build import build
from glassformer.models.encoder_decoder import EncoderDecoder


def test_relative_is_the_mean_share_of_real_tokens() -> None:
    x = torch.tensor([[[3.0, 4.0], [1.0, 0.0], [1.0, 0.0]]])
    change = torch.tensor([[[0.0, 5.0], [0.5, 0.0], [9.0, 0.0]]])
    assert relative(change, x, torch.tensor([[True, True, False]])) == pytest.approx((1.0 + 0.5) / 2)


def test_slope_and_halves() -> None:
    assert slope([3.0, 2.0, 1.0, 0.0]) == pytest.approx(-1.0)
    assert halves([4.0, 2.0, 9.0, 1.0, 1.0]) == pytest.approx(2.0)


def test_in_pre_norm_a_sublayer_adds_exactly_its_output() -> None:
    """One layer: what the two outputs add up to is what the whole layer changed, and a zeroed one adds nothing."""
    model = build(open_config("small-translator"), seed=0).eval()
    assert isinstance(model, EncoderDecoder)
    tokens, real = torch.randint(5, 50, (2, 6)), torch.ones(2, 6, dtype=torch.bool)

    def run() -> Tensor:
        return model.encode(tokens)

    before = contributions(model, "encoder", run, real)
    assert len(before["whole"]) == len(model.encoder.blocks)
    with torch.no_grad():
        for block in model.encoder.blocks:
            for parameter in block.self_attention.w_o.parameters():  # type: ignore[union-attr]
                parameter.zero_()
    after = contributions(model, "encoder", run, real)
    assert after["self_attention"] == [0.0] * len(model.encoder.blocks)
    assert before["self_attention"][0] > 0
