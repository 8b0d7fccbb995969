"""Optimisers, §5.3: torch's own, always the fused form, which clips and skips at no extra cost.

Their state is saved by parameter name and restored bit for bit.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.sgd import sgd as sgd_of_torch

from glassformer.config.recipe import TrainConfig
from glassformer.errors import FileError
from glassformer.training.parallel import is_cut, lying_here

ParameterGroups = list[dict[str, Any]]
KEPT_OUT = "__dynamo_disable"  # torch's note at a function of how to call it


def _on_accelerator(groups: ParameterGroups) -> bool:
    return any(p.is_cuda for group in groups for p in group["params"])


def adam(
    groups: ParameterGroups, *, beta1: float, beta2: float, eps: float, weight_decay: float
) -> torch.optim.Optimizer:
    """Adam (Kingma & Ba 2015) with the paper's β₁ = 0.9, β₂ = 0.98, ε = 10⁻⁹."""
    betas, on = (beta1, beta2), _on_accelerator(groups)
    return _told(torch.optim.Adam(groups, betas=betas, eps=eps, weight_decay=weight_decay, fused=True, capturable=on))


def adamw(
    groups: ParameterGroups, *, beta1: float, beta2: float, eps: float, weight_decay: float
) -> torch.optim.Optimizer:
    """AdamW (Loshchilov & Hutter 2019): the decay shrinks the weights directly, not through the gradient."""
    betas, on = (beta1, beta2), _on_accelerator(groups)
    return _told(torch.optim.AdamW(groups, betas=betas, eps=eps, weight_decay=weight_decay, fused=True, capturable=on))


def _told(made: torch.optim.Optimizer) -> torch.optim.Optimizer:
    """torch warns of a capturable optimiser that takes a step outside a graph; here the first steps always do."""
    made._warned_capturable_if_run_uncaptured = True
    return made


def sgd(groups: ParameterGroups, *, momentum: float, weight_decay: float) -> torch.optim.Optimizer:
    """Gradient descent with momentum."""
    made = torch.optim.SGD(groups, momentum=momentum, weight_decay=weight_decay, fused=True)
    if momentum:  # else, if the first step is skipped, it would hold uninitialised memory
        for parameter in (p for group in made.param_groups for p in group["params"]):
            made.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)
    return made


OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "adam": adam,
    "adamw": adamw,
    "sgd": sgd,
}


def make_optimizer(model: nn.Module, config: TrainConfig) -> torch.optim.Optimizer:
    """The optimiser over two groups: matrices decay; norms, biases and embeddings do not.

    There is no reason to pull a norm's γ towards 0, and the row of a rare word would decay between its uses.
    """
    tables = {id(p) for name, p in model.named_parameters() if "embedding" in name or "positions" in name}
    trained = [p for p in model.parameters() if p.requires_grad]
    decays = [p for p in trained if p.dim() > 1 and id(p) not in tables]
    rest = [p for p in trained if p.dim() <= 1 or id(p) in tables]
    groups: ParameterGroups = [{"params": decays}, {"params": rest, "weight_decay": 0.0}]
    with _without_compiler():
        return OPTIMIZERS[config.optimizer.kind](
            [group for group in groups if group["params"]], **config.optimizer.options
        )


# torch loads its compiler when an optimiser is made, cleared or used for the first time, only to tell it to keep out:
# seconds, 70 MB. Nobody compiles an optimiser here.


@contextmanager
def _without_compiler() -> Iterator[None]:
    """Inside, an optimiser can be made without torch's compiler: the form that it would find there is known."""
    plain: Any = inspect.unwrap(torch.optim.Optimizer.add_param_group)
    known = vars(plain).get(KEPT_OUT)
    setattr(plain, KEPT_OUT, known or plain)
    try:
        yield
    finally:
        setattr(plain, KEPT_OUT, known)


def forget_gradients(optimizer: torch.optim.Optimizer) -> None:
    for parameter in (p for group in optimizer.param_groups for p in group["params"]):
        parameter.grad = None


@torch.no_grad()
def update(optimizer: torch.optim.Optimizer) -> None:
    """The step of an optimiser itself, without what torch wraps around it."""
    if isinstance(optimizer, torch.optim.SGD) and any(is_cut(p) for p in optimizer.param_groups[0]["params"]):
        _descend(optimizer)
    else:
        inspect.unwrap(type(optimizer).step)(optimizer)


def _descend(optimizer: torch.optim.SGD) -> None:
    """Gradient descent of the shares that lie here: no number needs another. torch itself can cut only Adam's step."""
    about: Any = optimizer  # the two that training sets for each step
    for group in optimizer.param_groups:
        trained = [p for p in group["params"] if p.grad is not None]
        buffers = [optimizer.state[p].get("momentum_buffer") for p in trained]
        sgd_of_torch(
            [lying_here(p) for p in trained],
            [lying_here(p.grad) for p in trained],
            [None if buffer is None else lying_here(buffer) for buffer in buffers],
            fused=True,
            grad_scale=about.grad_scale,
            found_inf=about.found_inf,
            **{key: group[key] for key in ("weight_decay", "momentum", "lr", "dampening", "nesterov", "maximize")},
        )


def state_tensors(optimizer: torch.optim.Optimizer, model: nn.Module) -> dict[str, Tensor]:
    """The state by name: `exp_avg:encoder.blocks.0.self_attention.w_q.weight`."""
    names = {id(p): name for name, p in model.named_parameters()}
    return {
        f"{key}:{names[id(parameter)]}": value
        for parameter, state in optimizer.state.items()
        for key, value in state.items()
        if isinstance(value, Tensor)
    }


def load_state(optimizer: torch.optim.Optimizer, model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Restore a state; raises if it belongs to other parameters or to another optimiser."""
    parameters = dict(model.named_parameters())
    known = {id(p) for group in optimizer.param_groups for p in group["params"]}
    for path, value in tensors.items():
        key, _, name = path.partition(":")
        parameter = parameters.get(name)
        fits = parameter is not None and id(parameter) in known and value.shape in (parameter.shape, torch.Size([]))
        if parameter is None or not fits:
            raise FileError("state_foreign", name=path)
        optimizer.state[parameter][key] = value.to(parameter.device)
