"""Forecast: the next values of a series in a file, compared with persistence and linear maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from glassformer.config.values import path_of, truth, word
from glassformer.data.channel import Channel, read_channels, read_sheet
from glassformer.data.channel_sources import check_constant, series_form
from glassformer.data.moments import Moments, TimeStep, refuse_gaps, step_of, written_moment
from glassformer.data.panel import Numbers, Scale, Scaler
from glassformer.decoding.rules import check_finite
from glassformer.decoding.step import evaluating
from glassformer.errors import FileError, InputError
from glassformer.loading import Loaded
from glassformer.models.check import input_positions
from glassformer.runs import Run
from glassformer.show import Column, ColumnKind, Sheet, Table, as_html
from glassformer.tasks.forecasting.baselines import Baselines
from glassformer.tasks.forecasting.task import Forecasting, Settings, sizes
from glassformer.tasks.verbs import check_verb
from glassformer.trace.record import record
from glassformer.words import language, say

BESIDE = ("persistence", "dlinear", "nlinear")
TOLD = ("delimiter", "header", "decimal")


@dataclass(frozen=True)
class Patch:
    """A piece of the past, and its share of the attention of the last layer, over all heads and positions."""

    first: np.datetime64
    last: np.datetime64
    share: float


@dataclass(frozen=True)
class Forecast:
    """The next values of a channel; `said`: values by method, "model" first. Prints as a table."""

    path: str
    past: Channel  # what the model saw
    step: TimeStep
    moments: Moments
    said: Mapping[str, Numbers]
    patches: tuple[Patch, ...]
    attention: Numbers  # patch × patch: how much each looks at each, in the last layer, mean over heads

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.path,
            "column": self.past.name,
            "dates": [written_moment(each) for each in self.moments],
            "forecast": self.said["model"].tolist(),
            "beside": {name: values.tolist() for name, values in self.said.items() if name != "model"},
            "past": {
                "dates": [written_moment(each) for each in self.past.moments],
                "values": self.past.values.tolist(),
            },
            "patches": [
                {"first": written_moment(each.first), "last": written_moment(each.last), "attention": each.share}
                for each in self.patches
            ],
            "attention": self.attention.tolist(),
        }

    def shown(self) -> Sheet:
        """The next values by method, and the attention to each patch of the past."""
        lang = language()
        methods = (Column(label(name, lang), "number") for name in self.said)
        values = Table(Column(say("forecast.date", lang), "name"), *methods, title=self.title(lang), lang=lang)
        for i, moment in enumerate(self.moments):
            values.add(written_moment(moment), *(f"{each[i]:.6g}" for each in self.said.values()))
        kinds: dict[str, ColumnKind] = {"patch_from": "name", "patch_to": "name", "share": "number"}
        columns = (Column(say(f"forecast.{key}", lang), kind) for key, kind in kinds.items())
        seen = Table(*columns, title=say("forecast.patches", lang), lang=lang)
        for patch in self.patches:
            seen.add(written_moment(patch.first), written_moment(patch.last), f"{100 * patch.share:.1f} %")
        return Sheet(values, seen)

    def __rich__(self) -> Sheet:
        return self.shown()

    def _repr_html_(self) -> str:
        return as_html(self.shown())

    def title(self, lang: str) -> str:
        about = {"series": self.past.name, "path": Path(self.path).name, "horizon": len(self.moments)}
        return say(
            "forecast.next", lang, **about, last=written_moment(self.past.moments[-1]), step=self.step.phrase.say(lang)
        )


def label(method: str, lang: str) -> str:
    """The name of a method for people, without its numbers."""
    return say(f"forecast.short.{method}", lang)


def forecast(loaded: Loaded, path: str | Path, *, column: str = "", date: str = "", gaps: bool = False) -> Forecast:
    """The values after the last row of a CSV. A column that was not in the training data is scaled by its own past."""
    check_verb(loaded, "forecast")
    path_of("path", path)
    for key, name in {"column": column, "date": date}.items():
        word(key, name)
    truth("gaps", gaps)
    context, horizon = sizes(loaded.config)
    channel = _column(loaded, path, column, date, gaps)
    if len(channel) < context:
        raise FileError("too_few_rows", path=path, column=channel.name, rows=len(channel), context=context)
    past = Channel(channel.name, channel.moments[-context:], channel.values[-context:])
    check_constant(past, context, path)
    if not gaps:
        refuse_gaps(past.moments, range(len(past)), path)
    step = step_of(channel.moments)
    scale = _scale(loaded, channel)
    seen = scale.scaled(past.values, past.name)[None]  # 1 context
    season = Settings.of(loaded.config.task).season
    beside = Baselines.open(loaded.folder, season).every
    said = {"model": np.zeros(0)} | {name: beside[name](seen)[0] for name in BESIDE}
    said["model"], attention = _predict(loaded, seen)
    return Forecast(
        path=str(path),
        past=past,
        step=step,
        moments=step.after(past.moments[-1], horizon),
        said={name: scale.restored(values) for name, values in said.items()},
        patches=_patches(loaded, past.moments, attention.mean(0)),
        attention=attention,
    )


def training_file(run: Run, step: int) -> list[str] | None:
    """The file that a run was trained on, with the options that name its series; None if there is no file."""
    source = run.config.data.source
    if source.kind != "csv":
        return None
    columns, date = [*Scaler.open(run.folder).scales], source.options.get("date")
    named = ["--column", columns[0]] if source.options.get("columns") or len(columns) > 1 else []
    gaps = ["--gaps"] if source.options.get("gaps") else []
    return [str(source.options["path"]), *named, *(["--date", str(date)] if date else []), *gaps]


@torch.inference_mode()
def _predict(loaded: Loaded, seen: Numbers) -> tuple[Numbers, Numbers]:
    """The forecast, scaled, and the attention between patches in the last layer."""
    inputs = torch.from_numpy(seen).to(loaded.device, loaded.dtype)
    with evaluating(loaded.model), record(loaded.model) as trace:
        found = Forecasting.make(loaded.config).predict(loaded.model, inputs)
    attention = trace.attention()[-1].double().mean((0, 1))  # b h t s → t s
    return check_finite(found[0]).double().cpu().numpy(), attention.cpu().numpy()


def _patches(loaded: Loaded, moments: Moments, shares: Numbers) -> tuple[Patch, ...]:
    options, count = loaded.config.model.input.options, input_positions(loaded.config.model)
    assert count == len(shares)
    firsts = np.arange(count) * options["stride"]
    lasts = np.minimum(firsts + options["length"], len(moments)) - 1
    pairs = zip(firsts.tolist(), lasts.tolist(), shares.tolist(), strict=True)
    return tuple(Patch(moments[first], moments[last], share) for first, last, share in pairs)


def _column(loaded: Loaded, path: str | Path, column: str, date: str, gaps: bool) -> Channel:
    """The requested column, or the only one; no other is read. The CSV options of training apply here too."""
    source = loaded.config.data.source
    given = source.options if source.kind == "csv" else {}
    training_form = series_form({key: given[key] for key in TOLD if key in given})
    form = replace(training_form, date=date, columns=[column] if column else (), gaps=gaps)
    if not column:
        sheet = read_sheet(path, form)
        others = [name for i, name in enumerate(sheet.names) if i != sheet.when]
        if len(others) > 1:
            raise InputError("choose_column", path=path, known=", ".join(others))
    return read_channels(path, form)[0]


def _scale(loaded: Loaded, channel: Channel) -> Scale:
    known, settings = Scaler.open(loaded.folder).scales, Settings.of(loaded.config.task)
    if channel.name in known:
        return known[channel.name]
    if settings.instance_norm == "none":
        raise InputError("unknown_channel", column=channel.name, known=", ".join(known))
    return Scale.fit(channel, len(channel), settings.log)
