"""Whose data a model has learned from: the names of its sets, each with the licence that the catalogue gives it."""

from __future__ import annotations

from glassformer.config.values import Choice
from glassformer.data.catalogue import DATASETS
from glassformer.data.find import dataset
from glassformer.errors import InputError

OURS = "MIT"  # what the package generates is under the package's own licence
BUILT_IN = {  # sources that need no file, by their kind
    "grammar": OURS,
    "topics": OURS,
    "waves": OURS,
    "seasons": OURS,
    "digits": "CC BY 4.0",
    "canvases": "CC BY 4.0",  # made of the same digits
    "prices": DATASETS["stocks-daily"].licence,
}
OWN = ("files", "csv", "folder")  # a user's own


def catalogue_names(source: Choice) -> tuple[str, ...]:
    """The sets of the catalogue that a source reads; none if it reads something else."""
    given = source.options.get("names", source.options.get("name", ())) if source.kind == "catalogue" else ()
    return (given,) if isinstance(given, str) else tuple(map(str, given))


def licences(source: Choice) -> dict[str, str]:
    """The licence of each set that a source reads, by name; "" where nobody has told us."""
    if source.kind != "catalogue":
        return {source.kind: BUILT_IN.get(source.kind, "")}
    sets = {name: _licence(name) for name in catalogue_names(source)}
    return sets | ({"grammar": OURS} if source.options.get("grammar") else {})


def _licence(name: str) -> str:
    try:
        return dataset(name).licence
    except InputError:
        return ""
