from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.models import block
from glassformer.models.build import build
from glassformer.trace.labels import labels
from glassformer.trace.steps import stepping

TOKENS = torch.tensor([[1, 2, 3]])


def formulas(**keys: Any) -> list[str]:
    sizes: dict[str, Any] = {"family": "decoder", "vocab_size": 9, "d_model": 8, "n_heads": 2, "d_ff": 12}
    config = ModelConfig(**sizes | {"n_decoder_layers": 2, "head": Choice("language_model")} | keys)
    model = build(config, seed=0).eval()
    with torch.no_grad(), stepping(model) as steps:
        model(TOKENS)
    return [label.formula for label in labels(model, steps, 0)]


def test_a_label_says_what_was_computed_and_not_what_was_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "u = LayerNorm(x + O)" in formulas()

    def without_shortcut(
        x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: nn.Module, drop: Callable[[Tensor], Tensor], order: str
    ) -> Tensor:
        y: Tensor = norm(drop(sublayer(x)))
        return y

    monkeypatch.setattr(block, "add_norm", without_shortcut)
    assert "u = LayerNorm(O)" in formulas()


def test_numbers_have_their_names() -> None:
    assert "S = Q Kᵀ / √d_k" in formulas()
    assert "S = Q Kᵀ" in formulas(attention_scale=1.0)
    assert "S = Q Kᵀ · 0.3" in formulas(attention_scale=0.3)
    assert formulas()[0] == "e = √d_model · E[token]"
    assert formulas(embedding_scale=False)[0] == "e = E[token]"


def test_a_head_with_everything() -> None:
    head = Choice("language_model", {"transform": True, "scale": True, "bias": True, "offset": True})
    said = formulas(head=head)[-2]
    assert said == "logits = (LayerNorm(GELU(y W_t + b_t)) / √d_model) Wᵀ + b + c"


def test_both_layouts_of_rotary_positions_are_one_function() -> None:
    for layout in ("halves", "interleaved"):
        assert "Q = rotate(x W_Q + b_Q)" in formulas(position=Choice("rotary", {"layout": layout}))


def test_a_function_that_has_no_way_of_writing_is_named() -> None:
    model = build(ModelConfig(family="encoder", vocab_size=9, d_model=8, n_heads=2, d_ff=12, n_encoder_layers=1,
                              head=Choice("classifier", {"classes": 3})), seed=0).eval()  # fmt: skip
    any_model: Any = model
    any_model.encoder.blocks[0].feed_forward.activation = torch.exp
    with torch.no_grad(), stepping(model) as steps:
        model(TOKENS)
    assert "h = exp(u W_1 + b_1)" in [label.formula for label in labels(model, steps, 0)]
