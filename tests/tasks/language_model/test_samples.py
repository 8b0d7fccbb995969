from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from glassformer.data.documents import Documents
from glassformer.loading import load
from glassformer.runs import Run
from glassformer.tasks.language_model.samples import GIVEN, Continuations, beginnings, sample_continuations
from glassformer.tasks.language_model.task import LanguageModel
from glassformer.tasks.samples import read_samples
from small_writer import trained
from tiny_tasks import tiny


def test_every_evaluation_goes_on_with_the_same_beginnings(tmp_path: Path) -> None:
    run = Run.open(trained(tmp_path, documents="packed"))
    (first, *others) = read_samples(run, 8)
    assert list(first) == ["prompt", "real", "written"] and len(others) == 3
    loaded = load(run.folder, checkpoint="last")
    measure = Continuations(run, loaded.vocabularies, [(first["prompt"], first["real"])])
    assert measure(loaded.model, 9) == {} and read_samples(run, 9) == [first]


def test_short_texts_are_cut_behind_a_word() -> None:
    texts = Documents(["The doctor has a very large hat", "가나다라마바사 아자차", "ab", "x", "Jihun has", "more"])
    found = beginnings(texts, 64)
    assert found[0] == ("The doctor has", " a very large hat") and found[2] == ("a", "b") and len(found) == 4
    assert all(given + real == text for (given, real), text in zip(found[:3], texts.texts[:3], strict=True))


def test_one_long_text_is_cut_at_several_places() -> None:
    text = " ".join(f"word{i}" for i in range(200))
    found = beginnings(Documents([text]), 64)
    assert len(found) == 4 and len({given for given, _ in found}) == 4
    assert all(given + real in text and len(given) <= GIVEN for given, real in found)


def test_a_beginning_leaves_room_in_a_short_context() -> None:
    assert beginnings(Documents(["abcdefghijklmnop"] * 4), 8)[0][0] == "abcd"
    assert beginnings(Documents([]), 8) == []


def test_a_language_model_goes_on_with_what_it_is_validated_on(tmp_path: Path) -> None:
    material = LanguageModel.begin(tiny("language_model"))
    run = Run.create(tmp_path / "run", material.config, fill=material.fill)
    measure = sample_continuations(run, material)
    assert isinstance(measure, Continuations) and len(measure.beginnings) == 4
    assert sample_continuations(run, replace(material, validation_texts=Documents([]))) is None
