from __future__ import annotations

import json
from pathlib import Path

import pytest

from glassformer.data.own import is_own, possible_tasks
from glassformer.errors import FileError
from own_files import PAIRS, REVIEWS, photos, sales, table

BOTH = ("translation", "classification")


@pytest.mark.parametrize("delimiter", ["\t", ",", ";", "|"])
@pytest.mark.parametrize(
    ("rows", "header", "task"),
    [
        (PAIRS, "", "translation"),
        (PAIRS[:3], "ko en", "translation"),
        (PAIRS[:3], "source target", "translation"),
        (REVIEWS, "", "classification"),
        (REVIEWS[:3], "text label", "classification"),
        (REVIEWS[:3], "문장 감정", "classification"),
        ([(label, text) for text, label in REVIEWS], "", "classification"),
        ([(text, str(i % 3)) for i, (text, _) in enumerate(REVIEWS)], "", "classification"),
    ],
)
def test_a_table_of_pairs_or_of_labels(
    delimiter: str, rows: list[tuple[str, str]], header: str, task: str, tmp_path: Path
) -> None:
    path = table(tmp_path / "a.csv", rows, delimiter, header.replace(" ", delimiter))
    assert possible_tasks(path) == (task,)


@pytest.mark.parametrize(
    ("rows", "header", "tasks"),
    [
        (PAIRS[:5], "", BOTH),  # five pairs, or five texts with five labels
        (PAIRS, "text,target", BOTH),
        ([(text, f"{label} {i % 9}") for i, (text, label) in enumerate(REVIEWS)], "", BOTH),  # some come again
        (
            [(f"2024-01-{i + 1:02}", str(i), "a remark in words") for i in range(20)],
            "",
            ("forecasting", "classification"),
        ),
    ],
)
def test_what_could_be_two_things_is_not_guessed(
    rows: list[tuple[str, ...]], header: str, tasks: tuple[str, ...], tmp_path: Path
) -> None:
    assert possible_tasks(table(tmp_path / "a.csv", rows, ",", header)) == tasks


def test_dates_with_numbers_are_a_series(tmp_path: Path) -> None:
    assert possible_tasks(sales(tmp_path / "sales.csv")) == ("forecasting",)
    plain = table(tmp_path / "b.csv", [(f"2024-01-{i + 1:02}", str(i)) for i in range(20)], ",")
    assert possible_tasks(plain) == ("forecasting",)


def test_text_lines_and_folders(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One line.\nAnother, with a comma.\n")
    assert possible_tasks(tmp_path / "a.txt") == ("language_model",)
    assert possible_tasks(table(tmp_path / "b.txt", PAIRS)) == ("translation",)  # Excel's "text" has tabs
    assert possible_tasks(photos(tmp_path / "photos", 1)) == ("image_classification",)
    with pytest.raises(FileError, match=r"a\.xlsx: files with this ending cannot be read; use \.tsv, \.csv"):
        (tmp_path / "a.xlsx").write_text("PK")
        possible_tasks(tmp_path / "a.xlsx")


@pytest.mark.parametrize(
    ("row", "tasks"),
    [
        ({"ko": "가", "en": "a"}, ("translation",)),
        ({"text": "가", "label": 1}, ("classification",)),
        ({"text": "가"}, ("language_model",)),
        ({"a": "가", "b": "나"}, BOTH),
    ],
)
def test_json_lines_by_their_keys(row: dict[str, object], tasks: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert possible_tasks(path) == tasks
    path.write_text("")
    with pytest.raises(FileError, match="is empty"):
        possible_tasks(path)


def test_a_recipe_is_no_data(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("")
    assert not is_own(tmp_path / "a.toml") and not is_own(tmp_path / "nothing.tsv") and is_own(tmp_path)


@pytest.mark.parametrize("header", ["", "a,b", "timestamp,value"])
def test_a_table_of_numbers_alone_is_no_translation(header: str, tmp_path: Path) -> None:
    rows = [(str(1_700_000_000 + 60 * i), str(2 * i)) for i in range(400)]
    with pytest.raises(FileError, match=r"holds only numbers.*2024-01-31"):
        possible_tasks(table(tmp_path / "a.csv", rows, ",", header))
