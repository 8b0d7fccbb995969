"""How far training has come: the numbers that, with the tensors, make a resumed run continue identically."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from glassformer.config.recipe import RunConfig
from glassformer.data.examples import Examples
from glassformer.data.sampler import EpochPosition


@dataclass
class Progress:
    """The counters of training, updated at every step."""

    step: int = 0
    epoch: int = 0
    position: int = 0  # batches of this epoch already used
    tokens: int = 0  # targets seen
    elapsed: float = 0.0  # seconds of training, over all sessions
    line_seconds: float = 0.0  # seconds since the last line of the log
    best_step: int | None = None
    best_value: float | None = None
    since_best: int = 0  # evaluations

    @property
    def place(self) -> EpochPosition:
        return EpochPosition(self.epoch, self.position)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def keep_best(self, value: float, better: str) -> bool:
        """Keep this value if it is the best so far, where "less" or "more" is better; was it? NaN never is."""
        sign = 1.0 if better == "less" else -1.0
        ahead = self.best_value is None or sign * value < sign * self.best_value
        if ahead and not math.isnan(value):
            self.best_step, self.best_value, self.since_best = self.step, value, 0
            return True
        self.since_best += 1
        return False


def origin(config: RunConfig, store: Examples) -> dict[str, str]:
    """What a checkpoint must have in common with the run that resumes from it: model, kind of optimiser, data."""
    model = json.dumps(config.model.to_dict(), sort_keys=True)
    return {
        "model": hashlib.sha256(model.encode()).hexdigest(),
        "optimizer": config.train.optimizer.kind,
        "data": store.fingerprint,
    }


def differing(ours: Mapping[str, str], theirs: object) -> str | None:
    """The first part that differs; None if all agree."""
    if not isinstance(theirs, Mapping):
        return "model"
    return next((part for part, value in ours.items() if theirs.get(part) != value), None)
