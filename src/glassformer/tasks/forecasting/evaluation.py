"""How good a forecaster is on a split: every window, and beside it persistence and linear maps on the same windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.data.examples import Windows
from glassformer.data.panel import PARTS
from glassformer.decoding.step import evaluating
from glassformer.errors import InputError, choose
from glassformer.loading import Loaded
from glassformer.metrics.forecasting import Gain, direction, gain, mae, mase, mse
from glassformer.metrics.interval import Proportion
from glassformer.runs import Run
from glassformer.show import Sheet, as_html, as_text
from glassformer.tasks.evaluation_log import EvaluationLog
from glassformer.tasks.evaluation_options import EvaluationOptions, Progress
from glassformer.tasks.forecasting import show
from glassformer.tasks.forecasting.baselines import pieces
from glassformer.tasks.forecasting.task import Forecasting, SeriesMaterial, Settings

MODEL = "model"
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Errors:
    """Of all values of all windows, in scaled units; MASE is the mean over the series, direction that of one step."""

    mse: float
    mae: float
    mase: float | None  # None: the training part repeats itself exactly
    direction: Proportion | None  # None: nothing moved

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Forecasts:
    """What each method said about the same windows: by name, n × horizon, scaled."""

    material: SeriesMaterial
    windows: Windows
    said: Mapping[str, Numbers]
    last: Numbers  # n × 1: the last value known
    actual: Numbers  # n × horizon

    @cached_property
    def channel(self) -> NDArray[np.int64]:
        return self.material.panel.channel_of(self.windows.starts)

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """The moment of the first value to be forecast, as a number on the common axis."""
        panel, first = self.material.panel, self.windows.starts + self.windows.sizes[0]
        moments = np.concatenate([each.moments for each in panel.channels])
        return np.searchsorted(panel.axis, moments[first])

    def errors(self, method: str, which: NDArray[np.bool_] | None = None) -> Errors:
        """Of one method on all windows, or on some."""
        kept = np.ones(len(self.windows), dtype=bool) if which is None else which
        said, actual, last = self.said[method][kept], self.actual[kept], self.last[kept]
        scaled = []
        for number in np.unique(self.channel[kept]).tolist():
            here = self.channel[kept] == number
            history, season = self._history(number), self.material.baselines.season
            if (history[season:] != history[:-season]).any():  # a clockwork has no naive error to divide by
                scaled.append(mase(said[here], actual[here], history, season))
        moved = bool((actual[:, :1] != last).any())
        found = direction(said[:, :1], actual[:, :1], last) if moved else None
        return Errors(mse(said, actual), mae(said, actual), float(np.mean(scaled)) if scaled else None, found)

    def _history(self, number: int) -> Numbers:
        panel = self.material.panel
        first = int(panel.offsets[number])
        rows = panel.rows(panel.channels[number], "train")[1]
        return self.windows.values[first : first + rows].astype(np.float64)

    def gain(self, other: str) -> Gain:
        """How much smaller the squared error of the model is; than none at all no error is smaller."""
        ours, theirs = (((self.said[name] - self.actual) ** 2).sum(1) for name in (MODEL, other))
        if not theirs.any():
            least = -np.inf if ours.any() else 0.0
            return Gain(least, least, least)
        return gain(ours, theirs, self.place, shortest=self.windows.sizes[1])

    def without_last(self, batch: int) -> NDArray[np.bool_]:
        """The windows that are left when each series drops what does not fill a batch."""
        kept = np.zeros(len(self.windows), dtype=bool)
        for number in np.unique(self.channel).tolist():
            here = np.flatnonzero(self.channel == number)
            kept[here[: len(here) // batch * batch]] = True
        return kept


@dataclass(frozen=True)
class Dropped:
    """The errors without the windows that fill no batch, as published numbers have them; of each series."""

    batch: int
    missing: int
    windows: int
    errors: Errors


@dataclass(frozen=True, kw_only=True)
class ForecastEvaluation:
    """The errors of the model, of each series, of what stands beside it, and what it gains over that."""

    folder: Path
    checkpoint: str
    split: str
    total: Errors
    beside: Mapping[str, Errors]
    gains: Mapping[str, Gain]
    groups: Mapping[str, Errors]
    dropped: Dropped | None
    readings: int
    forecasts: Forecasts = field(repr=False)

    @property
    def beats_persistence(self) -> bool:
        return self.gains["persistence"].verdict == "better"

    @cached_property
    def hypotheses(self) -> dict[str, list[str]]:
        """The forecast of each window in the units of its series, numbers between blanks."""
        made, panel = self.forecasts, self.forecasts.material.panel
        found: dict[str, list[str]] = {}
        for number, channel in enumerate(panel.channels):
            scale = made.material.scaler.scales[channel.name]
            rows = scale.restored(made.said[MODEL][made.channel == number])
            found[channel.name] = [" ".join(f"{value:.6g}" for value in row) for row in rows.tolist()]
        return found

    def to_json(self) -> dict[str, Any]:
        made = self.forecasts
        return {
            **self.total.to_json(),
            "beats_persistence": self.beats_persistence,
            "windows": len(made.windows),
            "context": made.windows.sizes[0],
            "horizon": made.windows.sizes[1],
            "beside": {name: errors.to_json() for name, errors in self.beside.items()},
            "ridges": {name: one.ridge for name, one in made.material.baselines.linear.items()},
            "gains": {name: {**asdict(one), "verdict": one.verdict} for name, one in self.gains.items()},
            "dropped": None if self.dropped is None else asdict(self.dropped),
            "groups": {name: errors.to_json() for name, errors in self.groups.items()},
            "run": str(self.folder),
            "checkpoint": self.checkpoint,
            "split": self.split,
            "readings": self.readings,
        }

    def __rich__(self) -> Sheet:
        return show.tables(self)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(show.tables(self))


def evaluate_forecasting(loaded: Loaded, split: str, how: EvaluationOptions) -> ForecastEvaluation:
    """Forecast every window of a split. What was read is written into the run's evaluations.jsonl."""
    choose("split", split, dict.fromkeys(PARTS))
    readings = EvaluationLog(loaded.folder)
    material = Forecasting.again(Run.open(loaded.folder))
    if not len(material.windows[split]):
        raise InputError("split_empty", split=split, path=loaded.folder)
    made = forecasts(loaded, material, material.windows[split], how.progress)
    beside = [name for name in made.said if name != MODEL]
    groups = {
        channel.name: made.errors(MODEL, made.channel == number)
        for number, channel in enumerate(material.panel.channels)
        if (made.channel == number).any()
    }
    found = ForecastEvaluation(
        folder=loaded.folder,
        checkpoint=loaded.checkpoint.name,
        split=split,
        total=made.errors(MODEL),
        beside={name: made.errors(name) for name in beside},
        gains={name: made.gain(name) for name in beside},
        groups=groups,
        dropped=_dropped(made, Settings.of(loaded.config.task).drop_last),
        readings=readings.count(split) + 1,
        forecasts=made,
    )
    readings.write(split, loaded.checkpoint.name, found.to_json())
    return found


