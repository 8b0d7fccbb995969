"""Compiling: the stacks of blocks and the loss, in place, so that the names of the weights stay the same.

Also the choice whether to compile at all: a short training is over before its compiler is.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.config.recipe import ACCELERATOR, RunConfig
from glassformer.errors import warn
from glassformer.kernels import missing_for_triton
from glassformer.ledger.devices import card_peak
from glassformer.ledger.job import full_batch
from glassformer.ledger.work import work
from glassformer.losses import CompiledLoss
from glassformer.models.stack import Stack
from glassformer.tasks import Task

COMPILERS = ("c++", "g++", "clang++")
PAYS = 100.0  # seconds of products at the card's peak
FLASH = (8, 0)  # the first cards that FlashAttention has kernels for


def wanted_compiled(config: RunConfig, device: torch.device) -> bool:
    """Whether the recipe wants a training on this device compiled: see `settled`."""
    choice = settled(config, device).train.compile
    return device.type == "cuda" if choice == ACCELERATOR else bool(choice)


def is_compiled(config: RunConfig, device: torch.device) -> bool:
    """Whether to compile. Without a compiler: no, and that is said."""
    wanted = wanted_compiled(config, device)
    missing = missing_compiler(device) if wanted else None
    if missing is not None:
        warn("not_compiled", missing=missing)
    return wanted and missing is None


def settled(config: RunConfig, device: torch.device) -> RunConfig:
    """The recipe with its choice for an accelerator; what it says itself stays.

    A run writes it into its config.toml when it begins, so that it is resumed as it was begun, however its steps grow.
    """
    if config.train.compile is not None or device.type != "cuda":
        return config
    card = torch.cuda.get_device_name(device) if torch.cuda.is_available() else ""
    pays = compiling_pays(config, card)
    missing = missing_compiler(device) if pays else None
    if missing is not None:
        warn("not_compiled", missing=missing)
    return replace(config, train=replace(config.train, compile=pays and missing is None))


def compiling_pays(config: RunConfig, card: str) -> bool:
    r"""Whether the steps gain more than compiling costs.

        FLOPs of the products of all steps / peak of the card > 100 s

    Compiling takes half a minute before the first step. It makes a step of the paper's base model 8 % shorter (that of
    a model of 10 million parameters 2 %), and an uncompiled one reaches a third of the peak: the gain is a quarter of
    the left side. Where it gains more, a recipe says so itself, as multi30k-en-de does.
    """
    job = full_batch(config)
    flops = work(config.model, job).model * job.accumulate * config.train.steps
    return flops > PAYS * card_peak(card, job.dtype or "bfloat16")


def missing_compiler(device: torch.device) -> str | None:
    """What torch.compile would need here and does not find."""
    if device.type == "cuda":
        return missing_for_triton()
    named = os.environ.get("CXX", "")
    return None if any(map(shutil.which, (named, *COMPILERS) if named else COMPILERS)) else "C++ (g++)"


def may_be_packed(model: nn.Module, device: torch.device, precision: str) -> bool:
    """Whether batches without padding are faster: a card, a type and a model that FlashAttention's kernels serve.

    Everywhere else such a row costs attention of all its texts to each other, which is hidden afterwards.
    """
    if device.type != "cuda" or precision == "float32" or not torch.backends.cuda.is_flash_attention_available():
        return False
    stacks = [module for module in model.modules() if isinstance(module, Stack)]
    return torch.cuda.get_device_capability(device) >= FLASH and all(stack.packable for stack in stacks)


def compile_parts(model: nn.Module, task: Task[Any], *, backend: str = "inductor") -> Task[Any]:
    """Compile the model's stacks in place; return the task with a compiled loss."""
    options = same_every_time() if backend == "inductor" and torch.are_deterministic_algorithms_enabled() else None
    for module in model.modules():
        if isinstance(module, Stack):
            module.compile(backend=keeping_less if backend == "inductor" else backend, options=options)
    compiled = torch.compile(task.criterion, backend=backend, options=options)
    return task.with_loss(CompiledLoss(task.criterion, compiled))


def keeping_less(graph: torch.fx.GraphModule, inputs: Sequence[Tensor], options: dict[str, Any] | None = None) -> Any:
    """torch's compiler, which keeps less for the backward pass than by default.

    What is computed number by number from kept tensors (activations, norms, casts) is computed again, even where a
    product reads it: the peak of a GPT-2 step fell by 30 %, for 2 % of its time.
    """
    from torch._functorch import config
    from torch._inductor.compile_fx import compile_fx  # takes seconds to import

    with config.patch(ban_recompute_materialized_backward=False):
        return compile_fx(graph, list(inputs), config_patches=options)


def same_every_time() -> dict[str, Any]:
    """The options of a compiler that does not try out which order of a sum is fastest: the next process may find
    another one to be."""
    return {"deterministic": True} if "deterministic" in torch._inductor.list_options() else {}
