"""`glassformer presets`: the named models and their sizes."""

from __future__ import annotations

from glassformer.cli.options import Debug, Json, Lang
from glassformer.cli.output import print_json, print_rich
from glassformer.words import say


def command(json: Json = False, lang: Lang = None, debug: Debug = False) -> None:
    from rich.table import Table

    from glassformer.api import count
    from glassformer.models.presets import PRESETS

    ledgers = [count(name) for name in PRESETS]
    if json:
        print_json(
            [{"name": each.model, "config": each.config.to_dict(), "total": vars(each.total)} for each in ledgers]
        )
        return
    table = Table(header_style="bold")
    for column in ("name", "family", "sizes", "parameters"):
        table.add_column(say(f"presets.{column}"), justify="right" if column == "parameters" else "left", no_wrap=True)
    for each in ledgers:
        config = each.config
        depth = "+".join(str(n) for n in (config.encoder_layers, config.decoder_layers) if n)
        sizes = f"{depth} × {config.d_model}, {config.n_heads} h, d_ff {config.d_ff}"
        table.add_row(each.model, say(f"families.{config.family}"), sizes, f"{each.total.parameters:,}")
    print_rich(table, say("presets.hint"))
