from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import glassformer as gf
from glassformer.errors import ConfigError, InputError
from glassformer.layers.attention import Mask
from glassformer.layers.norm import RMSNorm
from glassformer.layers.residual import StochasticDepth
from glassformer.models.block import DecoderBlock, EncoderBlock
from glassformer.models.context import Memory
from glassformer.trace.record import record

SIZES = {"d_model": 16, "n_heads": 4, "d_ff": 24}


def test_the_lesson_block_has_its_published_size_and_shapes() -> None:
    block = gf.EncoderBlock(d_model=512, n_heads=8, d_ff=2048, dropout=0.1, norm_order="pre", activation="gelu")
    assert sum(parameter.numel() for parameter in block.parameters()) == 3_152_384
    x = torch.randn(2, 16, 512)
    with gf.record(block) as trace:
        assert block(x).shape == (2, 16, 512)
    (attention,) = trace.attention()
    assert attention.shape == (2, 8, 16, 16)
    assert attention.mean(1).shape == (2, 16, 16)
    torch.testing.assert_close(attention.sum(-1), torch.ones(2, 8, 16))


def sublayers(block: EncoderBlock | DecoderBlock) -> tuple[nn.Module, nn.Module]:
    return block.self_attention, block.feed_forward


def test_post_norm_normalises_after_each_sum() -> None:
    block = EncoderBlock(**SIZES).double()
    attention, network = sublayers(block)
    assert block.self_attention_norm is not None and block.feed_forward_norm is not None
    x = torch.randn(2, 3, 16).double()
    middle = block.self_attention_norm(x + attention(x, x, x))
    expected = block.feed_forward_norm(middle + network(middle))
    torch.testing.assert_close(block(x), expected, atol=1e-12, rtol=0)


def test_pre_norm_normalises_before_each_sub_layer() -> None:
    block = EncoderBlock(**SIZES, norm_order="pre").double()
    attention, network = sublayers(block)
    assert block.self_attention_norm is not None and block.feed_forward_norm is not None
    x = torch.randn(2, 3, 16).double()
    y = block.self_attention_norm(x)
    middle = x + attention(y, y, y)
    expected = middle + network(block.feed_forward_norm(middle))
    torch.testing.assert_close(block(x), expected, atol=1e-12, rtol=0)


