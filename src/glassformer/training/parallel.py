"""One training step on several devices: how the model lies on them, and how gradients become one.

    none   the whole model on one device
    ddp    the whole model on each; every rank computes its micro-batches, and the gradients are added up
    fsdp   each tensor of the model, with its gradient and its state of the optimiser, is cut along its first dimension
           over all ranks; a block is put together when it is computed and forgotten afterwards (FSDP2)

A loss is divided by the targets of all ranks before its backward pass, so gradients are only ever added, never
averaged: n ranks with k micro-batches each take the step of one rank with n·k.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from glassformer.config.recipe import RunConfig
from glassformer.data.batch import Batch
from glassformer.errors import RankError
from glassformer.losses import Sum
from glassformer.models.build import build
from glassformer.models.stack import Stack
from glassformer.ranks import ALONE, Ranks
from glassformer.tasks import Task

NONE, DDP, FSDP = "none", "ddp", "fsdp"


class Computation(nn.Module):
    """What a rank computes of a batch, as one module: DDP and FSDP act where a module is entered and left.

    The task reads weights of head and embedding beside the model's own `forward`, so the model alone would not do.
    """

    def __init__(self, model: nn.Module, task: Task[Any]) -> None:
        super().__init__()
        self.model, self.task = model, task

    def forward(self, batch: Batch, judge: Task[Any] | None = None) -> Tensor | dict[str, Sum]:
        """The sum of the losses; with a `judge`, its scores."""
        return self.task.loss(self.model, batch).total if judge is None else judge.scores(self.model, batch)


@dataclass(frozen=True)
class Spread:
    """A model over the ranks. `compute` is called instead of the model, on every rank, equally often."""

    compute: nn.Module
    model: nn.Module
    kind: str = NONE
    ranks: Ranks = ALONE
    again: Callable[[], nn.Module] | None = None  # builds the model once more, whole

    @classmethod
    def on_one(cls, model: nn.Module, task: Task[Any]) -> Spread:
        return cls(Computation(model, task), model)

    @classmethod
    def of(cls, model: nn.Module, task: Task[Any], config: RunConfig, device: torch.device, ranks: Ranks) -> Spread:
        """Put the model on its device, or its share of it. The optimiser is made afterwards, for what lies here."""
        if ranks.joined and device.type == "cuda" and ranks.local >= torch.cuda.device_count():
            raise RankError("ranks_devices", local=ranks.local + 1, devices=torch.cuda.device_count())
        kind = (config.train.parallel or DDP) if ranks.joined else NONE
        computation: nn.Module = Computation(model, task)
        if kind == FSDP:
            _cut(model, computation, device, ranks)
        model.to(device)
        if kind == DDP:
            computation = _in_step(computation)
        return cls(computation, model, kind, ranks, partial(build, config.model))

    def said(self, device: torch.device) -> str:
        """Where it is trained: cuda, or on several ranks 8 × cuda (fsdp)."""
        return f"{self.ranks.world} × {device.type} ({self.kind})" if self.ranks.joined else str(device)

    def loss(self, batch: Batch) -> Tensor:
        """Of this rank's batch, summed."""
        summed: Tensor = self.compute(batch)
        return summed

    def scores(self, batch: Batch, judge: Task[Any]) -> dict[str, Sum]:
        """What validation sums, by the task as it validates. There are no gradients, so DDP stays out of it."""
        computation = self.compute.module if isinstance(self.compute, DistributedDataParallel) else self.compute
        found: dict[str, Sum] = computation(batch, judge)
        return found

    def added_up(self, number: Tensor) -> Tensor:
        """A number of each rank → their sum."""
        if self.ranks.joined:
            import torch.distributed as dist

            with self.ranks.within_reach():
                dist.all_reduce(number)
        return number

    def without_sending(self) -> AbstractContextManager[None]:
        """For all micro-batches of a step but the last: DDP adds up the gradients of the step once.

        FSDP sends those of each micro-batch: kept whole, they would need the memory that it saves.
        """
        return self.compute.no_sync() if isinstance(self.compute, DistributedDataParallel) else nullcontext()

    @contextmanager
    def updating(self) -> Iterator[None]:
        """Inside, the optimiser multiplies shares of tensors by numbers that every rank has whole."""
        if self.kind != FSDP:
            yield
            return
        from torch.distributed.tensor.experimental import implicit_replication

        with implicit_replication():
            yield

    @property
    def is_cut(self) -> bool:
        return self.kind == FSDP

    def on_first(self) -> nn.Module | None:
        """The whole model on rank 0, to translate with it, say; None on the others. Of a model that is cut, a copy.

        All ranks call this: they send their shares.
        """
        if not self.is_cut:
            return self.model if self.ranks.first else None
        from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

        wanted = StateDictOptions(full_state_dict=True, cpu_offload=True)  # on rank 0, and nothing on the others
        weights: Any = get_model_state_dict(self.model, options=wanted)
        if not self.ranks.first:
            return None
        assert self.again is not None
        like = next(iter(self.model.parameters()))
        copy = self.again().to(like.dtype)
        copy.load_state_dict(weights)
        return copy.to(like.device)


