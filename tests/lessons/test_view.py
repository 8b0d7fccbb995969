from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from glassformer.errors import FileError, UsageError
from glassformer.lessons.lesson_results import LessonResults
from glassformer.lessons.record import RECORDED, LessonResult
from glassformer.lessons.texts import HOLE, tables
from glassformer.lessons.view import LessonView, provenance
from glassformer.show.theme import DARK
from glassformer.words import LANGUAGES
from small_disk import no_file_larger_than

NAME = "scaled_scores"


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("depth", ["easy", "deep"])
def test_texts_have_their_numbers(lang: str, depth: str) -> None:
    view = LessonView(NAME, lang)
    assert not HOLE.search(view.text(depth))
    assert view.text(depth, "en") == LessonView(NAME, "en").text(depth)
    assert "512" in view.part("caption" if depth == "easy" else "alt") or depth == "easy"


def test_a_depth_that_there_is_not() -> None:
    with pytest.raises(UsageError, match="easy, deep"):
        LessonView(NAME, "en").text("deeper")


@pytest.mark.slow
def test_it_prints_and_shows_itself_in_a_notebook() -> None:
    view = LessonView(NAME, "en")
    assert "confirmed  Dot products grow with d_k" in repr(view)
    html = view._repr_html_()
    assert "<svg" in html and "<b>confirmed</b>" in html
    console = Console(width=100)
    with console.capture() as text:
        console.print(LessonView(NAME, "ko").shown("deep"))
    assert "확인됨" in text.get() and "src/glassformer/layers/attention/kernel.py" in text.get()


@pytest.mark.slow
def test_the_picture_in_a_file(tmp_path: Path) -> None:
    view = LessonView(NAME, "ko")
    svg = view.save(tmp_path / "new" / "picture.svg").read_text(encoding="utf-8")
    assert svg.startswith("<svg ") and "var(--" not in svg and "xmlns" in svg
    assert view.save(tmp_path / "picture.PNG", DARK).read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match=r"picture\.jpg is neither \.svg nor \.png"):
        view.save(tmp_path / "picture.jpg")


@pytest.mark.slow
def test_a_full_disk_leaves_no_half_picture(tmp_path: Path) -> None:
    with no_file_larger_than(2048), pytest.raises(FileError, match="cannot be written"):
        LessonView(NAME, "en").save(tmp_path / "full" / "picture.svg")
    assert list((tmp_path / "full").iterdir()) == []


def test_the_document_for_programs() -> None:
    found = LessonView(NAME, "en").to_json()
    assert found["name"] == NAME and found["data"]["keys"] == 64
    assert found["verdicts"][0]["id"] == "scale-variance"
    assert found["sources"] == ["src/glassformer/layers/attention/kernel.py"]


def test_a_lesson_that_was_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassformer.lessons.lesson_results.recorded", lambda name: None)
    view = LessonView(NAME, "en", LessonResults())
    assert view.result is None and view.data == {} and view.answers() == [] and not view.stale
    assert "–" in view.text("deep") and not HOLE.search(view.text("deep"))
    assert view.to_json()["source"] == {}


def test_where_the_numbers_come_from() -> None:
    result = LessonResult.read(RECORDED / f"{NAME}.json")
    line = provenance(result, "en")
    assert result.commit in line and "seeds 0–4" in line and f"{result.machine['cores']} cores" in line
    some = LessonResult(**{**vars(result), "seeds": [0, 5]})
    assert "seeds 0, 5 " in provenance(some, "en")
    with_card = LessonResult(**{**vars(result), "machine": {"cores": 4, "accelerator": "Card"}})
    assert "코어 4개, Card" in provenance(with_card, "ko")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_was_chosen_is_said_in_words(lang: str) -> None:
    results = LessonResults()
    result = results.result("transformer_attention")
    assert result is not None
    known = tables(lang, "lessons", "transformer_attention")["words"]
    for layer, head, row in (("all", "mean", "said"), ("2", "mean", "read"), ("1", "3", "said")):
        data = {**result.data, "trained": {**result.data["trained"], "choice": [layer, head, row]}}
        text = LessonView(
            "transformer_attention", lang, LessonResults({"transformer_attention": replace(result, data=data)})
        ).text("deep")
        assert f"{layer}/{head}/{row}" not in text and known["row"][row] in text
        for kind, value in (("layer", layer), ("head", head)):
            assert known[kind].get(value, known[kind]["number"].format(number=value)) in text


def test_the_old_name_of_its_results_works_with_a_warning() -> None:
    view = LessonView("scaled_scores")
    with pytest.warns(DeprecationWarning, match=r"gf\.LessonView\.shelf is now gf\.LessonView\.results"):
        assert view.shelf is view.results
