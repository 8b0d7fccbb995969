from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.data import stored_texts as module
from glassformer.data.pairs import read_parallel
from glassformer.data.prepared import every_prepared
from glassformer.data.stored_texts import StoredTexts, are_large, chosen_texts, stored_columns
from glassformer.errors import FileError
from small_disk import no_file_larger_than

TEXTS = ["하나", "two\nlines", "3", "naïve 😀", "five"]


def column(texts: list[str], place: Path, name: str = "text") -> StoredTexts:
    """A column of texts in the cache, read from a file."""
    path = place / "file"
    path.write_text(repr(texts), encoding="utf-8")

    def rows(skipped: list[int]) -> Iterator[tuple[str, ...]]:
        skipped += [7, 9]
        yield from ((text,) for text in texts)

    (found,), skipped = stored_columns((path,), "test", (name,), rows)
    assert skipped == (7, 9)
    return found


@pytest.mark.usefixtures("own_cache")
def test_stored_texts_are_a_sequence(tmp_path: Path) -> None:
    texts = column(TEXTS, tmp_path)
    assert len(texts) == 5
    assert list(texts) == TEXTS
    assert (texts[0], texts[-1]) == ("하나", "five")
    assert list(texts[1:3]) == TEXTS[1:3]
    with pytest.raises(IndexError):
        texts[5]


@pytest.mark.usefixtures("own_cache")
def test_some_of_them_in_any_order_and_some_of_these(tmp_path: Path) -> None:
    texts = column(TEXTS, tmp_path)
    some = texts.chosen([4, 0, 3])
    assert list(some) == ["five", "하나", "naïve 😀"]
    assert list(some.chosen(np.array([2, 0]))) == ["naïve 😀", "five"]
    assert list(chosen_texts(TEXTS, np.array([1]))) == ["two\nlines"]


@pytest.mark.usefixtures("own_cache")
def test_they_are_prepared_when_they_are_read(tmp_path: Path) -> None:
    texts = column(["Ab", "CD"], tmp_path)
    assert texts.changed("none", "en") is texts
    assert list(texts.changed("lowercase", "en").chosen([1])) == ["cd"]


@pytest.mark.usefixtures("own_cache")
def test_a_mark_tells_texts_apart(tmp_path: Path) -> None:
    texts = column(TEXTS, tmp_path)
    others = [texts, texts.chosen([0]), texts.chosen([1]), texts.changed("lowercase", "en"), texts[:2]]
    assert len({each.mark for each in others}) == len(others)
    assert texts.chosen([0]).mark == texts[:1].mark
    assert column(TEXTS, tmp_path).mark != texts.mark  # the file was written again: another time of change


@pytest.mark.usefixtures("own_cache")
def test_the_same_file_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    calls: list[int] = []

    def rows(skipped: list[int]) -> Iterator[tuple[str, ...]]:
        calls.append(1)
        yield "a", "b"

    for _ in range(3):
        stored_columns((path,), "one", ("x", "y"), rows)
    stored_columns((path,), "two", ("x", "y"), rows)
    assert (len(calls), len(every_prepared())) == (2, 2)


@settings(max_examples=30, deadline=None)
@given(texts=st.lists(st.text(st.characters(exclude_categories=("Cs",)), min_size=1), min_size=1, max_size=20))
def test_any_text_comes_back(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("texts")
    module.write_columns(folder, ("text",), ((text,) for text in texts))
    assert list(StoredTexts(folder, "text")) == texts


def test_files_are_large_by_their_bytes_packed_ones_by_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 100)
    plain, packed = tmp_path / "a", tmp_path / "a.gz"
    plain.write_bytes(bytes(60))
    packed.write_bytes(bytes(20))
    assert not are_large([plain])
    assert are_large([plain, plain])
    assert are_large([plain, packed])  # 60 and 4 · 20
    assert not are_large([plain, plain, tmp_path / "none"])


@pytest.mark.usefixtures("own_cache")
def test_a_file_that_is_refused_is_refused_as_before_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGE", 0)
    for name, content in (("en", b"one\n" * 9000), ("de", b"eins\n" * 8999)):
        (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=r"en has 9000 lines, .*de has 8999; line N"):
        read_parallel(tmp_path / "en", tmp_path / "de")
    (tmp_path / "de").write_bytes(b"eins\n" * 8999 + b"\xff\n")
    with pytest.raises(FileError, match="de is not UTF-8 in line 9000, byte 1"):
        read_parallel(tmp_path / "en", tmp_path / "de")
    with no_file_larger_than(10_000), pytest.raises(FileError, match="cannot be written: File too large; make room"):
        stored_columns((tmp_path / "en",), "test", ("text",), lambda skipped: (("long",) for _ in range(9000)))
    assert every_prepared() == []
