"""Whole training steps as CUDA graphs: one launch instead of a thousand.

A small model computes faster than the host can say what to compute next. A graph is recorded once for each shape of
batch and then replayed: forward, backward, clipping and update, with the same kernels in the same order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from glassformer.data.batch import Batch
from glassformer.errors import warn

WARM_UP = 3  # steps of a shape that are computed as usual: kernels are chosen and compiled, the optimiser has its state
MOST = 64  # shapes; further ones are computed as usual
COUNTED = 4096  # shapes that are looked out for; with accumulation every step may have one of its own

Compute = Callable[[Sequence[Batch], Tensor, Tensor], None]  # micro-batches, targets of the step, learning rate


@dataclass(frozen=True)
class _Recorded:
    graph: torch.cuda.CUDAGraph
    batches: list[Batch]  # the memory that the graph reads


class StepGraphs:
    """Runs `compute` step by step; what it reads lies at fixed places, where each step's numbers are copied to."""

    def __init__(self, compute: Compute, device: torch.device) -> None:
        self.compute, self.device = compute, device
        self.count = torch.zeros((), device=device)
        self.rate = torch.zeros((), device=device)
        self.stream = torch.cuda.Stream(device)
        self.pool = torch.cuda.graph_pool_handle()  # no two graphs run at once, so all share their memory
        self.seen: Counter[tuple[Any, ...]] = Counter()
        self.recorded: dict[tuple[Any, ...], _Recorded] = {}
        self.most = MOST

    def take_step(self, batches: Sequence[Batch], count: int, rate: float) -> None:
        shape = tuple(map(_shape, batches))
        self.stream.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(self.stream):
            self.count.fill_(count)
            self.rate.fill_(rate)
            self._run(shape, batches)
        torch.cuda.current_stream(self.device).wait_stream(self.stream)

    def _run(self, shape: tuple[Any, ...], batches: Sequence[Batch]) -> None:
        found = self.recorded.get(shape)
        if found is not None:
            for kept, new in zip(found.batches, batches, strict=True):
                _copy(new, kept)
        elif self._is_due(shape):
            found = self._record(shape, [_kept(batch.to(self.device)) for batch in batches])
        if found is not None:
            found.graph.replay()
        else:
            self._compute([batch.to(self.device) for batch in batches])

    def _is_due(self, shape: tuple[Any, ...]) -> bool:
        """Whether to record this shape now; called once for each of its steps."""
        if len(self.recorded) >= self.most or (shape not in self.seen and len(self.seen) >= COUNTED):
            return False
        self.seen[shape] += 1
        return self.seen[shape] > WARM_UP

    def _compute(self, batches: Sequence[Batch]) -> None:
        """A step as usual. If there is no memory left, the graphs give up theirs, and the step is begun again."""
        random = torch.cuda.get_rng_state(self.device)
        try:
            self.compute(batches, self.count, self.rate)
        except torch.OutOfMemoryError:
            if not self.recorded:
                raise
        else:
            return
        self._forget()
        torch.cuda.set_rng_state(random, self.device)
        self.compute(batches, self.count, self.rate)

    def _record(self, shape: tuple[Any, ...], batches: list[Batch]) -> _Recorded | None:
        """The graph of a step; None if it cannot be recorded: then this step and all others are computed as usual."""
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, pool=self.pool, stream=self.stream):
                self.compute(batches, self.count, self.rate)
        except RuntimeError as error:
            why = str(error).splitlines()[0]
        else:
            self.recorded[shape] = _Recorded(graph, batches)
            return self.recorded[shape]
        _end_recording(self.device, self.pool)
        self._forget()
        self.most = 0
        warn("not_recorded", why=why)
        return None

    def _forget(self) -> None:
        """Give up all graphs and their memory; gradients may still lie in it, so the next graphs get another pool."""
        self.recorded.clear()
        self.seen.clear()
        self.pool = torch.cuda.graph_pool_handle()
        torch.cuda.empty_cache()


def _end_recording(device: torch.device, pool: tuple[int, int]) -> None:
    """After a recording that failed: torch waits for its end, and would refuse every random number until then.

    The generator goes on where it was, since what is recorded draws nothing.
    """
    index = torch.cuda.current_device() if device.index is None else device.index
    generator = torch.cuda.default_generators[index]
    generator.graphsafe_set_state(generator.clone_state())
    with suppress(RuntimeError):  # it has ended
        torch._C._cuda_endAllocateToPool(index, pool)


def _tensors(batch: Batch) -> dict[str, Tensor]:
    every = {field.name: getattr(batch, field.name) for field in fields(batch)}  # type: ignore[arg-type]
    return {name: value for name, value in every.items() if isinstance(value, Tensor)}


def _shape(batch: Batch) -> tuple[Any, ...]:
    return type(batch), *((name, x.shape, x.dtype) for name, x in _tensors(batch).items())


def _kept(batch: Batch) -> Batch:
    """A copy in memory of its own."""
    return replace(batch, **{name: x.clone() for name, x in _tensors(batch).items()})  # type: ignore[type-var]


def _copy(new: Batch, kept: Batch) -> None:
    for name, x in _tensors(new).items():
        source = x if x.device.type == "cuda" else x.pin_memory()
        getattr(kept, name).copy_(source, non_blocking=True)
