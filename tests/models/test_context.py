from __future__ import annotations

import pytest
import torch

from glassformer.layers.attention import LayerCache
from glassformer.models.block import DecoderBlock
from glassformer.models.context import PositionEffect
from glassformer.trace.record import record

SIZES = {"d_model": 16, "n_heads": 4, "d_ff": 24}


def test_a_bias_reaches_the_scores_of_self_attention_only() -> None:
    block = DecoderBlock(**SIZES, cross_attention=True).double()
    x, memory = torch.randn(1, 3, 16).double(), torch.randn(1, 3, 16).double()
    bias = torch.zeros(4, 3, 3).double()
    bias[:, :, 0] = 50.0  # everyone looks at the first
    with record(block) as trace:
        block(x, memory, positions=PositionEffect(bias=bias))
    assert trace["self_attention.weights"][..., 0].min().item() > 0.999
    assert trace["cross_attention.weights"][..., 0].max().item() < 0.999


@pytest.mark.parametrize("norm_order", ["post", "pre", "parallel"])
def test_a_cached_block_gives_what_the_whole_pass_gives(norm_order: str) -> None:
    block = DecoderBlock(**SIZES, cross_attention=True, norm_order=norm_order).double()
    x, memory, cache = torch.randn(2, 4, 16).double(), torch.randn(2, 3, 16).double(), LayerCache()
    steps = [block(x[:, t : t + 1], memory, cache=cache) for t in range(4)]
    torch.testing.assert_close(torch.cat(steps, 1), block(x, memory), atol=1e-10, rtol=0)


def test_a_cached_block_projects_the_memory_once() -> None:
    block = DecoderBlock(**SIZES, cross_attention=True).double()
    x, memory = torch.randn(2, 2, 16).double(), torch.randn(2, 3, 16).double()
    cache = LayerCache()
    block(x[:, :1], memory, cache=cache)
    nonsense = torch.full_like(memory, float("nan"))  # not looked at any more
    torch.testing.assert_close(block(x[:, 1:], nonsense, cache=cache), block(x, memory)[:, 1:], atol=1e-10, rtol=0)
