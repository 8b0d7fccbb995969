"""`glassformer presets`: the named models and their sizes."""

from __future__ import annotations

from glassformer.cli.options import Debug, Json, Lang
from glassformer.cli.output import print_json, print_rich
from glassformer.words import say


def command(json: Json = False, lang: Lang = None, debug: Debug = False) -> None:
    from glassformer.api import count
    from glassformer.models.presets import PRESETS
    from glassformer.show import Column, Table

    ledgers = [count(name) for name in PRESETS]
    if json:
        print_json(
            [{"name": each.model, "config": each.config.to_dict(), "total": vars(each.total)} for each in ledgers]
        )
        return
    table = Table(
        Column(say("presets.name"), "name"),
        Column(say("presets.family"), drop=1),
        Column(say("presets.sizes")),
        Column(say("presets.parameters"), "number"),
    )
    for each in ledgers:
        config = each.config
        depth = "+".join(str(n) for n in (config.encoder_layers, config.decoder_layers) if n)
        sizes = f"{depth} × {config.d_model}, {config.n_heads} h, d_ff {config.d_ff}"
        table.add(each.model, say(f"families.{config.family}"), sizes, each.total.parameters)
    print_rich(table, say("presets.hint"))