def _cut(model: nn.Module, computation: nn.Module, device: torch.device, ranks: Ranks) -> None:
    """Each block of the stacks for itself, and what is left (embeddings, head, last norm) together."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import FSDPModule, fully_shard

    mesh = init_device_mesh(device.type, (ranks.world,))
    blocks = [block for module in model.modules() if isinstance(module, Stack) for block in module.blocks]
    for module in [*blocks, computation]:
        fully_shard(module, mesh=mesh)
    for module in computation.modules():
        if isinstance(module, FSDPModule):
            module.set_gradient_divide_factor(1.0)
            module.set_force_sum_reduction_for_comms(True)  # else NCCL multiplies by 1, which gloo cannot


def _in_step(computation: nn.Module) -> DistributedDataParallel:
    """The same on every rank, with gradients that are added up. Buffers are fixed tables: nothing of them is sent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # newer torch has another word for `broadcast_buffers`
        made = DistributedDataParallel(computation, broadcast_buffers=False, gradient_as_bucket_view=True)
    made.register_comm_hook(None, lambda state, bucket: _added_up(bucket))
    return made


def _added_up(bucket: Any) -> Any:
    """The sum over all ranks, where DDP by default takes the mean."""
    import torch.distributed as dist

    sent = dist.all_reduce(bucket.buffer(), async_op=True)
    return sent.get_future().then(lambda done: done.value()[0])


def is_cut(tensor: Tensor) -> bool:
    return hasattr(tensor, "full_tensor")


def whole(tensor: Tensor) -> Tensor:
    """A tensor that may be cut, put together on every rank."""
    cut: Any = tensor
    return cut.full_tensor() if is_cut(tensor) else tensor


def lying_here(tensor: Tensor) -> Tensor:
    """This rank's share of a tensor that may be cut, in the same memory."""
    cut: Any = tensor
    return cut.to_local() if is_cut(tensor) else tensor


def lying(tensors: Mapping[str, Tensor], like: Callable[[str], Tensor | None]) -> dict[str, Tensor]:
    """Whole tensors that every rank has, as those of their names lie here: themselves, or this rank's shares."""
    return {name: _lying(x, like(name)) for name, x in tensors.items()}


def _lying(x: Tensor, like: Any) -> Tensor:
    if like is None or not is_cut(like) or x.shape != like.shape:
        return x
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(x.to(like.device), like.device_mesh, like.placements, src_data_rank=None)


def room_for(shape: tuple[int, ...], dtype: torch.dtype, like: Tensor | None) -> Tensor:
    """A tensor to be filled: it lies like another one of its shape, or whole on the processor."""
    if like is not None and tuple(like.shape) == shape:
        return torch.empty_like(like, dtype=dtype)
    return torch.empty(shape, dtype=dtype)
