from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from glassformer.config.values import Choice
from glassformer.decoding import Limits, beam_search, greedy
from glassformer.errors import ConfigError
from glassformer.loading import Loaded, load
from glassformer.models.build import build
from glassformer.tasks.output_ids import forbidden_ids
from glassformer.tasks.search import GREEDY, SearchOptions
from glassformer.tasks.translation.translate import as_trained, candidates, translate
from small_models import small
from small_translator import ENGLISH, KOREAN, trained


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return load(trained(tmp_path_factory.mktemp("run")))


@pytest.mark.parametrize(
    "search", [GREEDY, SearchOptions(), SearchOptions(batch=3), SearchOptions(length_norm="power", stop="exhaustive")]
)
def test_every_sentence_in_its_order(loaded: Loaded, search: SearchOptions) -> None:
    assert translate(loaded, KOREAN, search) == ENGLISH


def test_one_sentence_and_none(loaded: Loaded) -> None:
    assert translate(loaded, "나는 학교에 간다") == ["I go to school"]
    assert translate(loaded, []) == []


def test_an_empty_sentence_has_an_empty_translation(loaded: Loaded) -> None:
    assert translate(loaded, ["", KOREAN[0], "  "]) == ["", ENGLISH[0], ""]


def test_the_best_come_first(loaded: Loaded) -> None:
    (found,) = candidates(loaded.model, loaded.vocabularies, KOREAN[:1], SearchOptions(n_best=3))
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
    ((expected,),) = greedy(
        loaded.model, torch.tensor([tokens]), None, limits=Limits(bos=bos, eos=eos, forbidden=forbidden)
    )
    ((found,),) = candidates(loaded.model, loaded.vocabularies, KOREAN[:1], as_trained(GREEDY, config))
    assert found.log_probability == pytest.approx(expected.log_probability, abs=1e-6)
    assert as_trained(GREEDY, loaded.config) == GREEDY


def test_what_a_person_types_is_prepared_as_the_training_text_was(tmp_path: Path) -> None:
    loaded = load(trained(tmp_path))
    config = replace(loaded.config, data=replace(loaded.config.data, prepare="lowercase"))
    lower = replace(loaded, config=config)
    assert lower.prepare("ABC 가") == "abc 가"
    assert loaded.prepare("ABC 가") == "ABC 가"


# --- models of others: other frames, other beginnings ---


def foreign(options: dict[str, Any], frame: tuple[str, str] = ("none", "none")) -> Loaded:
    return small("translation", options=options, frame=frame)


@pytest.mark.many
@pytest.mark.parametrize("search", [GREEDY, SearchOptions()])
@pytest.mark.parametrize(
    ("frame", "options"),
    [
        (("none", "eos"), {"start": "pad"}),
        (("bos", "eos"), {"start": "eos", "first": "bos"}),
        (("none", "none"), {"start": "pad", "last": "eos", "forbidden": ["pad"]}),
        (("none", "none"), {"source_end": False, "forbidden": []}),
    ],
)
def test_a_model_reads_and_begins_as_it_was_trained(
    search: SearchOptions, frame: tuple[str, str], options: dict[str, Any]
) -> None:
    loaded, texts = foreign(options, frame), ["나는 학교에 간다.", "he", "I go to school!"]
    loaded.model.double()  # together or alone is a matter of rounding, and float32 rounds as the processor likes
    special = loaded.tokenizer.specials
    limits = Limits(
        bos=loaded.start,
        eos=2,
        first=1 if "first" in options else None,
        last=2 if "last" in options else None,
        forbidden=forbidden_ids(special, options.get("forbidden")),
        max_len=12,
    )
    found = candidates(loaded.model, loaded.vocabularies, texts, as_trained(replace(search, max_len=12), loaded.config))
    for text, (one,) in zip(texts, found, strict=True):
        source = torch.tensor([loaded.framed(text)])
        decode = greedy if search is GREEDY else beam_search
        ((expected,),) = decode(loaded.model, source, limits=limits)
        assert one.text == loaded.tokenizer.decode(expected.tokens)
        assert one.score == pytest.approx(expected.score, abs=1e-10)


def test_a_forced_token_is_not_part_of_the_text() -> None:
    loaded = foreign({"start": "eos", "first": "bos"})
    assert "<bos>" not in translate(loaded, "he")[0]


@pytest.mark.parametrize("option", ["start", "first", "last"])
def test_a_beginning_that_is_no_special_token(option: str) -> None:
    with pytest.raises(ConfigError, match=f"task.{option}='begin' is unknown; use one of: "):
        translate(foreign({option: "begin"}), "he")


def test_more_rows_than_pieces_are_left_out_of_the_text() -> None:
    loaded = foreign({})
    more = replace(loaded.config.model, vocab_size=loaded.tokenizer.vocab_size + 9)
    wide = replace(loaded, model=build(more, seed=1), config=replace(loaded.config, model=more))
    with torch.no_grad():
        wide.model.head.weight[-9:] *= 50.0
    assert isinstance(translate(wide, "he", GREEDY)[0], str)
    (one,) = greedy(wide.model, torch.tensor([wide.framed("he")]), limits=Limits(bos=1, eos=2))[0]
    assert max(one.tokens) >= loaded.tokenizer.vocab_size
