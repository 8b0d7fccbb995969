"""Series of a request."""

from __future__ import annotations

import numpy as np
import pytest

import glassformer as gf
from glassformer.data.channel_sources import channels
from glassformer.errors import GlassformerError, InputError
from glassformer.explorer import fields
from glassformer.explorer.series import example_series, series_input
from glassformer.tasks.forecasting.task import sizes


@pytest.mark.parametrize("model", ["prices", "forecaster"])
def test_what_really_came_after_an_example_is_known(model: str) -> None:
    loaded = gf.load(model)
    context, horizon = sizes(loaded.config)
    whole = channels(loaded.config.data.source)[1].values[-context - horizon :]
    shown = series_input(loaded, {"example": 1}).shown
    assert shown["values"] == whole[:context].tolist() == example_series(loaded)[1].values.tolist()
    assert shown["actual"] == whole[context:].tolist() and len(shown["actual"]) == horizon
    own = series_input(loaded, {"values": np.arange(1.0, context + 1).tolist()})
    assert own.shown["actual"] == [] and [piece.piece for piece in own.source[:2]] == ["1", "2"]


def test_a_fault_of_values_without_a_name_has_a_subject() -> None:
    with pytest.raises(GlassformerError, match=r"^values holds 0\.0"):
        series_input(gf.load("prices"), {"values": [*range(1, 40), 0.0]})


@pytest.mark.parametrize("value", [1e300, -1e16, 10**400])
def test_numbers_that_float32_cannot_square_are_refused(value: float) -> None:
    with pytest.raises(InputError, match="a number of values is too large; send numbers between −1e15 and 1e15"):
        fields.numbers("values", [1.0, value])
