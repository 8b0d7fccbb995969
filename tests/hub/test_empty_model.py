from __future__ import annotations

import subprocess
import sys

import pytest
import torch

import glassformer as gf
from glassformer.hub.empty_model import allocated, empty_model, parameter_count, shapes

CONFIG = gf.ModelConfig(vocab_size=40, d_model=16, n_heads=2, d_ff=24, head=gf.Choice("language_model"))


def test_every_shape_and_no_number() -> None:
    model, built = empty_model(CONFIG), gf.build(CONFIG)
    assert all(x.is_meta for x in model.parameters())
    assert parameter_count(CONFIG) == gf.count(CONFIG).total.parameters
    assert shapes(CONFIG) == {name: tuple(x.shape) for name, x in built.state_dict().items()}


@pytest.mark.slow
def test_no_compiler_is_loaded() -> None:
    program = f"""
import sys
from glassformer.config.model import ModelConfig
from glassformer.hub.empty_model import allocated, empty_model
allocated(empty_model(ModelConfig.from_dict({CONFIG.to_dict()!r})), "cpu")
assert not {{"torch._dynamo", "sympy"}} & set(sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_allocated_it_has_memory_and_what_no_file_holds() -> None:
    model, built = allocated(empty_model(CONFIG), "cpu"), gf.build(CONFIG)
    assert not any(x.is_meta for x in model.parameters()) and all(x.requires_grad for x in model.parameters())
    model.load_state_dict(built.state_dict())
    ids = torch.arange(1, 9).reshape(2, 4)
    assert torch.equal(model.eval()(ids, ids), built.eval()(ids, ids))  # the table of positions is there