@torch.inference_mode()
def forecasts(loaded: Loaded, material: SeriesMaterial, windows: Windows, progress: Progress) -> Forecasts:
    """All methods on all windows."""
    task = material.task
    methods = material.baselines.every
    said: dict[str, list[Numbers]] = {name: [] for name in (MODEL, *methods)}
    last, actual, done = [], [], 0
    with evaluating(loaded.model):
        for past, future in pieces(windows):
            for some in _batches(past):
                found = task.predict(loaded.model, torch.from_numpy(some).float().to(loaded.device))
                said[MODEL].append(found.double().cpu().numpy())
            for name, method in methods.items():
                said[name].append(method(past))
            last.append(past[:, -1:])
            actual.append(future)
            done += len(past)
            progress(done, len(windows))
    return Forecasts(
        material=material,
        windows=windows,
        said={name: np.concatenate(parts) for name, parts in said.items()},
        last=np.concatenate(last),
        actual=np.concatenate(actual),
    )


def _batches(past: Numbers, size: int = 512) -> Iterator[Numbers]:
    for first in range(0, len(past), size):
        yield past[first : first + size]


def _dropped(made: Forecasts, batch: int) -> Dropped | None:
    if not batch:
        return None
    kept = made.without_last(batch)
    if not kept.any():
        return None
    series = len(np.unique(made.channel))
    missing, windows = int((~kept).sum()) // series, len(kept) // series
    return Dropped(batch, missing, windows, made.errors(MODEL, kept))
