"""One optimiser step: micro-batches, one division, one clipping, one update, without synchronising an accelerator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.data.batch import Batch
from glassformer.tasks import Task
from glassformer.training.meter import Meter
from glassformer.training.precision import LossScale, autocast


@dataclass(frozen=True, kw_only=True)
class Stepper:
    r"""Takes optimiser steps.

        g = ∇ Σ_i L_i / Σ_i n_i      over the micro-batches i of the step: their losses L_i and targets n_i
        g ← g · min(1, clip / ‖g‖)   (Pascanu et al. 2013)

    The counts are known before the first pass, so each loss is divided by their sum at once: accumulating equals
    one big batch, whatever the lengths. A step whose loss or gradient is not finite changes nothing and is counted.
    """

    model: nn.Module
    task: Task[Any]
    optimizer: torch.optim.Optimizer
    scale: LossScale
    meter: Meter
    device: torch.device
    precision: str = "float32"
    clip: float = 0.0  # 0: none

    def __call__(self, batches: Sequence[Batch], learning_rate: float) -> None:
        count = sum(batch.count for batch in batches)
        total = self.gradients(batches, count)
        norm = self._norm() / self.scale.scale
        bad = ~(torch.isfinite(norm) & torch.isfinite(total))
        self._update(learning_rate, norm, bad)
        self.scale.update(bad)
        self.meter.add(total, count, norm, bad)

    def gradients(self, batches: Sequence[Batch], count: int) -> Tensor:
        """Accumulate the gradients of (sum of all losses) / `count` in the parameters; return the sum."""
        self.optimizer.zero_grad(set_to_none=True)
        total = torch.zeros((), device=self.device)
        for batch in batches:
            with autocast(self.precision, self.device):
                loss = self.task.loss(self.model, batch.to(self.device)).total
            mean = loss / count
            (mean * self.scale.scale if self.scale.used else mean).backward()
            total = total + loss.detach()
        return total

    def _norm(self) -> Tensor:
        gradients = [p.grad for group in self.optimizer.param_groups for p in group["params"] if p.grad is not None]
        return torch.nn.utils.get_total_norm(gradients, foreach=True)

    def _update(self, learning_rate: float, norm: Tensor, bad: Tensor) -> None:
        """Fused optimisers divide by `grad_scale` and skip the update if `found_inf` is 1: no extra pass is needed."""
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        divisor = self.scale.scale
        if self.clip:
            divisor = divisor * (norm / self.clip).clamp(min=1.0).float()
        self.optimizer.grad_scale = divisor  # type: ignore[attr-defined]
        self.optimizer.found_inf = bad.float()  # type: ignore[attr-defined]
        self.optimizer.step()
