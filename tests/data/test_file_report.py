from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glassformer.config.recipe import RunConfig
from glassformer.tasks.own import own_file_lines
from own_files import PAIRS, REVIEWS, photos, sales, table


def lines(task: str, source: dict[str, Any], lang: str = "en") -> list[str]:
    config = RunConfig.from_dict({"run": {"task": task}, "data": {"source": source}})
    return [phrase.say(lang) for phrase in own_file_lines(config)]


def test_pairs(tmp_path: Path) -> None:
    path = str(table(tmp_path / "pairs.tsv", [*PAIRS, ("가", "")], header="ko\ten"))
    told = "24 pairs, separated by tabs, header 'ko, en' skipped; left out because one side is empty: 1"
    assert lines("translation", {"kind": "files", "train": path}) == [f"{path}: {told}"]
    assert (
        lines("translation", {"kind": "files", "train": path, "test": path}, "ko")
        == [f"{path}: 문장 쌍 24개, 탭으로 구분, 머리글 'ko, en' 건너뜀; 한쪽이 비어 뺀 행 1개"] * 2
    )
    turned = lines("translation", {"kind": "files", "train": path, "columns": [2, 1]})
    assert "; source: column 2, target: column 1" in turned[0]


def test_parallel_files(tmp_path: Path) -> None:
    for name in ("a.ko", "a.en"):
        (tmp_path / name).write_text("a\nb\n")
    files = [str(tmp_path / "a.ko"), str(tmp_path / "a.en")]
    assert lines("translation", {"kind": "files", "train": files}) == [f"{path}: 2 lines" for path in files]


def test_labels(tmp_path: Path) -> None:
    path = str(table(tmp_path / "a.csv", [(label, text) for text, label in REVIEWS], ",", "감정,문장"))
    assert lines("classification", {"kind": "files", "train": path}) == [
        f"{path}: 24 texts, labels: 2 (bad 12, good 12), separated by commas, header '감정, 문장' skipped; "
        "text: column 2 '문장', label: column 1 '감정'"
    ]
    (tmp_path / "a.jsonl").write_text('{"text": "a", "label": 1}\n{"text": "b", "label": 2}\n')
    assert lines("classification", {"kind": "files", "train": str(tmp_path / "a.jsonl")})[0].endswith(
        "2 texts, labels: 2 (1 1, 2 1), JSON lines, keys 'text, label'"
    )


@pytest.mark.parametrize("task", ["language_model", "masked_language_model"])
def test_texts(task: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n\n")
    path = str(tmp_path / "a.txt")
    assert lines(task, {"kind": "files", "train": path}) == [f"{path}: one text of 9 characters; lines: 3"]
    many = lines(task, {"kind": "files", "train": path, "by_line": True})
    assert many == [f"{path}: 2 texts, 6 characters in all"]


def test_images(tmp_path: Path) -> None:
    folder = str(photos(tmp_path / "photos"))
    assert lines("image_classification", {"kind": "folder", "train": folder}) == [
        f"{folder}: 16 images in 2 classes (blue 8, red 8)"
    ]


def test_series(tmp_path: Path) -> None:
    path = str(sales(tmp_path / "sales.csv"))
    assert lines("forecasting", {"kind": "csv", "path": path}) == [
        f"{path}: 120 rows from 2024-01-01 to 2024-04-29, step: 1 day; columns: Umsatz; separated by semicolons, "
        "header 'Datum, Umsatz' skipped, decimal sign ','"
    ]


def test_nothing_is_said_of_what_comes_with_the_package() -> None:
    assert lines("translation", {"kind": "grammar"}) == []
