"""The scale of each channel, fitted on its training part alone and kept in the run: mean 0 and deviation 1 there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.data.channel import Channel
from glassformer.data.channel_sources import check_constant
from glassformer.data.panel import Panel
from glassformer.errors import FileError, InputError
from glassformer.files import read_json, write_json

FILE = "scaler.json"
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    r"""One channel:   scaled = (f(y) − mean) / deviation,     f the logarithm or nothing.

    In logarithms an error is a share of the price: a percent is a percent, of 5 dollars as of 700.
    """

    mean: float
    deviation: float
    log: bool = False

    @classmethod
    def fit(cls, channel: Channel, rows: int, log: bool) -> Scale:
        """Of the first `rows` rows."""
        check_constant(channel, rows, channel.name)
        known = _levels(channel.values[:rows], channel.name, log)
        return cls(float(known.mean()), float(known.std()), log)

    def scaled(self, values: Numbers, name: str = "") -> Numbers:
        return (_levels(values, name, self.log) - self.mean) / self.deviation

    def restored(self, values: Numbers) -> Numbers:
        """Back to what it was measured in."""
        levels = values * self.deviation + self.mean
        return np.exp(levels) if self.log else levels


def _levels(values: Numbers, name: str, log: bool) -> Numbers:
    if not log:
        return values
    if (values <= 0).any():
        raise InputError("not_positive_for_log", channel=name, value=float(values[values <= 0][0]))
    return np.log(values)


@dataclass(frozen=True)
class Scaler:
    """A scale for each channel, by name."""

    scales: dict[str, Scale]

    @classmethod
    def fit(cls, panel: Panel, log: bool) -> Scaler:
        """What comes after the training part is not looked at."""
        return cls({each.name: Scale.fit(each, panel.rows(each, "train")[1], log) for each in panel.channels})

    def scaled(self, channels: Sequence[Channel]) -> NDArray[np.float32]:
        """All channels, one behind the other."""
        every = [self.scales[each.name].scaled(each.values, each.name) for each in channels]
        return np.concatenate(every).astype(np.float32)

    def save(self, folder: Path) -> None:
        write_json(folder / FILE, {"format": 1, "channels": {name: vars(each) for name, each in self.scales.items()}})

    @classmethod
    def open(cls, folder: Path) -> Scaler:
        path = folder / FILE
        found: Any = read_json(path)
        try:
            return cls({name: Scale(**scale) for name, scale in found["channels"].items()})
        except (AttributeError, KeyError, TypeError) as error:
            raise FileError("not_scaler", path=path) from error
