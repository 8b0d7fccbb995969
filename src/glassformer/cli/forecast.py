"""`glassformer forecast [MODEL] FILE.csv`: the next values of a series, as a table, as JSON, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from glassformer.cli.model_argument import model_and_input
from glassformer.cli.options import Checkpoint, Debug, Device, Dtype, Force, Json, Lang, ObviousModel, open_model
from glassformer.cli.output import print_found, print_rich
from glassformer.errors import UsageError
from glassformer.words import say


def command(
    model: ObviousModel = None,
    file: Annotated[
        str | None, typer.Argument(help=say("help.forecast_file"), metavar="FILE.csv", show_default=False)
    ] = None,
    column: Annotated[str, typer.Option("--column", help=say("help.column"), show_default=False)] = "",
    date: Annotated[str, typer.Option("--date", help=say("help.date_column"), show_default=False)] = "",
    gaps: Annotated[bool, typer.Option("--gaps", help=say("help.missing_rows"))] = False,
    out: Annotated[Path | None, typer.Option("--out", help=say("help.picture"), show_default=False)] = None,
    checkpoint: Checkpoint = "auto",
    device: Device = "auto",
    dtype: Dtype = "float32",
    force: Force = False,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    from glassformer.runs.output import claim
    from glassformer.tasks.forecasting.forecast import forecast
    from glassformer.training.forecast_picture import check_forecast_picture, draw_forecast

    model, given = model_and_input("forecast", model, file, "MODEL FILE.csv")
    if given is None:
        raise UsageError("usage_missing", name="FILE.csv", command="forecast")
    if out is not None:
        check_forecast_picture(out)
        claim(out, force=force, inputs=[given])
    loaded = open_model(model, checkpoint=checkpoint, device=device, dtype=dtype)
    found = forecast(loaded, given, column=column, date=date, gaps=gaps)
    # The numbers first: they must not be lost if the picture cannot be written.
    print_found(found, json=json)
    if out is not None:
        draw_forecast(found, out)
        if not json:
            print_rich(say("forecast.written", path=out))
