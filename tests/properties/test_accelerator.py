from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

import glassformer as gf

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


@pytest.mark.parametrize("family", ["encoder", "decoder", "encoder-decoder"])
def test_a_compiled_training_step_in_bfloat16(family: str) -> None:
    model, inputs = families()[family]
    compiled = torch.compile(model, fullgraph=True)
    with torch.autocast("cuda", torch.bfloat16):
        loss = compiled(*inputs).float().square().mean()
    loss.backward()
    assert torch.isfinite(loss)
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in model.parameters())
