from __future__ import annotations

from typing import Any

import pytest
import torch

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.lessons.residual.without_residual import build_stack
from glassformer.models.build import build

CONFIG = ModelConfig(
    family="decoder", vocab_size=20, d_model=16, n_heads=2, d_ff=32, n_decoder_layers=2, head=Choice("language_model")
)
TOKENS = torch.arange(12).reshape(2, 6)


def test_with_everything_it_is_the_model_of_the_package() -> None:
    ours, theirs = build_stack(CONFIG, 3, residual=True, norm=True), build(CONFIG, seed=3)
    assert torch.equal(ours(TOKENS), theirs(TOKENS))


@pytest.mark.parametrize("norm_order", ["pre", "post"])
def test_without_adding_a_silent_layer_lets_nothing_through(norm_order: str) -> None:
    config = ModelConfig(**{**CONFIG.to_dict(), "norm_order": norm_order})
    model: Any = build_stack(config, 0, residual=False, norm=True)
    with torch.no_grad():
        model.decoder.blocks[0].feed_forward.w_2.weight.zero_()
    first = model.decoder(model.embedding(TOKENS))
    assert torch.allclose(first, model.decoder(model.embedding(TOKENS.flip(1))))


def test_without_norms_there_are_none() -> None:
    model = build_stack(CONFIG, 0, residual=True, norm=False)
    assert not [name for name, _ in model.named_parameters() if "norm" in name]
