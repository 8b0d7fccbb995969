"""How good a forecaster is on a split: its errors on every window, and those of the baselines on the same windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.data.examples import Windows
from glassformer.data.panel import PARTS, Numbers
from glassformer.decoding.step import evaluating
from glassformer.errors import choose
from glassformer.loading import Loaded
from glassformer.metrics.forecasting import Gain, direction, gain, mae, mase, mse
from glassformer.metrics.interval import Proportion
from glassformer.runs import Run
from glassformer.show import Sheet
from glassformer.tasks.forecasting import show
from glassformer.tasks.forecasting.baselines import pieces
from glassformer.tasks.forecasting.task import Forecasting, SeriesMaterial, Settings
from glassformer.tasks.result import Evaluation, EvaluationOptions, ExampleProgress, Groups

MODEL = "model"


@dataclass(frozen=True)
class Errors:
    """Errors over all values of all windows, scaled; MASE is the mean over the series, direction that of one step."""

    mse: float
    mae: float
    mase: float | None  # None: the training part repeats itself exactly
    direction: Proportion | None  # None: nothing moved

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Forecasts:
    """The forecasts of each method for the same windows: by name, n × horizon, scaled."""

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
        """The errors of one method on all windows, or on some."""
        kept = np.ones(len(self.windows), dtype=bool) if which is None else which
        said, actual, last = self.said[method][kept], self.actual[kept], self.last[kept]
        scaled = []
        for number in np.unique(self.channel[kept]).tolist():
            here = self.channel[kept] == number
            history, season = self._history(number), self.material.baselines.season
            if (history[season:] != history[:-season]).any():  # an exactly periodic one has no naive error
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
        """How much smaller the model's squared error is than another method's; an error of 0 cannot be beaten."""
        ours, theirs = (((self.said[name] - self.actual) ** 2).sum(1) for name in (MODEL, other))
        if not theirs.any():
            least = -np.inf if ours.any() else 0.0
            return Gain(least, least, least)
        return gain(ours, theirs, self.place, shortest=self.windows.sizes[1])

    def without_last(self, batch: int) -> NDArray[np.bool_]:
        """The windows left if each series drops those that do not fill a batch."""
        kept = np.zeros(len(self.windows), dtype=bool)
        for number in np.unique(self.channel).tolist():
            here = np.flatnonzero(self.channel == number)
            kept[here[: len(here) // batch * batch]] = True
        return kept


@dataclass(frozen=True)
class Dropped:
    """The errors without the windows that do not fill a batch, dropped in each series, as in published numbers."""

    batch: int
    missing: int
    windows: int
    errors: Errors


@dataclass(frozen=True, kw_only=True, repr=False)
class ForecastEvaluation(Evaluation[Errors]):
    """The errors of the model, of each series and of the baselines, and the gains over the baselines."""

    beside: Mapping[str, Errors]
    gains: Mapping[str, Gain]
    dropped: Dropped | None
    forecasts: Forecasts

    @property
    def beats_persistence(self) -> bool:
        return self.gains["persistence"].verdict == "better"

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
            "groups": self.by_group["groups"],
            **self.where,
        }

    @property
    def kept(self) -> dict[str, Any]:
        return self.to_json()

    def shown(self, lang: str | None = None) -> Sheet:
        return show.tables(self, lang)


class WrittenForecasts(Mapping[str, list[str]]):
    """The forecast of each window in the units of its series, numbers separated by spaces; formatted on request."""

    def __init__(self, made: Forecasts) -> None:
        self.made, self.names = made, [channel.name for channel in made.material.panel.channels]

    def __getitem__(self, name: str) -> list[str]:
        said = self.made.said[MODEL][self.made.channel == self.names.index(name)]
        rows = self.made.material.scaler.scales[name].restored(said)
        return [" ".join(f"{value:.6g}" for value in row) for row in rows.tolist()]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def evaluate_forecasting(loaded: Loaded, split: str, options: EvaluationOptions) -> ForecastEvaluation:
    """Forecast every window of a split."""
    choose("split", split, dict.fromkeys(PARTS))
    material = Forecasting.again(Run.open(loaded.folder))
    windows = Groups.of(loaded, split, {split: material.windows[split]}).every[split]
    made = forecasts(loaded, material, windows, options.progress)
    beside = [name for name in made.said if name != MODEL]
    groups = {
        channel.name: made.errors(MODEL, made.channel == number)
        for number, channel in enumerate(material.panel.channels)
        if (made.channel == number).any()
    }
    return ForecastEvaluation(
        folder=loaded.folder,
        checkpoint=loaded.checkpoint.name,
        split=split,
        total=made.errors(MODEL),
        groups=groups,
        hypotheses=WrittenForecasts(made),
        beside={name: made.errors(name) for name in beside},
        gains={name: made.gain(name) for name in beside},
        dropped=_dropped(made, Settings.of(loaded.config.task).drop_last),
        forecasts=made,
    )


@torch.inference_mode()
def forecasts(loaded: Loaded, material: SeriesMaterial, windows: Windows, progress: ExampleProgress) -> Forecasts:
    """All methods on all windows."""
    task = material.task
    methods = material.baselines.every
    said: dict[str, list[Numbers]] = {name: [] for name in (MODEL, *methods)}
    last, actual, done = [], [], 0
    with evaluating(loaded.model):
        for past, future in pieces(windows):
            for some in _batches(past):
                found = task.predict(loaded.model, torch.from_numpy(some).to(loaded.device, loaded.dtype))
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
