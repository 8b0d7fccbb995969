"""Sums kept on the device during training; the host reads them only when a line is logged or saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class MeterReading:
    """Sums over the steps since the last log line, and how many steps were skipped."""

    total: float  # of the loss
    count: float  # of targets
    norm: float  # of the gradients
    steps: float
    skipped: float  # since training began
    in_a_row: float

    @property
    def loss(self) -> float:
        return self.total / self.count if self.count else float("nan")

    @property
    def gradient_norm(self) -> float:
        return self.norm / self.steps if self.steps else float("nan")


class Meter:
    """float64 sums that never make the host wait; a skipped step adds only to the count of skipped steps."""

    def __init__(self, device: torch.device) -> None:
        self.sums = torch.zeros(4, dtype=torch.float64, device=device)
        self.skips = torch.zeros(2, dtype=torch.float64, device=device)

    def add(self, total: Tensor, count: int | Tensor, norm: Tensor, bad: Tensor) -> None:
        one = torch.ones((), dtype=torch.float64, device=self.sums.device)
        step = torch.stack((total.double(), one * count, norm.double(), one))
        self.sums += torch.where(bad, 0.0, step)
        self.skips.copy_(torch.stack((self.skips[0] + bad, (self.skips[1] + 1) * bad)))

    def read(self) -> MeterReading:
        return MeterReading(*torch.cat((self.sums, self.skips)).tolist())

    def begin_line(self) -> None:
        self.sums.zero_()

    def load(self, values: Sequence[float]) -> None:
        both = torch.tensor(values, dtype=torch.float64, device=self.sums.device)
        self.sums.copy_(both[:4])
        self.skips.copy_(both[4:])
