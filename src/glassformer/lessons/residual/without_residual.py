"""A block whose sub-layers replace the stream instead of adding to it: Figure 1 with the "Add" taken out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.lessons.norm.batch_norm import NoNorm
from glassformer.models.block import DecoderBlock
from glassformer.models.decoder import Decoder
from glassformer.models.initialize import initialize
from glassformer.models.parts import MODELS, model_parts


class ReplacingBlock(DecoderBlock):
    """x ← Norm(f(x)) in post-norm order, x ← f(Norm(x)) in pre-norm order."""

    def _add_norm(self, x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: nn.Module | None) -> Tensor:
        assert norm is not None
        return norm(self.drop(sublayer(x))) if self.norm_order == "post" else self.drop(sublayer(norm(x)))


class ReplacingDecoder(Decoder):
    """A stack of `ReplacingBlock`s."""

    block = ReplacingBlock


def build_stack(config: ModelConfig, seed: int, *, residual: bool, norm: bool) -> nn.Module:
    """The decoder of a configuration with or without "Add" and "Norm"; otherwise the same weights by seed."""
    parts = model_parts(config)
    if not norm:
        parts["decoder"].options["norm"] = NoNorm
    kinds: dict[str, Any] = {name: box.make for name, box in parts.items()}
    if not residual:
        kinds["decoder"] = ReplacingDecoder
    with torch.random.fork_rng(devices=[]):
        model: nn.Module = MODELS["decoder"](**{name: kinds[name](**box.options) for name, box in parts.items()})
    random = torch.Generator().manual_seed(seed)
    initialize(model, config.init, d_model=config.d_model, n_layers=config.decoder_layers, generator=random)
    return model
