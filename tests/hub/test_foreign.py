from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glassformer.errors import FileError
from glassformer.hub.foreign import LARGEST_FILE, OUR_ACTIVATIONS, THEIR_ACTIVATIONS, Foreign, read_foreign


def foreign(**table: Any) -> Foreign:
    return Foreign(table, Path("config.json"))


def test_values_by_name_and_type() -> None:
    found = foreign(n=3, x=2, yes=True, act="relu", inner={"n": 4}, nothing=None, many=["a"], sizes=[1, 2.5])
    assert (found.whole("n"), found.number("x"), found.truth("yes", False), found.word("act")) == (3, 2.0, True, "relu")
    assert (found.whole("nothing", 5), found.within("inner").whole("n"), found.within("gone").table) == (5, 4, {})
    assert (found.words("many"), found.words("gone"), found.numbers("sizes")) == (["a"], [], [1.0, 2.5])
    assert found.one_of("act", {"relu": "ours"}) == "ours"
    found.only("yes", True)
    found.only("gone", True)


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda: foreign().whole("n"), "has no key 'n'; a config.json as Hugging Face writes it is needed"),
        (lambda: foreign(n=True).whole("n"), "n is True, which is not of the kind it should be"),
        (lambda: foreign(n="3").number("n"), "n is '3', which is not of the kind it should be"),
        (lambda: foreign(n=1).truth("n", False), "n is 1, which is not of the kind it should be"),
        (lambda: foreign(n=1).word("n"), "n is 1, which is not of the kind it should be"),
        (lambda: foreign(n=1).within("n"), "n is 1, which is not of the kind it should be"),
        (lambda: foreign(n=[1]).words("n"), r"n is \[1\], which is not of the kind it should be"),
        (lambda: foreign(n=["1"]).numbers("n"), r"n is \['1'\], which is not of the kind it should be"),
        (lambda: foreign(n=10**400).number("n"), "n is 1000.*, which is not of the kind it should be"),
        (lambda: foreign(n=-(10**400)).number("n"), "n is -1000.*, which is not of the kind it should be"),
        (lambda: foreign(n=[1, 10**400]).numbers("n"), r"n is \[1, 1000.*, which is not of the kind it should be"),
        (lambda: foreign(n="x").one_of("n", {"y": "z"}), "n is x; only y can be built here"),
        (lambda: foreign(n=2).only("n", 1), "n is 2; only 1 can be built here"),
        (lambda: foreign(num_labels=-1).labels(), "num_labels is -1, which is not of the kind it should be"),
        (lambda: foreign(num_labels=10**9).labels(), "num_labels is 1000000000, which is not"),
        (lambda: foreign(id2label={"0": "a", "2": "b"}).labels(), "id2label is .*, which is not of the kind"),
    ],
)
def test_a_value_that_cannot_be_is_one_line(ask: Any, what: str) -> None:
    with pytest.raises(FileError, match=rf"^config\.json:? {what}"):
        ask()


def test_labels_by_name_by_number_and_by_default() -> None:
    assert foreign(id2label={"1": "good", "0": "bad"}).labels() == ["bad", "good"]
    assert foreign(num_labels=3).labels() == ["LABEL_0", "LABEL_1", "LABEL_2"]
    assert foreign().labels() == ["LABEL_0", "LABEL_1"]


def test_activations_there_and_back() -> None:
    assert all(OUR_ACTIVATIONS[theirs] == ours for ours, theirs in THEIR_ACTIVATIONS.items())


def test_files_that_are_no_config(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with pytest.raises(FileError, match="cannot be read: No such file"):
        read_foreign(path)
    for text in (b"{", b"\xff", b"[" * 200_000, b'{"n": ' + b"9" * 10_000 + b"}"):
        path.write_bytes(text)
        with pytest.raises(FileError, match="is not JSON"):
            read_foreign(path)
    path.write_bytes(b"[1]")
    with pytest.raises(FileError, match=r"\{\} is \[1\], which is not of the kind it should be"):
        read_foreign(path)
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(FileError, match="more than a configuration may have"):
        read_foreign(path)
