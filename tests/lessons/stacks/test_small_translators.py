from __future__ import annotations

import pytest

from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.stacks.small_translators import SmallTranslators


@pytest.mark.slow
def test_each_seed_gives_a_translator_of_its_own() -> None:
    translators = SmallTranslators(LessonSetup(seeds=(0, 1), effort=0.01), {"model.n_encoder_layers": 1})
    found = dict(translators.each())
    assert set(found) == {0, 1}
    assert found[0].losses != found[1].losses
