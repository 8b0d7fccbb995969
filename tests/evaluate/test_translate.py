from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from glassformer.config import Choice
from glassformer.errors import ConfigError
from glassformer.evaluate.translate import GREEDY, Search, as_trained, candidates, sources, translate
from glassformer.generate import greedy
from glassformer.models.build import build
from glassformer.open import Loaded, load
from small_translator import ENGLISH, KOREAN, trained


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return load(trained(tmp_path_factory.mktemp("run")))


@pytest.mark.parametrize("search", [GREEDY, Search(), Search(batch=3), Search(length_norm="power", stop="exhaustive")])
def test_every_sentence_in_its_order(loaded: Loaded, search: Search) -> None:
    assert translate(loaded, KOREAN, search) == ENGLISH


def test_one_sentence_and_none(loaded: Loaded) -> None:
    assert translate(loaded, "나는 학교에 간다") == ["I go to school"]
    assert translate(loaded, []) == []


def test_an_empty_sentence_has_an_empty_translation(loaded: Loaded) -> None:
    assert translate(loaded, ["", KOREAN[0], "  "]) == ["", ENGLISH[0], ""]


def test_the_best_come_first(loaded: Loaded) -> None:
    (found,) = candidates(loaded.model, loaded.vocabularies, KOREAN[:1], Search(n_best=3))
    assert len(found) == 3 and found[0].text == ENGLISH[0]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert len({one.text for one in found}) == 3


def test_a_model_that_is_no_translator_is_refused(loaded: Loaded) -> None:
    config = replace(loaded.config.model, family="decoder", n_encoder_layers=None)
    with pytest.raises(ConfigError, match="the task 'translation' needs a model of family='encoder-decoder'"):
        candidates(build(config), loaded.vocabularies, KOREAN, GREEDY)


@pytest.mark.parametrize("ends", [True, False])
def test_the_source_ends_as_it_did_in_training(loaded: Loaded, ends: bool) -> None:
    config = replace(loaded.config, task=Choice("translation", {"source_end": ends}))
    special = loaded.vocabularies.source.specials
    bos, eos = special.need("bos"), special.need("eos")
    tokens = [*loaded.vocabularies.source.encode(KOREAN[0]), *([eos] if ends else [])]
    forbidden = [i for i in special.ids().values() if i != eos]
    ((expected,),) = greedy(loaded.model, torch.tensor([tokens]), None, bos=bos, eos=eos, forbidden=forbidden)
    ((found,),) = candidates(loaded.model, loaded.vocabularies, KOREAN[:1], as_trained(GREEDY, config))
    assert found.log_probability == pytest.approx(expected.log_probability, abs=1e-6)
    assert as_trained(GREEDY, loaded.config) == GREEDY


def test_what_a_person_types_is_prepared_as_the_training_text_was(tmp_path: Path) -> None:
    loaded = load(trained(tmp_path))
    config = replace(loaded.config, data=replace(loaded.config.data, prepare="lowercase"))
    lower = replace(loaded, config=config)
    assert sources(lower, ["ABC 가"]) == ["abc 가"]
    assert sources(loaded, ["ABC 가"]) == ["ABC 가"]
