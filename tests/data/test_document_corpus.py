from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import shared_data
from glassformer.config.recipe import DataConfig
from glassformer.config.values import Choice
from glassformer.data.corpus import Corpus
from glassformer.data.document_corpus import document_corpus
from glassformer.data.documents import Documents
from glassformer.errors import ConfigError, InputError


def documents(kind: str, data: dict[str, Any] | None = None, **options: Any) -> Corpus[Documents]:
    return document_corpus(DataConfig(source=Choice(kind, options), **{"validation": 4, **(data or {})}))


def test_the_built_in_sentences_in_one_language_in_both_and_joined() -> None:
    one = documents("grammar", {"source_language": "en"}, count=6, test=2)
    korean = documents("grammar", count=6)
    each, joined = documents("grammar", count=6, sides="each"), documents("grammar", count=6, sides="joined")
    both = [text for pair in zip(korean.train, one.train, strict=True) for text in pair]
    assert each.train.texts == both and len(one.validation) == 4
    assert joined.train.texts == ["\n".join(pair) for pair in zip(korean.train, one.train, strict=True)]
    assert {name: len(some) for name, some in one.test.items()} == {
        "seen-like": 2,
        "subject-verb": 2,
        "adjective-noun": 2,
        "verb-place": 2,
        "long": 2,
    }
    assert documents("grammar", count=6, test=0).test == {}


def test_no_validation_sentences_are_no_documents() -> None:
    assert len(documents("grammar", {"validation": 0}, count=3).validation) == 0


def test_the_grammar_speaks_two_languages() -> None:
    with pytest.raises(ConfigError, match="de"):
        documents("grammar", {"source_language": "de"})
    with pytest.raises(ConfigError, match="de"):
        documents("grammar", {"target_language": "de"}, sides="each")


def test_help_texts() -> None:
    found = documents("topics")
    assert all(found.split(name)[name].characters > 20_000 for name in ("train", "validation", "test"))


def test_a_file_of_ones_own_is_cut_or_its_lines_are_drawn(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"line {i:03d}\n" for i in range(100)), encoding="utf-8")
    whole = documents("files", train=str(path))
    assert whole.train.characters == 810 and whole.validation.texts[0].endswith("line 099\n") and whole.test == {}
    lines = documents("files", train=str(path), by_line=True)
    assert (len(lines.train), len(lines.validation)) == (96, 4)
    both = documents("files", train=[str(path), str(path)], validation=str(path), test=str(path))
    assert (len(both.train), len(both.validation), len(both.test["test"])) == (2, 1, 1)


def test_a_set_of_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    shared_data.need(monkeypatch, "tinyshakespeare")
    found = documents("catalogue", names="tinyshakespeare")
    assert (found.train.characters, found.validation.characters, found.test) == (1_003_854, 111_540, {})


@pytest.mark.slow
def test_reviews_and_talks_and_one_side_of_a_translation(monkeypatch: pytest.MonkeyPatch) -> None:
    shared_data.need(monkeypatch, "korean-chatbot")
    talks = documents("catalogue", names=["korean-chatbot"], train="all", validation="")
    assert "\n" in talks.train.texts[0] and len(talks.validation) == 4
    shared_data.need(monkeypatch, "tatoeba-kor-eng")
    english = documents("catalogue", {"source_language": "en"}, names="tatoeba-kor-eng", test="test")
    assert english.train.texts[0].isascii() and len(english.test["test"]) == 286
    shared_data.need(monkeypatch, "nsmc")
    reviews = documents("catalogue", names="nsmc", train="test", validation="", test=["test"])
    assert all(text.strip() for text in reviews.test["test"]) and len(reviews.train) > 49_000


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="fashion-mnist holds images"):
        documents("catalogue", names="fashion-mnist").train  # noqa: B018


def test_text_is_prepared_as_the_recipe_says() -> None:
    english = documents("grammar", {"source_language": "en", "prepare": "lowercase"}, count=3)
    assert all(text == text.lower() for text in english.train)


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("grammer", {}, "data.source='grammer'"),
        ("grammar", {"side": "one"}, "did you mean sides"),
        ("grammar", {"sides": "two"}, "sides='two'"),
        ("grammar", {"test": "a.txt"}, "data.source.test='a.txt'"),
        ("topics", {"count": 3}, "count"),
        ("files", {}, "train"),
        ("files", {"train": "a", "by_line": 1}, "by_line=1"),
        ("catalogue", {"names": "nsmc", "test": 3}, "data.source.test=3"),
    ],
)
def test_a_wrong_option_is_one_line(kind: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        documents(kind, **options)


def test_a_number_of_test_texts_is_for_the_grammar_alone(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"data\.source\.test=3"):
        documents("files", train=str(tmp_path / "a.txt"), test=3).test  # noqa: B018
