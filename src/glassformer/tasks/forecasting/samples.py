"""Forecasts of a few validation windows at every evaluation, with the true values and the attention to patches."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from glassformer.data.examples import Windows
from glassformer.files import read_json, write_json
from glassformer.runs import Run
from glassformer.tasks.forecasting.task import SeriesMaterial
from glassformer.tasks.samples import SHOWN, Sample, attention_file, write_samples
from glassformer.trace.record import record

TAIL = 3  # past values shown in a row of samples


@dataclass(frozen=True)
class Shown:
    """One window in its own units: past, true future, forecast (`said`); patch i begins at `first[i]` (from 0)."""

    name: str
    past: list[float]
    future: list[float]
    said: list[float]
    first: list[int]
    length: int
    attention: list[list[float]]  # patch × patch, the mean over the heads of the last layer


@dataclass(frozen=True)
class ForecastSamples:
    """`Training.show` of a forecaster: the same windows at every evaluation. It adds no metrics of its own.

    Writes samples/step-00000500.json for people, step-00000500.forecast.json for the picture of the first window, and
    its attention, as every other task does.
    """

    run: Run
    material: SeriesMaterial
    windows: Windows

    @torch.no_grad()
    def __call__(self, model: nn.Module, step: int) -> dict[str, float]:
        chosen = np.unique(np.linspace(0, len(self.windows) - 1, min(SHOWN, len(self.windows))).round().astype(int))
        past, future = (np.stack([self.windows[i][side] for i in chosen]) for side in (0, 1))
        device = next(model.parameters()).device
        said = self.material.task.predict(model, torch.from_numpy(past).to(device)).double().cpu().numpy()
        restored = [self._restored(i, *each) for i, *each in zip(chosen, past, future, said, strict=True)]
        write_samples(self.run, step, [asdict(_row(*each)) for each in restored])
        with record(model, "*.weights") as trace:
            self.material.task.predict(model, torch.from_numpy(past[:1]).to(device))
        weights = trace.attention()[-1][0].mean(0)  # t s
        trace.tokens = [str(number + 1) for number in range(len(weights))]
        trace.save(attention_file(self.run, step))
        options = self.run.config.model.input.options
        first = [number * int(options["stride"]) for number in range(len(weights))]
        name, *values = restored[0]
        seen, came, answer = (each.tolist() for each in values)
        found = Shown(name, seen, came, answer, first, int(options["length"]), weights.tolist())
        write_json(forecast_file(self.run, step), asdict(found))
        return {}

    def _restored(self, i: int, *values: Any) -> tuple[Any, ...]:
        """The name of the series, and values in its own units."""
        panel = self.material.panel
        channel = panel.channels[int(panel.channel_of(self.windows.starts[i : i + 1])[0])]
        scale = self.material.scaler.scales[channel.name]
        return channel.name, *(scale.restored(np.asarray(each, dtype=np.float64)) for each in values)


def sample_forecasts(run: Run, material: SeriesMaterial) -> ForecastSamples | None:
    """At every evaluation, forecast some windows of the validation part."""
    return None if material.validation is None else ForecastSamples(run, material, material.validation)


def _row(name: str, past: Any, future: Any, said: Any) -> Sample:
    return Sample(f"{name}: … {_written(past[-TAIL:])}", _written(future), _written(said))


def _written(values: Any) -> str:
    """As many values as fit into a line."""
    return ", ".join(f"{value:.4g}" for value in values[:8]) + (", …" if len(values) > 8 else "")


def forecast_file(run: Run, step: int) -> Path:
    return run.samples / f"step-{step:08d}.forecast.json"


def read_forecast(run: Run, step: int) -> Shown | None:
    path = forecast_file(run, step)
    return Shown(**read_json(path)) if path.is_file() else None
