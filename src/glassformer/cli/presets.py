"""`glassformer presets`: the named models and their sizes."""

from __future__ import annotations

from glassformer.cli.options import Debug, Json, Lang
from glassformer.cli.output import print_found


def command(json: Json = False, lang: Lang = None, debug: Debug = False) -> None:
    from glassformer.api import presets

    found = presets()
    print_found(found, json=json)
