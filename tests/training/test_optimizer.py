from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from glassformer.config.recipe import TrainConfig
from glassformer.config.values import Choice
from glassformer.errors import FileError
from glassformer.training.optimizer import (
    OPTIMIZERS,
    forget_gradients,
    load_state,
    make_optimizer,
    state_tensors,
    update,
)
from small_run import run_config, small_model


def with_gradients(model: nn.Module, seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    return model


def stepped(kind: str, steps: int) -> tuple[nn.Module, torch.optim.Optimizer]:
    model = small_model(run_config())
    optimizer = make_optimizer(model, TrainConfig(optimizer=kind))
    for seed in range(steps):
        with_gradients(model, seed)
        update(optimizer)
    return model, optimizer


def test_adam_by_hand() -> None:
    """After one step from 0: m̂ = g, v̂ = g², so the weight moves by lr · g / (|g| + ε)."""
    parameter = nn.Parameter(torch.zeros(3))
    optimizer = OPTIMIZERS["adam"]([{"params": [parameter]}], beta1=0.9, beta2=0.98, eps=1e-9, weight_decay=0.0)
    optimizer.param_groups[0]["lr"] = 0.1
    parameter.grad = torch.tensor([2.0, -3.0, 0.5])
    optimizer.step()
    torch.testing.assert_close(parameter.detach(), torch.tensor([-0.1, 0.1, -0.1]))


def test_the_papers_numbers_reach_torch() -> None:
    _, optimizer = stepped("adam", 0)
    assert {group["betas"] for group in optimizer.param_groups} == {(0.9, 0.98)}
    assert {group["eps"] for group in optimizer.param_groups} == {1e-9}
    assert all(group["fused"] for group in optimizer.param_groups)


def test_matrices_decay_and_nothing_else() -> None:
    model = small_model(run_config({"position": "learned", "tie_embeddings": "none"}))
    optimizer = make_optimizer(model, TrainConfig(optimizer=Choice("adamw", {"weight_decay": 0.3})))
    names = {id(p): name for name, p in model.named_parameters()}
    decays, rest = ({names[id(p)] for p in group["params"]} for group in optimizer.param_groups)
    assert [group["weight_decay"] for group in optimizer.param_groups] == [0.3, 0.0]
    assert "encoder.blocks.0.self_attention.w_q.weight" in decays and "head.weight" in decays
    assert {"embedding.weight", "target_embedding.weight", "encoder.positions.weight"} <= rest
    assert {"decoder.blocks.0.feed_forward_norm.weight", "encoder.blocks.0.feed_forward.w_1.bias"} <= rest
    assert decays | rest == set(dict(model.named_parameters())) and not decays & rest


def test_a_frozen_weight_is_left_out() -> None:
    model = small_model(run_config())
    model.get_parameter("embedding.weight").requires_grad_(False)
    optimizer = make_optimizer(model, TrainConfig())
    assert sum(len(group["params"]) for group in optimizer.param_groups) == len(list(model.parameters())) - 1


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_a_state_comes_back_bit_for_bit(kind: str) -> None:
    model, optimizer = stepped(kind, 3)
    tensors = {name: value.clone() for name, value in state_tensors(optimizer, model).items()}
    assert tensors
    other = small_model(run_config())
    other.load_state_dict(model.state_dict())
    again = make_optimizer(other, TrainConfig(optimizer=kind))
    load_state(again, other, tensors)
    for one, two in ((model, optimizer), (other, again)):
        with_gradients(one, 9)
        two.step()
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))


def test_plain_gradient_descent_has_no_state() -> None:
    model = small_model(run_config())
    optimizer = make_optimizer(model, TrainConfig(optimizer=Choice("sgd", {"momentum": 0.0})))
    with_gradients(model)
    optimizer.step()
    assert state_tensors(optimizer, model) == {}


@pytest.mark.parametrize("name", ["exp_avg:nothing.weight", "exp_avg:encoder.blocks.0.self_attention.w_q.weight"])
def test_a_state_of_another_model_is_refused(name: str) -> None:
    model, optimizer = stepped("adam", 1)
    with pytest.raises(FileError, match=f"the optimiser's state '{name}' belongs to no trained weight"):
        load_state(optimizer, model, {name: torch.zeros(5, 5)})


def test_a_first_step_that_is_skipped_leaves_no_rubbish_in_the_momentum() -> None:
    parameter = nn.Parameter(torch.ones(1000))
    optimizer = OPTIMIZERS["sgd"]([{"params": [parameter]}], momentum=0.9, weight_decay=0.0)
    parameter.grad = torch.full((1000,), float("nan"))
    optimizer.found_inf = torch.tensor(1.0)  # type: ignore[attr-defined]
    optimizer.step()
    assert not optimizer.state[parameter]["momentum_buffer"].any()
    assert bool((parameter == 1.0).all())


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_an_update_is_the_step_of_torch(kind: str) -> None:
    found = []
    for act in (update, lambda optimizer: optimizer.step()):
        model = small_model(run_config())
        optimizer = make_optimizer(model, TrainConfig(optimizer=kind))
        for seed in range(3):
            with_gradients(model, seed)
            act(optimizer)
        found.append([p.detach().clone() for p in model.parameters()])
        forget_gradients(optimizer)
        assert all(p.grad is None for p in model.parameters())
    assert all(torch.equal(*both) for both in zip(*found, strict=True))


TRAINS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from small_run import run_config, trained
keys = {"optimizer": sys.argv[3], "device": sys.argv[4], "precision": "bf16" if sys.argv[4] == "cuda" else "float32"}
trained(Path(sys.argv[2]), run_config(steps=8, evaluate_every=8, **keys))
print("torch._dynamo" in sys.modules, "torch._inductor" in sys.modules)
"""


ON_CUDA = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator"),
]


@pytest.mark.parametrize(
    ("kind", "device"), [("adamw", "cpu"), ("sgd", "cpu"), pytest.param("adamw", "cuda", marks=ON_CUDA)]
)
def test_training_does_not_load_a_compiler_that_it_does_not_use(kind: str, device: str, tmp_path: Path) -> None:
    """torch's optimisers, its switch for deterministic kernels and operators of our own would: seconds at the start."""
    here = Path(__file__).parents[1]
    command = [sys.executable, "-c", TRAINS, str(here), str(tmp_path / "run"), kind, device]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == ["False", "False"]
