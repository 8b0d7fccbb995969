"""How well training uses an accelerator: the share of time that it waits for batches, and the share of its ceiling.

The ceiling is the rate of a large matrix product, measured when training starts. FLOPs are those of the ledger for real
tokens, attention counted as the full square: what padding, pointwise work and launches cost is what is missing to 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from glassformer.ledger.devices import product_rate
from glassformer.ledger.job import TYPES, Job
from glassformer.ledger.work import work
from glassformer.training.seed import kept_random_state
from glassformer.training.state import TrainingState

MEASURING = 0.2  # seconds


@dataclass
class DeviceUse:
    """Shares since the last line of the log."""

    flops: float  # for each target that counts
    ceiling: float  # FLOP/s
    waited: float = 0.0  # seconds, until the last line
    peak: int = 0  # bytes, the most that training has held

    @classmethod
    def of(cls, state: TrainingState) -> DeviceUse | None:
        """None on the CPU, which prepares its batches itself. The random numbers of training are left alone."""
        if state.device.type != "cuda":
            return None
        with kept_random_state(state.device):
            ceiling = product_rate("cuda", TYPES[state.config.train.precision], MEASURING)
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(state.device)  # the peak of training is not that of the measurement
        return cls(flops_for_a_target(state), ceiling)

    def see_memory(self, device: torch.device) -> None:
        """Look at the most that was held since the last look."""
        self.peak = max(self.peak, torch.cuda.max_memory_allocated(device))
        torch.cuda.reset_peak_memory_stats(device)

    def shares(self, state: TrainingState, targets: float, seconds: float) -> tuple[float, float]:
        """Of `seconds` since the last line: waited for batches; of the ceiling: reached."""
        waited, self.waited = state.waited - self.waited, state.waited
        seconds = max(seconds, 1e-9)
        return min(waited / seconds, 1.0), self.flops * targets / seconds / self.ceiling / state.ranks.world


def flops_for_a_target(state: TrainingState) -> float:
    """FLOPs of the products of a step, forward and backward, for each target, in a batch like the next one."""
    model, store = state.config.model, state.store
    batch, indexes = state.next_batch()
    lengths = store.lengths[indexes].mean(axis=0) + state.task.extra_tokens  # of each field
    source, target = (min(max(round(float(length)), 1), model.max_len) for length in (lengths[0], lengths[-1]))
    job = Job(batch=len(indexes), length=source, target_length=target)
    return work(model, job).model / batch.count
