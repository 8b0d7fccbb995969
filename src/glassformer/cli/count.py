"""`glassformer count MODEL`: the parameter ledger."""

from __future__ import annotations

from glassformer.cli.options import Debug, Json, Lang, Layers, Model, Set, overrides
from glassformer.cli.output import print_json, print_rich


def command(
    model: Model,
    layers: Layers = None,
    set_: Set = None,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    changes = overrides(set_)
    from glassformer.ledger.parameters import count
    from glassformer.open import open_config

    ledger = count(model, open_config(model, layers=layers, overrides=changes))
    if json:
        print_json(ledger.to_json())
    else:
        print_rich(ledger)
