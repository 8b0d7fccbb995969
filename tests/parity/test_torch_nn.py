from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import glassformer as gf
from glassformer.layers.attention import KERNELS, Mask

TOLERANCE = 1e-12
BATCH, SOURCE, TARGET = 3, 7, 5
D_MODEL, N_HEADS, D_FF, N_LAYERS = 16, 4, 24, 2
EPS = 1e-3  # not the default, so that it shows when it is not passed on

# eval without gradients is where torch.nn takes a kernel of its own, its "fast path"
MODES = ("train", "eval", "eval without gradients")


@pytest.fixture(params=("post", "pre"))
def order(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=("relu", "gelu"))
def activation(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=KERNELS)
def kernel(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(autouse=True)
def same_numbers_every_time() -> None:
    torch.manual_seed(2017)


# --- masks: True = may look in Glassformer, True = ignore in torch.nn ---


@dataclass(frozen=True)
class Looking:
    """Who may look at whom, as both sides want to be told."""

    real: Tensor | None = None  # b s, True = a real token
    allowed: Tensor | None = None  # t s, b t s or b h t s, True = may look

    def ours(self, of: str = "") -> dict[str, Tensor | None]:
        """What may be looked at, and what is real; `of` the memory."""
        return {f"{of}mask": self.allowed, f"{of}real": self.real}

    def padding(self) -> Tensor | None:
        return None if self.real is None else ~self.real

    def attention(self) -> Tensor | None:
        """torch.nn wants t s or b·h t s."""
        if self.allowed is None:
            return None
        match self.allowed.dim():
            case 3:
                return ~self.allowed.repeat_interleave(N_HEADS, 0)
            case 4:
                return ~self.allowed.flatten(0, 1)
        return ~self.allowed


def padding(lengths: list[int], length: int) -> Tensor:
    return torch.tensor([[place < real for place in range(length)] for real in lengths])  # b s


def causal(length: int) -> Tensor:
    return torch.ones(length, length).tril().bool()  # t s


def random_mask(*shape: int) -> Tensor:
    """Anything, but everyone sees the first token: torch.nn answers NaN where a query may look at nothing."""
    allowed = torch.rand(*shape, generator=torch.Generator().manual_seed(6)) < 0.5
    allowed[..., 0] = True
    return allowed


SOURCE_REAL = padding([7, 4, 6], SOURCE)
TARGET_REAL = padding([3, 5, 2], TARGET)

ENCODER_LOOKS = {
    "everything": Looking(),
    "padding": Looking(real=SOURCE_REAL),
    "padding in front": Looking(real=SOURCE_REAL.flip(1)),
    "causal": Looking(allowed=causal(SOURCE)),
    "causal and padding": Looking(real=SOURCE_REAL, allowed=causal(SOURCE)),
    "any per sentence": Looking(allowed=random_mask(BATCH, SOURCE, SOURCE)),
    "any per head": Looking(allowed=random_mask(BATCH, N_HEADS, SOURCE, SOURCE)),
    "any per head and padding": Looking(real=SOURCE_REAL, allowed=random_mask(BATCH, N_HEADS, SOURCE, SOURCE)),
}

# what is said of the target beside the look-ahead mask, which our decoder always has
DECODER_LOOKS = {
    "causal": Looking(),
    "causal and padding": Looking(real=TARGET_REAL),
    "causal and any per head": Looking(allowed=random_mask(BATCH, N_HEADS, TARGET, TARGET)),
    "causal, any per head and padding": Looking(real=TARGET_REAL, allowed=random_mask(BATCH, N_HEADS, TARGET, TARGET)),
}

MEMORY_LOOKS = {
    "everything": Looking(),
    "padding": Looking(real=SOURCE_REAL),
    "padding in front": Looking(real=SOURCE_REAL.flip(1)),
    "any per head": Looking(allowed=random_mask(BATCH, N_HEADS, TARGET, SOURCE)),
}


def with_look_ahead(look: Looking) -> Looking:
    ahead = causal(TARGET)
    return Looking(look.real, ahead if look.allowed is None else look.allowed & ahead)


looking_around = pytest.mark.parametrize("look", ENCODER_LOOKS.values(), ids=ENCODER_LOOKS)
looking_at_memory = pytest.mark.parametrize("memory_look", MEMORY_LOOKS.values(), ids=MEMORY_LOOKS)
looking_back_and_at_memory = pytest.mark.parametrize(  # each of the one with one of the other
    ("look", "memory_look"),
    [*zip(DECODER_LOOKS.values(), MEMORY_LOOKS.values(), strict=True)],
    ids=[f"{look}; memory: {memory_look}" for look, memory_look in zip(DECODER_LOOKS, MEMORY_LOOKS, strict=True)],
)


# --- weights ---

NAMES = {
    "layers": "blocks",
    "self_attn": "self_attention",
    "multihead_attn": "cross_attention",
    "out_proj": "w_o",
    "linear1": "feed_forward.w_1",
    "linear2": "feed_forward.w_2",
    "norm1": "self_attention_norm",
    "norm3": "feed_forward_norm",
    "norm": "final_norm",
}


def under_our_names(theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights, or their gradients, of torch.nn: renamed, and its one matrix for q, k and v cut in three."""
    ours = {}
    for name, tensor in theirs.items():
        has_third = name.replace("norm2", "norm3") in theirs
        second = "cross_attention_norm" if has_third else "feed_forward_norm"
        renamed = ".".join({**NAMES, "norm2": second}.get(word, word) for word in name.split("."))
        if "in_proj_" in renamed:
            for letter, third in zip("qkv", tensor.chunk(3), strict=True):
                ours[renamed.replace("in_proj_", f"w_{letter}.")] = third
        else:
            ours[renamed] = tensor
    return ours


def give_weights(ours: nn.Module, theirs: nn.Module, mode: str) -> None:
    """Every weight is moved off its start, where all layers are equal, biases 0 and norms 1; then it is copied."""
    for module in (ours, theirs):
        module.double().train(mode == "train")
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    ours.load_state_dict(under_our_names(theirs.state_dict()), strict=True)


def vectors(length: int) -> Tensor:
    return torch.randn(BATCH, length, D_MODEL, dtype=torch.float64)


# --- the comparison ---


def gap(ours: Tensor, theirs: Tensor) -> float:
    return (ours - theirs).abs().max().item()


def gradients(loss: Tensor, named: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return dict(zip(named, torch.autograd.grad(loss, list(named.values())), strict=True))


def assert_same(
    ours: nn.Module,
    theirs: nn.Module,
    our_pass: Callable[..., Tensor],
    their_pass: Callable[..., Tensor],
    inputs: tuple[Tensor, ...],
    mode: str,
    *,
    real: Tensor | None = None,
) -> None:
    """The same weights give the same output and the same gradient of every weight and input.

    Rows of padding mean nothing and are left out.
    """
    give_weights(ours, theirs, mode)
    with torch.no_grad() if mode == "eval without gradients" else nullcontext():
        inputs = tuple(x.requires_grad_(torch.is_grad_enabled()) for x in inputs)
        output, expected = our_pass(*inputs), their_pass(*inputs)
    rows = torch.ones(expected.shape[:-1], dtype=torch.bool) if real is None else real
    output, expected = output[rows], expected[rows]
    assert output.dtype == torch.float64
    assert gap(output, expected) <= TOLERANCE
    if mode == "eval without gradients":
        return
    asked = torch.randn_like(expected)
    x = {f"input {number}": tensor for number, tensor in enumerate(inputs)}
    found = gradients((output * asked).sum(), {**dict(ours.named_parameters()), **x})
    wanted = under_our_names(gradients((expected * asked).sum(), {**dict(theirs.named_parameters()), **x}))
    assert found.keys() == wanted.keys()
    scale = max(1.0, *(gradient.abs().max().item() for gradient in wanted.values()))
    assert {name for name in found if not gap(found[name], wanted[name]) <= TOLERANCE * scale} == set()  # NaN too


# --- norms ---


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("eps", [1e-12, 1e-5, 1e-3])
@pytest.mark.parametrize(
    ("ours", "theirs", "options"),
    [
        (gf.LayerNorm, nn.LayerNorm, {"bias": True}),
        (gf.LayerNorm, nn.LayerNorm, {"bias": False}),
        (gf.RMSNorm, nn.RMSNorm, {}),
    ],
    ids=["LayerNorm", "LayerNorm without bias", "RMSNorm"],
)
def test_norm(
    ours: Callable[..., nn.Module],
    theirs: Callable[..., nn.Module],
    options: dict[str, Any],
    eps: float,
    size: float,
    mode: str,
) -> None:
    norm, reference = ours(D_MODEL, eps=eps, **options), theirs(D_MODEL, eps=eps, **options)
    x = size * (vectors(TARGET) + 0.5)
    assert_same(norm, reference, norm, reference, (x,), mode)


# --- attention ---


def attentions(kernel: str, bias: bool = True) -> tuple[gf.MultiHeadAttention, nn.MultiheadAttention]:
    ours = gf.MultiHeadAttention(d_model=D_MODEL, n_heads=N_HEADS, bias=bias, kernel=kernel)
    return ours, nn.MultiheadAttention(D_MODEL, N_HEADS, bias=bias, batch_first=True)


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@looking_around
def test_self_attention(look: Looking, bias: bool, kernel: str, mode: str) -> None:
    ours, theirs = attentions(kernel, bias)

    def their_pass(x: Tensor) -> Tensor:
        return theirs(x, x, x, look.padding(), need_weights=False, attn_mask=look.attention())[0]

    assert_same(
        ours, theirs, lambda x: ours(x, x, x, **look.ours()), their_pass, (vectors(SOURCE),), mode, real=look.real
    )


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@looking_at_memory
def test_attention_to_other_keys_and_values(memory_look: Looking, bias: bool, kernel: str, mode: str) -> None:
    ours, theirs = attentions(kernel, bias)

    def their_pass(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return theirs(q, k, v, memory_look.padding(), need_weights=False, attn_mask=memory_look.attention())[0]

    inputs = vectors(TARGET), vectors(SOURCE), vectors(SOURCE)
    assert_same(ours, theirs, lambda q, k, v: ours(q, k, v, **memory_look.ours()), their_pass, inputs, mode)


@looking_around
def test_attention_weights(look: Looking, kernel: str) -> None:
    ours, theirs = attentions(kernel)
    give_weights(ours, theirs, "eval")
    x = vectors(SOURCE)
    with gf.record(ours) as trace:
        ours(x, x, x, **look.ours())
    _, weights = theirs(x, x, x, look.padding(), attn_mask=look.attention(), average_attn_weights=False)  # b h t s
    assert weights.shape == (BATCH, N_HEADS, SOURCE, SOURCE)
    assert gap(trace["weights"], weights) <= TOLERANCE


# --- one layer ---


def layer_sizes(order: str, activation: str, bias: bool = True) -> dict[str, Any]:
    return {
        "d_model": D_MODEL,
        "nhead": N_HEADS,
        "dim_feedforward": D_FF,
        "dropout": 0.0,
        "activation": activation,
        "layer_norm_eps": EPS,
        "batch_first": True,
        "norm_first": order == "pre",
        "bias": bias,
    }


def block_sizes(order: str, activation: str, kernel: str) -> dict[str, Any]:
    return {
        "d_model": D_MODEL,
        "n_heads": N_HEADS,
        "d_ff": D_FF,
        "activation": activation,
        "eps": EPS,
        "norm_order": order,
        "kernel": kernel,
    }


@pytest.mark.many
@looking_around
def test_encoder_layer(look: Looking, order: str, activation: str, kernel: str, mode: str) -> None:
    ours = gf.EncoderBlock(**block_sizes(order, activation, kernel))
    theirs = nn.TransformerEncoderLayer(**layer_sizes(order, activation))

    def their_pass(x: Tensor) -> Tensor:
        return theirs(x, src_mask=look.attention(), src_key_padding_mask=look.padding())

    assert_same(ours, theirs, lambda x: ours(x, **look.ours()), their_pass, (vectors(SOURCE),), mode, real=look.real)


def test_encoder_layer_without_any_bias(order: str, kernel: str, mode: str) -> None:
    look = ENCODER_LOOKS["padding"]
    ours = gf.EncoderBlock(**block_sizes(order, "gelu", kernel), bias=())
    theirs = nn.TransformerEncoderLayer(**layer_sizes(order, "gelu", bias=False))

    def their_pass(x: Tensor) -> Tensor:
        return theirs(x, src_key_padding_mask=look.padding())

    assert_same(ours, theirs, lambda x: ours(x, **look.ours()), their_pass, (vectors(SOURCE),), mode, real=look.real)


def decoder_masks(look: Looking, memory_look: Looking) -> dict[str, Tensor | None]:
    return {
        "tgt_mask": look.attention(),
        "tgt_key_padding_mask": look.padding(),
        "memory_mask": memory_look.attention(),
        "memory_key_padding_mask": memory_look.padding(),
    }


@pytest.mark.many
@looking_back_and_at_memory
def test_decoder_layer(
    look: Looking, memory_look: Looking, order: str, activation: str, kernel: str, mode: str
) -> None:
    ours = gf.DecoderBlock(**block_sizes(order, activation, kernel), cross_attention=True)
    theirs = nn.TransformerDecoderLayer(**layer_sizes(order, activation))
    masks = decoder_masks(with_look_ahead(look), memory_look)
    assert_same(
        ours,
        theirs,
        lambda x, memory: ours(x, memory, **look.ours(), **memory_look.ours("memory_")),
        lambda x, memory: theirs(x, memory, **masks),
        (vectors(TARGET), vectors(SOURCE)),
        mode,
        real=look.real,
    )


@pytest.mark.parametrize("real", [None, TARGET_REAL], ids=["everything", "padding"])
def test_decoder_layer_without_look_ahead(real: Tensor | None, order: str, kernel: str, mode: str) -> None:
    ours = gf.DecoderBlock(**block_sizes(order, "relu", kernel), cross_attention=True)
    theirs = nn.TransformerDecoderLayer(**layer_sizes(order, "relu"))
    mask = Mask(allowed=None if real is None else real[:, None, None, :])
    assert_same(
        ours,
        theirs,
        lambda x, memory: ours(x, memory, mask),
        lambda x, memory: theirs(x, memory, tgt_key_padding_mask=None if real is None else ~real),
        (vectors(TARGET), vectors(SOURCE)),
        mode,
        real=real,
    )


def test_decoder_layer_without_any_bias(order: str, kernel: str, mode: str) -> None:
    ours = gf.DecoderBlock(**block_sizes(order, "gelu", kernel), bias=(), cross_attention=True)
    theirs = nn.TransformerDecoderLayer(**layer_sizes(order, "gelu", bias=False))
    masks = decoder_masks(with_look_ahead(Looking()), Looking())
    inputs = vectors(TARGET), vectors(SOURCE)
    assert_same(ours, theirs, ours, lambda x, memory: theirs(x, memory, **masks), inputs, mode)


def test_decoder_layer_without_memory_is_an_encoder_layer_that_looks_back(order: str, kernel: str, mode: str) -> None:
    look = DECODER_LOOKS["causal and padding"]
    ours = gf.DecoderBlock(**block_sizes(order, "gelu", kernel))
    theirs = nn.TransformerEncoderLayer(**layer_sizes(order, "gelu"))

    def their_pass(x: Tensor) -> Tensor:
        return theirs(x, src_mask=~causal(TARGET), src_key_padding_mask=look.padding())

    assert_same(ours, theirs, lambda x: ours(x, **look.ours()), their_pass, (vectors(TARGET),), mode, real=look.real)


# --- stacks ---


def stack_sizes(order: str, activation: str, kernel: str, final_norm: bool) -> dict[str, Any]:
    return {
        **block_sizes(order, activation, kernel),
        "n_layers": N_LAYERS,
        "position": "none",
        "final_norm": final_norm,
    }


final_norms = pytest.mark.parametrize("final_norm", [True, False], ids=["final norm", "no final norm"])


def norm_at_the_end(final_norm: bool) -> nn.LayerNorm | None:
    return nn.LayerNorm(D_MODEL, eps=EPS) if final_norm else None


@pytest.mark.many
@final_norms
@looking_around
def test_encoder(look: Looking, final_norm: bool, order: str, kernel: str, mode: str) -> None:
    ours = gf.Encoder(**stack_sizes(order, "gelu", kernel, final_norm))
    layer = nn.TransformerEncoderLayer(**layer_sizes(order, "gelu"))
    theirs = nn.TransformerEncoder(layer, N_LAYERS, norm_at_the_end(final_norm), enable_nested_tensor=False)

    def their_pass(x: Tensor) -> Tensor:
        return theirs(x, mask=look.attention(), src_key_padding_mask=look.padding())

    assert_same(ours, theirs, lambda x: ours(x, **look.ours()), their_pass, (vectors(SOURCE),), mode, real=look.real)


@pytest.mark.many
@final_norms
@looking_back_and_at_memory
def test_decoder(look: Looking, memory_look: Looking, final_norm: bool, order: str, kernel: str, mode: str) -> None:
    ours = gf.Decoder(**stack_sizes(order, "gelu", kernel, final_norm), cross_attention=True)
    layer = nn.TransformerDecoderLayer(**layer_sizes(order, "gelu"))
    theirs = nn.TransformerDecoder(layer, N_LAYERS, norm_at_the_end(final_norm))
    masks = decoder_masks(with_look_ahead(look), memory_look)
    assert_same(
        ours,
        theirs,
        lambda x, memory: ours(x, memory, **look.ours(), **memory_look.ours("memory_")),
        lambda x, memory: theirs(x, memory, **masks),
        (vectors(TARGET), vectors(SOURCE)),
        mode,
        real=look.real,
    )


# --- the whole of Figure 1 ---


@pytest.mark.many
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")  # nn.Transformer does not let one say it
@pytest.mark.parametrize("target_real", [None, TARGET_REAL], ids=["whole targets", "padded targets"])
@pytest.mark.parametrize("source_real", [None, SOURCE_REAL], ids=["whole sources", "padded sources"])
def test_transformer(
    source_real: Tensor | None, target_real: Tensor | None, order: str, activation: str, kernel: str, mode: str
) -> None:
    theirs = nn.Transformer(
        num_encoder_layers=N_LAYERS, num_decoder_layers=N_LAYERS + 1, **layer_sizes(order, activation)
    )
    theirs.encoder.use_nested_tensor = False
    sizes = stack_sizes(order, activation, kernel, final_norm=True)
    encoder, decoder = gf.Encoder(**sizes), gf.Decoder(**{**sizes, "n_layers": N_LAYERS + 1}, cross_attention=True)
    ours = nn.ModuleDict({"encoder": encoder, "decoder": decoder})
    source, target = Looking(real=source_real), Looking(real=target_real)

    def our_pass(x: Tensor, y: Tensor) -> Tensor:
        return decoder(y, encoder(x, **source.ours()), **target.ours(), **source.ours("memory_"))

    def their_pass(x: Tensor, y: Tensor) -> Tensor:
        masks = decoder_masks(with_look_ahead(target), source)
        return theirs(x, y, src_key_padding_mask=source.padding(), **masks)

    assert_same(ours, theirs, our_pass, their_pass, (vectors(SOURCE), vectors(TARGET)), mode, real=target_real)


# --- the comparison can fail ---


@pytest.mark.parametrize("name", [name for name in ENCODER_LOOKS if name != "everything"])
def test_every_mask_changes_the_answer(name: str, kernel: str) -> None:
    block = gf.EncoderBlock(**block_sizes("post", "relu", kernel)).double()
    x = vectors(SOURCE)
    assert gap(block(x, **ENCODER_LOOKS[name].ours()), block(x)) > 1e-3


def test_every_weight_changes_the_answer(order: str, kernel: str) -> None:
    block = gf.DecoderBlock(**block_sizes(order, "gelu", kernel), cross_attention=True).double()
    x, memory = vectors(TARGET), vectors(SOURCE)
    before = block(x, memory)
    for name, parameter in block.named_parameters():
        if name.endswith("w_k.bias"):  # adds the same to every score of a query: softmax does not see it
            continue
        with torch.no_grad():
            kept = parameter.clone()
            parameter.add_(0.2 * torch.randn_like(parameter))
            assert gap(block(x, memory), before) > 1e-6, name
            parameter.copy_(kept)
