"""Series on one common time axis, split by time into training, validation and test, and scaled.

Nothing uses the future: the scale of each channel is fitted on its training part alone, and saved in the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.config.values import Choice
from glassformer.data.channel import Channel
from glassformer.data.channel_sources import CUT, SPLIT, channels, check_constant
from glassformer.data.moments import Moments, written_moment
from glassformer.errors import ConfigError, FileError, InputError
from glassformer.files import read_json, write_json

PARTS = ("train", "validation", "test")
FILE = "scaler.json"
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Panel:
    """Channels, and how many moments of their common axis are for training, for validation and for the test.

    All channels are cut at the same moments, whenever each of them begins: shares rise and fall together, so a test day
    of one must not be a training day of another.
    """

    channels: tuple[Channel, ...]
    counts: tuple[int, int, int]

    @cached_property
    def axis(self) -> Moments:
        """Every moment at which some channel has a value."""
        return np.unique(np.concatenate([channel.moments for channel in self.channels]))

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each channel begins if all are concatenated, and where the last ends."""
        return np.concatenate(([0], np.cumsum([len(channel) for channel in self.channels]))).astype(np.int64)

    def rows(self, channel: Channel, part: str) -> tuple[int, int]:
        """The rows of a channel that belong to a part: from, up to."""
        ends = np.cumsum((0, *self.counts))[PARTS.index(part) :][:2].tolist()
        first, last = (self._before(channel, end) for end in ends)
        return first, last

    def _before(self, channel: Channel, count: int) -> int:
        """The number of rows of a channel before moment `count` of the axis."""
        if count >= len(self.axis):
            return len(channel)
        return int(np.searchsorted(channel.moments, self.axis[count]))

    def starts(self, part: str, context: int, horizon: int) -> NDArray[np.int64]:
        """Where the windows of a part begin, in concatenated channels.

        The whole future lies in the part; the past may reach back into the part before, as in the literature.
        """
        found = []
        for channel, offset in zip(self.channels, self.offsets[:-1].tolist(), strict=True):
            first, last = self.rows(channel, part)
            begin, end = max(first - context, 0), last - context - horizon + 1
            found.append(np.arange(begin, max(begin, end), dtype=np.int64) + offset)
        return np.concatenate(found)

    def channel_of(self, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of the channel that a window lies in."""
        return np.searchsorted(self.offsets, starts, side="right") - 1

    def check_length(self, context: int, horizon: int) -> None:
        """Raises unless every channel gives at least one training window."""
        for channel in self.channels:
            _, rows = self.rows(channel, "train")
            if rows < context + horizon:
                raise InputError(
                    "series_short",
                    channel=channel.name,
                    rows=rows,
                    until=written_moment(self.axis[min(self.counts[0], len(self.axis) - 1)]),
                    context=context,
                    horizon=horizon,
                    needed=context + horizon,
                )


def panel(source: Choice) -> Panel:
    """Read a source and cut it: `split = [8640, 2880, 2880]` moments, or shares of all; by default 70, 10 and 20 %."""
    found = tuple(channels(source))
    names = [channel.name for channel in found]
    if len(set(names)) < len(names):
        raise ConfigError("named_twice", key="data.source.columns", value=next(n for n in names if names.count(n) > 1))
    whole = Panel(found, (0, 0, 0))
    return Panel(found, _counts(tuple(source.options.get(SPLIT, CUT.default)), len(whole.axis)))


def _counts(split: tuple[float, ...], length: int) -> tuple[int, int, int]:
    """Moments per part; shares are rounded down, and the remainder goes to validation."""
    if all(isinstance(each, int) for each in split):
        train, validation, test = map(int, split)
        if train + validation + test > length:
            raise ConfigError("split_too_long", value=list(split), wanted=sum(map(int, split)), length=length)
        return train, validation, test
    train, test = int(length * split[0] + 1e-9), int(length * split[2] + 1e-9)
    whole = int(length * min(sum(split), 1.0) + 1e-9)
    return train, whole - train - test if split[1] else 0, test


@dataclass(frozen=True)
class Scale:
    r"""One channel:   scaled = (f(y) − mean) / deviation,     f the logarithm or the identity.

    With logarithms an error is relative to the price: one percent counts the same at 5 dollars and at 700.
    """

    mean: float
    deviation: float
    log: bool = False

    @classmethod
    def fit(cls, channel: Channel, rows: int, log: bool) -> Scale:
        """The scale of the first `rows` rows."""
        check_constant(channel, rows, channel.name)
        known = _levels(channel.values[:rows], channel.name, log)
        return cls(float(known.mean()), float(known.std()), log)

    def scaled(self, values: Numbers, name: str = "") -> Numbers:
        return (_levels(values, name, self.log) - self.mean) / self.deviation

    def restored(self, values: Numbers) -> Numbers:
        """Scaled values in their original units."""
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
        """A scale for each channel, from the training part only."""
        return cls({each.name: Scale.fit(each, panel.rows(each, "train")[1], log) for each in panel.channels})

    def scaled(self, channels: Sequence[Channel]) -> NDArray[np.float32]:
        """All channels, one after another."""
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
