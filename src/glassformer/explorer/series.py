"""A series of a request, scaled as the everyday verb scales it, in patches; and series to begin with."""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn

from glassformer.data.channel import Channel
from glassformer.data.channel_sources import channels
from glassformer.data.panel import Numbers, Scale, Scaler
from glassformer.errors import GlassformerError, InputError
from glassformer.explorer import fields
from glassformer.explorer.fields import Fields
from glassformer.explorer.given import ReadInput
from glassformer.explorer.pieces import Piece, plain_pieces
from glassformer.loading import Loaded
from glassformer.models.check import input_positions
from glassformer.tasks.forecasting.task import Forecasting, Settings, sizes

EXAMPLES = 4
_kept: WeakKeyDictionary[nn.Module, list[Channel]] = WeakKeyDictionary()  # examples, as long as a model is open


def series_input(loaded: Loaded, given: Fields) -> ReadInput:
    """The last values of a series, and the name of its channel if the model knows it."""
    fields.known_keys(given, ("values", "series", "example"))
    context, horizon = sizes(loaded.config)
    name = fields.optional_text(given, "series") or ""
    after: list[float] = []  # what really came, where that is known
    if given.get("values") is None:
        known = _example(loaded, fields.whole(given, "example") or 0)
        past, after = _first(known, context), known.values[context:].tolist()
    else:
        values = np.array(fields.numbers("values", given["values"]), dtype=np.float64)
        if len(values) < context:
            raise InputError("explorer_values", count=len(values), context=context)
        past = _channel(name, values[-context:])
    scale = _scale(loaded, past)
    scaled = torch.from_numpy(scale.scaled(past.values, past.name))[None]  # 1 context
    task = Forecasting.make(loaded.config)
    options = loaded.config.model.input.options

    def restore(found: Tensor) -> list[float]:
        return list(map(float, scale.restored(found.double().cpu().numpy())))

    return ReadInput(
        (scaled.to(loaded.device, loaded.dtype),),
        _patches(loaded),
        run=lambda model, inputs: task.predict(model, inputs[0]),
        shown={
            "values": past.values.tolist(),
            "series": past.name,
            "context": context,
            "horizon": horizon,
            "length": options["length"],
            "stride": options["stride"],
            "actual": after,
        },
        tensors={"input.values": torch.from_numpy(past.values.astype(np.float32))},
        restore=restore,
    )


def example_series(loaded: Loaded) -> list[Channel]:
    """What the model reads of each example."""
    context, _ = sizes(loaded.config)
    return [_first(one, context) for one in _known(loaded)]


def _known(loaded: Loaded) -> list[Channel]:
    """The ends of some series that the model was trained on, with what came next; where these cannot be had, a wave."""
    if loaded.model not in _kept:
        _kept[loaded.model] = _examples(loaded)
    return _kept[loaded.model]


def _examples(loaded: Loaded) -> list[Channel]:
    context, horizon = sizes(loaded.config)
    whole = context + horizon
    try:
        found = channels(loaded.config.data.source)[:EXAMPLES]
        return [Channel(one.name, one.moments[-whole:], one.values[-whole:]) for one in found]
    except GlassformerError:  # a package is missing, or the file has moved
        at = np.arange(whole)
        return [_channel("", 100 + 10 * np.sin(2 * np.pi * at / 24) + 0.05 * at)]


def _first(series: Channel, count: int) -> Channel:
    return Channel(series.name, series.moments[:count], series.values[:count])


def _example(loaded: Loaded, place: int) -> Channel:
    found = _known(loaded)
    if place >= len(found):
        raise InputError("explorer_index", key="example", value=place, last=len(found) - 1)
    return found[place]


def _channel(name: str, values: Numbers) -> Channel:
    """Values without dates: one a day, from the first of January 2000."""
    moments = np.datetime64("2000-01-01", "s") + np.arange(len(values)) * np.timedelta64(86_400, "s")
    return Channel(name, moments, values)


def _scale(loaded: Loaded, past: Channel) -> Scale:
    """That of the channel if the model knows it; otherwise that of these values alone."""
    known = Scaler.open(loaded.folder).scales if (loaded.folder / "scaler.json").is_file() else {}
    if past.name in known:
        return known[past.name]
    named = past if past.name else replace(past, name="values")  # what a fault calls it
    return Scale.fit(named, len(past), Settings.of(loaded.config.task).log)


def _patches(loaded: Loaded) -> list[Piece]:
    """Numbered: the page shows which values each of them holds."""
    return plain_pieces([str(i + 1) for i in range(input_positions(loaded.config.model) or 0)])
