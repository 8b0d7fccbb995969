from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

import glassformer as gf
from glassformer.bench.training_step import translating
from glassformer.config.model import ModelConfig
from glassformer.training.compile import compile_parts
from glassformer.training.precision import autocast

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator"),
    pytest.mark.filterwarnings("ignore"),  # torch's own compiler warns about itself
]

SIZES = {"d_model": 256, "n_heads": 4, "d_ff": 512, "vocab_size": 1000, "dropout": 0.0}


def families() -> dict[str, tuple[nn.Module, tuple[Tensor, ...]]]:
    tokens = torch.randint(1000, (4, 32), device="cuda")
    return {
        "encoder": (gf.build("small-encoder", seed=0, device="cuda", **SIZES), (tokens,)),
        "decoder": (gf.build("llama3-8b", layers=2, seed=0, device="cuda", n_kv_heads=2, **SIZES), (tokens,)),
        "encoder-decoder": (gf.build("t5-small", layers=2, seed=0, device="cuda", **SIZES), (tokens, tokens[:, :20])),
    }


@pytest.mark.parametrize("family", ["encoder", "decoder", "encoder-decoder"])
def test_compiled_and_reference_agree_with_eager(family: str) -> None:
    model, inputs = families()[family]
    model.eval()
    eager = model(*inputs)
    assert torch.isfinite(eager).all()
    compiled = torch.compile(model, fullgraph=True)(*inputs)
    torch.testing.assert_close(compiled, eager, rtol=1e-3, atol=1e-3)
    reference = copy.deepcopy(model)
    for module in reference.modules():
        if isinstance(module, gf.MultiHeadAttention):
            module.kernel = "reference"
    torch.testing.assert_close(reference(*inputs), eager, rtol=1e-3, atol=1e-3)


KINDS = {
    "encoder": {"n_encoder_layers": 2, "head": "language_model"},
    "decoder": {"n_decoder_layers": 2, "head": "language_model"},
    "encoder-decoder": {"n_encoder_layers": 2, "n_decoder_layers": 2, "head": "language_model"},
}


def gradients(model: nn.Module, inputs: tuple[Tensor, ...], precision: str) -> dict[str, Tensor]:
    with autocast(precision, torch.device("cuda")):
        out = model(*inputs)
    along = torch.randn(out.shape, generator=torch.Generator("cuda").manual_seed(0), device="cuda")
    (out.float() * along).sum().backward()
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def apart(found: dict[str, Tensor], expected: dict[str, Tensor]) -> dict[str, float]:
    """How far each gradient is from the expected one, in lengths of that; 1 if it is missing.

    Left out are those of the keys' biases, which only rounding keeps from being 0: softmax ignores what all keys share.
    """
    assert found.keys() == expected.keys()
    compared = [name for name in expected if not name.endswith("w_k.bias")]
    return {name: float((found[name] - expected[name]).norm() / expected[name].norm()) for name in compared}


@pytest.mark.parametrize("length", [96, 32])  # attention of long texts, and the kernel of short ones
@pytest.mark.parametrize("norm_order", ["post", "pre", "parallel"])
@pytest.mark.parametrize("family", KINDS)
def test_a_compiled_step_has_the_gradients_of_an_uncompiled_one(family: str, norm_order: str, length: int) -> None:
    """Compiled as in training; in bfloat16 it is at most half as far again from float32 as the uncompiled step is.

    With GELU: at the corner of ReLU rounding decides about a whole slope.
    """
    torch.compiler.reset()
    torch.manual_seed(0)
    options = {"family": family, "norm_order": norm_order, "activation": "gelu"}
    config = ModelConfig.from_dict({**options, **SIZES, **KINDS[family]})
    model = gf.build(config, seed=0, device="cuda").train()
    tokens = torch.randint(1000, (4, length), device="cuda")
    inputs = (tokens, tokens[:, :-12]) if family == "encoder-decoder" else (tokens,)
    plain = {kind: gradients(copy.deepcopy(model), inputs, kind) for kind in ("float32", "bf16")}
    compiled = {kind: gradients(with_compiled_parts(copy.deepcopy(model)), inputs, kind) for kind in plain}
    assert plain["float32"].keys() == dict(model.named_parameters()).keys()
    assert max(apart(compiled["float32"], plain["float32"]).values()) < 1e-4
    rounding, found = (apart(each["bf16"], plain["float32"]) for each in (plain, compiled))
    assert max(found.values()) < 1.5 * max(rounding.values()) < 0.2


def with_compiled_parts(model: nn.Module) -> nn.Module:
    compile_parts(model, translating())
    return model
