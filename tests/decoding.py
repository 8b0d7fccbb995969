"""Small models and sources for the tests of generation: hypotheses that differ and end at different lengths."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

import glassformer as gf

PAD, BOS, EOS, VOCABULARY = 0, 1, 2, 40
FAMILIES = ("encoder-decoder", "decoder")
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "relative", "none")
ENDS: dict[str, Any] = {"bos": BOS, "eos": EOS, "forbidden": (PAD, BOS)}


@cache
def lively(family: str, position: str = "sinusoidal", dtype: torch.dtype = torch.float64, **options: Any) -> nn.Module:
    """A small model with large weights: what it says depends on all that it was given, and sometimes it ends."""
    table = {
        "family": family,
        "vocab_size": VOCABULARY,
        "max_len": 64,
        "d_model": 16,
        "n_heads": 2,
        "d_ff": 24,
        "n_decoder_layers": 2,
        "position": position,
        "norm_order": "pre",
        "head": {"kind": "language_model", "bias": True},
        **options,
    }
    model = gf.build(table, seed=3, dtype=dtype).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() == 2 and "head" not in name:
                weight.mul_(2.0)
        model.head.bias[EOS] = 0.7
    return model


def sources(rows: int = 12, longest: int = 7, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Texts of 1 to `longest` tokens with padding behind, b s, and their mask."""
    generator = torch.Generator().manual_seed(seed)
    source = torch.randint(3, VOCABULARY, (rows, longest), generator=generator)
    lengths = torch.randint(1, longest + 1, (rows, 1), generator=generator)
    lengths[0] = longest
    mask = torch.arange(longest)[None, :] < lengths
    return source.masked_fill(~mask, PAD), mask


def one_by_one(source: Tensor, mask: Tensor) -> list[Tensor]:
    """Each text alone and without padding, 1 s."""
    return [row[real][None] for row, real in zip(source, mask, strict=True)]
