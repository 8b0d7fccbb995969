"""Gradients, clipping and update: the part of a training step that computes, without synchronising an accelerator.

The whole step is `TrainingState.advance`, in state.py:

    batches     examples of the next `accumulate` micro-batches, collated by the task          state.py, data/sampler.py
    rate        the learning rate of this step                                                 schedule.py
    gradients   of the losses, summed and divided by the targets of the whole step             here
    clipping    a gradient longer than `clip` is shortened to that length                      here
    update      the optimiser changes the weights, unless loss or gradient is not finite       here
    average     the moving average of the weights follows them                                 ema.py
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.data.batch import Batch
from glassformer.ranks import Ranks
from glassformer.tasks import Task
from glassformer.training.capture import StepGraphs
from glassformer.training.meter import Meter
from glassformer.training.optimizer import forget_gradients, update
from glassformer.training.parallel import Spread, whole
from glassformer.training.precision import LossScale, autocast


@dataclass(frozen=True, kw_only=True)
class Stepper:
    r"""Gradients, clipping and update of one step after another; see `take_step`.

        g = ∇ Σ_i L_i / Σ_i n_i      over the micro-batches i of the step, on all ranks: losses L_i, targets n_i
        g ← g · min(1, clip / ‖g‖)   (Pascanu et al. 2013)

    All n_i are known before the first pass, so each micro-batch's loss is divided at once by the targets of the whole
    step: the gradient is that of one big batch, however long the sentences. If the loss or the gradient is not finite,
    the weights stay as they are, and the meter counts a skipped step.
    """

    model: nn.Module
    task: Task[Any]
    optimizer: torch.optim.Optimizer
    loss_scale: LossScale
    meter: Meter
    device: torch.device
    precision: str = "float32"
    clip: float = 0.0  # 0: none
    captured: bool = False  # whole steps as CUDA graphs: see capture.py
    spread: Spread | None = None  # how the model lies on several devices: see parallel.py; default: on one
    graphs: StepGraphs | None = field(init=False)

    def __post_init__(self) -> None:
        if self.spread is None:
            object.__setattr__(self, "spread", Spread.on_one(self.model, self.task))
        object.__setattr__(self, "graphs", StepGraphs(self.compute, self.device) if self.captured else None)

    @property
    def parts(self) -> Spread:
        assert self.spread is not None
        return self.spread

    @property
    def ranks(self) -> Ranks:
        return self.parts.ranks

    def take_step(self, batches: Sequence[Batch], learning_rate: float) -> int:
        """Change the weights once, by the gradient of all these micro-batches; return how many targets they have.

        Of several ranks, each gives its own micro-batches, and all take the same step.
        """
        count = self.ranks.sum(sum(batch.count for batch in batches))
        if self.graphs is not None:
            self.graphs.take_step(batches, count, learning_rate)
        else:
            self.compute(batches, count, learning_rate)
        return count

    def compute(self, batches: Sequence[Batch], count: int | Tensor, learning_rate: float | Tensor) -> None:
        """The step itself; it reads nothing back, so that an accelerator can record and replay it."""
        total = self.gradients(batches, count)
        norm = self._norm() / self.loss_scale.factor
        bad = ~(torch.isfinite(norm) & torch.isfinite(total))
        self._clip_and_update(learning_rate, norm, bad)
        self.loss_scale.update(bad)
        self.meter.add(total, count, norm, bad)

    def gradients(self, batches: Sequence[Batch], count: int | Tensor) -> Tensor:
        """Accumulate the gradients of (sum of all losses) / `count` in the parameters; return the sum."""
        forget_gradients(self.optimizer)
        total = torch.zeros((), device=self.device)
        for number, batch in enumerate(batches, 1):
            with nullcontext() if number == len(batches) else self.parts.without_sending():
                with autocast(self.precision, self.device):
                    loss = self.parts.loss(batch.to(self.device))
                mean = loss / count
                (mean * self.loss_scale.factor if self.loss_scale.used else mean).backward()
            total = total + loss.detach()
        return self.parts.added_up(total)

    def _norm(self) -> Tensor:
        """‖g‖ over all parameters, times the loss scale."""
        gradients = [p.grad for group in self.optimizer.param_groups for p in group["params"] if p.grad is not None]
        return whole(torch.nn.utils.get_total_norm(gradients, foreach=True))

    def _clip_and_update(self, learning_rate: float | Tensor, norm: Tensor, bad: Tensor) -> None:
        """torch's fused optimisers divide each gradient by `grad_scale` and do nothing if `found_inf` is 1.

        So one division inside the update takes out the loss scale and clips: neither costs a pass over the gradients.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        divisor = self.loss_scale.factor
        if self.clip:
            too_long = (norm / self.clip).clamp(min=1.0).float()  # by which factor; 1 where ‖g‖ ≤ clip
            divisor = divisor * too_long
        self.optimizer.grad_scale = divisor  # type: ignore[attr-defined]
        self.optimizer.found_inf = bad.float()  # type: ignore[attr-defined]
        with self.parts.updating():
            update(self.optimizer)