def test_parallel_sub_layers_look_at_the_same_normalised_stream() -> None:
    block = DecoderBlock(**SIZES, norm_order="parallel", cross_attention=True).double()
    assert block.norm is not None and block.cross_attention is not None
    assert block.self_attention_norm is block.cross_attention_norm is block.feed_forward_norm is None
    x, memory = torch.randn(2, 3, 16).double(), torch.randn(2, 5, 16).double()
    y = block.norm(x)
    looked = block.self_attention(y, y, y, Mask(causal=True))
    expected = x + looked + block.cross_attention(y, memory, memory) + block.feed_forward(y)
    torch.testing.assert_close(block(x, memory), expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("norm_order", ["post", "pre"])
def test_the_decoder_looks_at_its_past_then_at_the_memory(norm_order: str) -> None:
    block = DecoderBlock(**SIZES, norm_order=norm_order, cross_attention=True).double()
    assert block.cross_attention is not None
    norms = (block.self_attention_norm, block.cross_attention_norm, block.feed_forward_norm)
    x, memory = torch.randn(2, 3, 16).double(), torch.randn(2, 5, 16).double()
    real = torch.tensor([[True] * 5, [True] * 2 + [False] * 3])

    def look_back(y: Tensor) -> Tensor:
        return block.self_attention(y, y, y, Mask(causal=True))

    def look_across(y: Tensor) -> Tensor:
        return block.cross_attention(y, memory, memory, real=real)

    expected = x
    for sublayer, norm in zip((look_back, look_across, block.feed_forward), norms, strict=True):
        assert norm is not None
        expected = norm(expected + sublayer(expected)) if norm_order == "post" else expected + sublayer(norm(expected))
    torch.testing.assert_close(block(x, memory, memory_real=real), expected, atol=1e-12, rtol=0)
    resolved = Memory(memory, Mask(allowed=real[:, None, None]))
    torch.testing.assert_close(block(x, resolved), expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("norm_order", ["pre", "parallel"])
def test_a_block_that_learned_nothing_passes_its_input_on(norm_order: str) -> None:
    block = EncoderBlock(**SIZES, norm_order=norm_order)
    with torch.no_grad():
        for linear in (block.self_attention.w_o, block.feed_forward.w_2):
            linear.weight.zero_()
            linear.bias.zero_()
    x = torch.randn(2, 3, 16)
    assert torch.equal(block(x), x)


def test_a_decoder_block_is_causal_by_itself() -> None:
    block, x = DecoderBlock(**SIZES).double(), torch.randn(1, 5, 16).double()
    changed = x.clone()
    changed[:, 3] += 1
    assert torch.equal(block(x)[:, :3], block(changed)[:, :3])
    assert not torch.equal(block(x)[:, 3:], block(changed)[:, 3:])


def test_an_encoder_block_takes_masks_and_rules() -> None:
    block, x = EncoderBlock(**SIZES).double(), torch.randn(2, 5, 16).double()
    triangle = torch.ones(2, 5, 5).tril().bool()
    torch.testing.assert_close(block(x, triangle), block(x, Mask(causal=True)), atol=1e-12, rtol=0)


def test_a_decoder_with_cross_attention_needs_a_memory() -> None:
    with pytest.raises(InputError, match=r"^this decoder has cross-attention and was given no memory; pass the"):
        DecoderBlock(**SIZES, cross_attention=True)(torch.randn(1, 3, 16))


def test_the_right_half_of_figure_1_is_said_to_need_its_cross_attention() -> None:
    """By default a decoder's block is GPT's: the docstring names the keyword that makes it the paper's, and it does."""
    assert "`DecoderBlock(…, cross_attention=True)`" in (DecoderBlock.__doc__ or "")
    assert DecoderBlock(**SIZES).cross_attention is None
    assert DecoderBlock(**SIZES, cross_attention=True).cross_attention is not None


def test_a_decoder_without_cross_attention_takes_no_memory() -> None:
    with pytest.raises(InputError, match=r"^this decoder has no cross-attention and was given a memory; build it with"):
        DecoderBlock(**SIZES)(torch.randn(1, 3, 16), torch.randn(1, 3, 16))


@pytest.mark.parametrize("block", [EncoderBlock(**SIZES), DecoderBlock(**SIZES)], ids=["encoder", "decoder"])
def test_a_mask_of_numbers_is_refused(block: nn.Module) -> None:
    with pytest.raises(InputError, match="mask has type float32; use booleans"):
        block(torch.randn(1, 3, 16), mask=torch.zeros(1, 3))


def test_biases_are_chosen_by_name() -> None:
    block = DecoderBlock(**SIZES, cross_attention=True, bias=("q", "feed_forward"))
    biases = {name for name, _ in block.named_parameters() if name.endswith("bias")}
    assert biases == {
        "self_attention.w_q.bias",
        "cross_attention.w_q.bias",
        "feed_forward.w_1.bias",
        "feed_forward.w_2.bias",
    }


def test_rates_of_dropout_follow_dropout_unless_given() -> None:
    block = EncoderBlock(**SIZES, dropout=0.1)
    assert (block.self_attention.dropout, block.feed_forward.dropout, block.drop[0].p) == (0.1, 0.1, 0.1)
    block = EncoderBlock(**SIZES, dropout=0.1, attention_dropout=0.0, feed_forward_dropout=0.3)
    assert (block.self_attention.dropout, block.feed_forward.dropout, block.drop[0].p) == (0.0, 0.3, 0.1)


@pytest.mark.parametrize("norm_order", ["post", "pre", "parallel"])
def test_dropout_acts_in_training_only(norm_order: str) -> None:
    block, x = EncoderBlock(**SIZES, dropout=0.5, norm_order=norm_order), torch.randn(2, 3, 16)
    assert not torch.equal(block(x), block(x))
    block.eval()
    assert torch.equal(block(x), block(x))


def test_stochastic_depth_leaves_whole_sub_layers_out() -> None:
    torch.manual_seed(0)
    block = EncoderBlock(**SIZES, norm_order="pre", stochastic_depth=0.5).double()
    assert isinstance(block.drop[1], StochasticDepth)
    x = torch.randn(1, 3, 16).double().expand(200, 3, 16)
    outcomes = {tuple(row.flatten().round(decimals=6).tolist()) for row in block(x)}
    assert len(outcomes) == 4  # with and without each of two sub-layers
    assert tuple(x[0].flatten().round(decimals=6).tolist()) in outcomes


def test_options_reach_their_boxes() -> None:
    block = EncoderBlock(
        **SIZES,
        n_kv_heads=2,
        d_k=6,
        d_v=5,
        norm="rms",
        eps=1e-7,
        feed_forward="gated",
        activation="silu",
        qk_norm=True,
        attention_scale=0.7,
        kernel="reference",
    )
    attention = block.self_attention
    assert (attention.n_kv_heads, attention.d_k, attention.d_v) == (2, 6, 5)
    assert (attention.scale, attention.kernel) == (0.7, "reference")
    norms = (attention.q_norm, attention.k_norm, block.self_attention_norm, block.feed_forward_norm)
    assert all(isinstance(norm, RMSNorm) and norm.eps == 1e-7 for norm in norms)
    assert block.feed_forward.w_gate.weight.shape == (24, 16)
    assert block.feed_forward.activation is torch.nn.functional.silu
    assert block(torch.randn(1, 3, 16)).shape == (1, 3, 16)


def test_a_norm_of_ones_own_can_be_brought() -> None:
    class Nothing(nn.Module):
        def __init__(self, d_model: int, *, eps: float, bias: bool) -> None:
            super().__init__()

        def forward(self, x: Tensor) -> Tensor:
            return x

    block = EncoderBlock(**SIZES, norm=Nothing)
    assert isinstance(block.self_attention_norm, Nothing)
    x = torch.randn(1, 3, 16)
    middle = x + block.self_attention(x, x, x)
    torch.testing.assert_close(block(x), middle + block.feed_forward(middle))


def test_the_stream_can_be_seen_after_every_sub_layer() -> None:
    block = DecoderBlock(**SIZES, cross_attention=True)
    with record(block) as trace:
        result = block(torch.randn(1, 3, 16), torch.randn(1, 3, 16))
    own = [name for name in trace.names() if "." not in name]
    assert own == ["after_self_attention", "after_cross_attention", "output"]
    assert torch.equal(trace["output"], result)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_heads": 3}, "n_heads=3 does not divide d_model=16; use 2, 4, or set d_k"),
        ({"n_kv_heads": 3}, "n_kv_heads=3 does not divide n_heads=4; use a divisor of n_heads"),
        ({"norm_order": "prE"}, "norm_order='prE' is unknown; use one of: post, pre, parallel"),
        ({"norm": "bach"}, "norm='bach' is unknown; use one of: layer, rms"),
        ({"feed_forward": "moe"}, "feed_forward='moe' is unknown; use one of: mlp, gated"),
        ({"activation": "tanh"}, "activation='tanh' is unknown; use one of: relu, gelu, gelu_tanh, silu"),
        ({"kernel": "flash"}, "kernel='flash' is unknown; use one of: reference, fused"),
    ],
)
def test_a_block_that_cannot_be_is_refused_at_the_prompt(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        EncoderBlock(**{"d_model": 16, "n_heads": 4, "d_ff": 32, **wrong})
