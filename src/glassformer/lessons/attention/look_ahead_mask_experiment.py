"""Every decoder that can be configured, made small; and the question that is put to each of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import torch
from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.models.presets import PRESETS

VOCABULARY, LENGTH, MEMORY = 30, 7, 5
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "relative", "none")
ORDERS = ("post", "pre", "parallel")
NORMS = ("layer", "rms")
FAMILIES = ("decoder", "encoder-decoder")


def configurations() -> dict[str, ModelConfig]:
    """The grid of families, positions, norm orders and norms; and every named model that has a decoder, shrunk."""
    grid = {
        f"{family} {position} {order} {norm}": small(
            ModelConfig(
                family=family,
                position=Choice(position),
                norm_order=order,
                norm=Choice(norm),
                head=Choice("language_model"),
            )
        )
        for family, position, order, norm in product(FAMILIES, POSITIONS, ORDERS, NORMS)
    }
    extra = {
        "shared key heads": replace(small(ModelConfig(family="decoder", head=Choice("language_model"))), n_kv_heads=2),
        "gated": small(ModelConfig(family="decoder", feed_forward=Choice("gated"), head=Choice("language_model"))),
    }
    named = {name: small(make()) for name, make in PRESETS.items() if make().decoder_layers}
    return grid | extra | named


def small(config: ModelConfig) -> ModelConfig:
    """The same choices with sizes for a moment: two layers, four heads of four numbers; a window of three."""
    position = Choice("rotary", {"base": 10000.0}) if config.position.kind == "rotary" else config.position
    return replace(
        config,
        vocab_size=VOCABULARY,
        max_len=16,
        d_model=16,
        n_heads=4,
        n_kv_heads=None if config.n_kv_heads in (None, config.n_heads) else 2,
        d_k=None if config.d_k is None else 6,
        d_ff=32,
        n_encoder_layers=None if config.family == "decoder" else 2,
        n_decoder_layers=2,
        position=position,
        window=None if config.window is None else 3,
        special_tokens=0,
    )


@torch.no_grad()
def probe(model: nn.Module, seed: int) -> dict[str, float]:
    """Row i of a batch has another token at place i: how far the outputs move before it, and at it."""
    random = torch.Generator().manual_seed(seed)
    row = torch.randint(0, VOCABULARY, (1, LENGTH), generator=random)
    source = torch.randint(0, VOCABULARY, (1, MEMORY), generator=random)
    same = row.expand(LENGTH, LENGTH)
    changed = same + torch.eye(LENGTH, dtype=torch.long)
    moved = (_run(model, changed % VOCABULARY, source) - _run(model, same, source)).abs().amax(-1)  # row place
    place = torch.arange(LENGTH)
    before = moved[place[None, :] < place[:, None]]
    return {"before": float(before.max()), "after": float(moved.diagonal().min())}


def _run(model: nn.Module, tokens: Tensor, source: Tensor) -> Tensor:
    if isinstance(model, EncoderDecoder):
        answer: Tensor = model(source.expand(len(tokens), -1), tokens)
        return answer
    alone: Tensor = model(tokens)
    return alone
