from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from glassformer.data.documents import (
    Documents,
    _without_repetitions,
    apart,
    read_documents,
    tail_apart,
    together,
    topics,
)
from glassformer.errors import FileError


def test_a_file_is_one_document_with_its_line_breaks(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("하나\r\n\r\n  둘".encode())
    assert read_documents(tmp_path / "a.txt").texts == ["하나\n\n  둘\n"]


def test_or_one_document_on_each_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(" 하나 \n \t\n둘\n".encode()))
    found = read_documents(path, by_line=True)
    assert (found.texts, found.skipped, len(found), found.characters) == (["하나", "둘"], (2,), 2, 3)


def test_jsonl_is_read_by_line_under_any_key(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"body": "one\\ntwo"}\n\n{"body": "three"}\n', encoding="utf-8")
    assert list(read_documents(path, column="body")) == ["one\ntwo", "three"]


@pytest.mark.parametrize("by_line", [False, True])
@pytest.mark.parametrize("content", ["", " \n\t\n\u3000\n"])
def test_nothing_but_blanks_is_refused(tmp_path: Path, content: str, by_line: bool) -> None:
    (tmp_path / "a.txt").write_text(content, encoding="utf-8")
    with pytest.raises(FileError, match=r"a\.txt holds nothing but blanks; give a file with some text"):
        read_documents(tmp_path / "a.txt", by_line=by_line)


def test_some_are_kept_apart_and_no_text_stands_on_both_sides() -> None:
    every = Documents([f"text {i % 30}" for i in range(60)])
    rest, kept = apart(every, 10, seed=0)
    assert len(kept) == 10 and len(rest) == 50 and not set(rest) & set(kept)
    assert kept.texts != apart(every, 10, seed=1)[1].texts
    assert len(apart(every, 1000, seed=0)[1]) == 30


def test_the_tail_of_each_long_text_is_kept_apart() -> None:
    rest, kept = tail_apart(Documents(["0123456789" * 2, "abcde"]))
    assert rest.texts == ["012345678901234567", "abcde"] and kept.texts == ["89"]


def test_several_sets_become_one() -> None:
    assert together([Documents(["a"]), Documents(["b", "c"])]).texts == ["a", "b", "c"]


def test_the_splits_share_no_paragraph() -> None:
    splits = {name: topics(name) for name in ("train", "validation", "test")}
    paragraphs = {name: {p for text in some for p in text.strip().split("\n\n")} for name, some in splits.items()}
    assert not paragraphs["train"] & (paragraphs["validation"] | paragraphs["test"])
    assert not paragraphs["validation"] & paragraphs["test"]


def test_a_tenth_each_is_looked_at_and_kept_for_the_end() -> None:
    train, validation, test = (topics(name).characters for name in ("train", "validation", "test"))
    total = train + validation + test
    assert total > 200_000 and train > 0.6 * total
    assert min(validation, test) >= 0.1 * total


def test_a_paragraph_that_comes_back_is_dropped() -> None:
    texts = {"a": "one\n\ntwo\n", "b": "   two\n\nthree", "c": "one"}
    assert _without_repetitions(texts) == {"a": "one\n\ntwo\n", "b": "three\n"}
