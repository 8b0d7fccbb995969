from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.data.catalogue import DATASETS
from glassformer.data.show import glance
from shared_data import need


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path))
    return tmp_path


def put(home: Path, name: str, file: str, text: str) -> None:
    (home / name).mkdir(exist_ok=True)
    (home / name / file).write_text(text, encoding="utf-8")


def test_pairs_with_their_lengths_and_what_was_left_out(home: Path) -> None:
    put(home, "newstest2014-ende", "newstest2014.en", "one\n\nthree\n")
    put(home, "newstest2014-ende", "newstest2014.de", "eins\nzwei\ndrei\n")
    seen = glance("newstest2014-ende", rows=1)
    assert (seen.split, seen.rows, seen.columns, seen.skipped) == ("test", 2, ("en", "de"), 1)
    assert list(seen.first) == [("one", "eins")]
    assert seen.lengths == {"en": {"mean": 4.0, "longest": 5}, "de": {"mean": 4.0, "longest": 4}}


def test_a_table_with_a_header_alone_is_no_error(home: Path) -> None:
    put(home, "nsmc", "ratings_train.txt", "id\tdocument\tlabel\n")
    assert glance("nsmc").rows == 0


@pytest.mark.many
@pytest.mark.parametrize(
    ("name", "split", "rows", "first"),
    [
        ("kor-eng-pydocs", "test", 921, "Alias for PyErr_PrintEx(1)."),
        ("nsmc", "test", 50_000, "굳 ㅋ"),
        ("korean-chatbot", "", 11_823, "12시 땡!"),
        ("tinyshakespeare", "", 1_003_854, "First Citizen:"),
        ("ett", "", 17_420, "2016-07-01 00:00:00"),
        ("stocks-daily", "", 12_154, "AAPL"),
        ("fashion-mnist", "test", 10_000, "28 × 28"),
        ("vocab-gpt2", "merges", 50_000, "vocab.bpe"),
    ],
)
def test_every_kind_of_data_can_be_looked_at(
    name: str, split: str, rows: int, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(monkeypatch, DATASETS[name].folder or name)
    seen = glance(name, split, rows=2)
    assert (seen.rows, seen.first[0][0]) == (rows, first)
    assert all(len(row) == len(seen.columns) for row in seen.first)
