from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from glassformer.config.recipe import DataConfig
from glassformer.config.values import Choice
from glassformer.data.labelled_corpus import LABELLED, LABELLED_OPTIONS, labelled_corpus
from glassformer.errors import ConfigError
from shared_data import need
from small_classifier import REVIEWS, write_tsv


def data(kind: str, **keys: Any) -> DataConfig:
    own = {key: keys.pop(key) for key in ("source_language", "validation", "prepare") if key in keys}
    return DataConfig(source=Choice(kind, keys), **own)


def test_every_source_has_its_checks() -> None:
    assert list(LABELLED_OPTIONS) == list(LABELLED)


def test_the_built_in_corpus_in_either_language() -> None:
    korean = labelled_corpus(data("grammar", count=20, test=2, validation=4))
    english = labelled_corpus(data("grammar", count=20, test=2, validation=4, source_language="en"))
    assert Counter(korean.train.labels) == {"negative": 10, "positive": 10}
    assert korean.train.labels == english.train.labels
    assert all(re.search("[가-힣]", text) for text in korean.train.texts)
    assert not any(re.search("[가-힣]", text) for text in english.train.texts)
    assert len(korean.validation) == 4 and not set(korean.validation.texts) & set(korean.train.texts)


@pytest.mark.slow
def test_each_kind_of_news_stands_apart_in_the_test_set() -> None:
    test = labelled_corpus(data("grammar", count=20, test=2)).test
    assert {name: len(texts) for name, texts in test.items()} == dict.fromkeys(
        ("seen-like", "subject-verb", "adjective-noun", "verb-place", "long"), 2
    )


def test_no_test_set_and_no_validation_set() -> None:
    found = labelled_corpus(data("grammar", count=8, test=0, validation=0))
    assert (found.test, len(found.validation)) == ({}, 0)


def test_topics() -> None:
    found = labelled_corpus(data("grammar", label="topic", count=12, validation=6)).train
    assert set(found.labels) == {"art", "food", "nature", "sports", "study", "travel"}


def test_files_of_ones_own(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "a.tsv")
    alone = labelled_corpus(data("files", train=path, validation=8))
    assert (len(alone.train), len(alone.validation), alone.test) == (32, 8, {})
    assert sorted([*alone.train.texts, *alone.validation.texts]) == sorted(text for text, _ in REVIEWS)
    other = write_tsv(tmp_path / "b.tsv", REVIEWS[:4])
    options = {"train": path, "validation": other, "test": [path, other]}
    given = labelled_corpus(DataConfig(source=Choice("files", options)))
    assert (len(given.train), len(given.validation)) == (40, 4)
    assert {name: len(texts) for name, texts in given.test.items()} == {path: 40, other: 4}


def test_texts_are_prepared_as_the_recipe_says(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "a.tsv", [("GOOD Film", "A"), ("BAD Film", "B")])
    found = labelled_corpus(data("files", train=path, validation=0, prepare="lowercase", source_language="en"))
    assert (found.train.texts, found.train.labels) == (["good film", "bad film"], ["A", "B"])


@pytest.mark.slow
def test_the_reviews_of_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "nsmc")
    found = labelled_corpus(data("catalogue", name="nsmc", validation=1000))
    assert (len(found.train), len(found.validation), len(found.test["test"])) == (148995, 1000, 50000)
    assert set(found.train.labels) == {"0", "1"} and all(text.strip() for text in found.train.texts)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (data("grammar", source_language="de"), "the built-in corpus is Korean and English, here source_language='de'"),
        (data("grammar", label="mood"), "data.source.label='mood' is unknown; use one of: sentiment, topic"),
        (data("grammar", test="a.tsv"), "data.source.test='a.tsv' is of the wrong type"),
        (data("files"), "data.source='files' needs the option train; write data.source = "),
        (data("files", train="a.tsv", test=5), "data.source.test=5 is of the wrong type"),
        (data("web"), "data.source='web' is unknown; use one of: grammar, files, catalogue"),
    ],
)
def test_a_source_that_there_is_not(config: DataConfig, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        labelled_corpus(config).split("train")
    assert str(caught.value).startswith(message)
