from __future__ import annotations

from glassformer.bench.recipes import EXTRAS
from glassformer.config.values import Choice
from glassformer.loading import open_recipe, recipes
from glassformer.sharing.licences import BUILT_IN, OWN, catalogue_names, licences


def test_the_catalogue_says_the_licence() -> None:
    two = Choice("catalogue", {"names": ["tatoeba-kor-eng", "kor-eng-pydocs"]})
    assert licences(two) == {"tatoeba-kor-eng": "CC BY 2.0 FR", "kor-eng-pydocs": "PSF-2.0"}
    assert licences(Choice("catalogue", {"name": "nsmc"})) == {"nsmc": "CC0 1.0"}
    assert licences(Choice("catalogue", {"name": "no such set"})) == {"no such set": ""}
    assert licences(Choice("catalogue", {"names": "wmt14-ende-1000"})) == {"wmt14-ende-1000": "WMT, research use"}
    assert catalogue_names(Choice("grammar")) == ()
    both = Choice("catalogue", {"names": "tatoeba-kor-eng", "grammar": 100})
    assert licences(both) == {"tatoeba-kor-eng": "CC BY 2.0 FR", "grammar": "MIT"}


def test_every_source_of_a_recipe_is_known() -> None:
    kinds = {open_recipe(name).data.source.kind for name in recipes()} - {"catalogue"}
    assert kinds <= {*BUILT_IN, *OWN} and set(EXTRAS) - {*OWN} <= set(BUILT_IN)
    assert licences(Choice("csv", {"path": "mine.csv"})) == {"csv": ""}
