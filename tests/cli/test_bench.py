from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from glassformer.bench.catalogue import BENCHMARKS
from typed import typed

HANGUL = re.compile(r"[가-힣]")


run = typed("bench")


def test_without_a_name_the_names_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "--lang", "en")
    assert (code, err) == (0, "")
    assert re.sub(r"\s+", " ", out).strip() == f"Name one or more: {', '.join(BENCHMARKS)}"
    code, out, _ = run(capsys, "--lang", "ko")
    assert (code, bool(HANGUL.search(out))) == (0, True)
    code, out, _ = run(capsys, "--json")
    assert (code, json.loads(out)) == (0, list(BENCHMARKS))


@pytest.mark.parametrize(
    ("lang", "titles"),
    [
        ("en", ["preset", "published", "counted", "difference", "source"]),
        ("ko", ["프리셋", "공개된 값", "센 값", "차이", "출처"]),
    ],
)
def test_a_measurement_is_a_table(lang: str, titles: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "published-sizes", "--lang", lang)
    assert (code, err) == (0, "")
    header = next(line for line in out.splitlines() if line.startswith("┃"))
    assert [cell.strip() for cell in header.strip("┃").split("┃")] == titles
    row = next(line for line in out.splitlines() if "│ gpt2 " in line)
    assert [cell.strip() for cell in row.strip("│").split("│")][:4] == ["gpt2", "124,439,808", "124,439,808", "0"]


@pytest.mark.slow
def test_one_measurement_is_one_document_and_two_are_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "published-sizes", "--json")
    assert (code, err) == (0, "")
    one = json.loads(out)
    assert (one["name"], one["command"]) == ("published-sizes", "glassformer bench published-sizes")
    assert {row["preset"]: row["counted"] for row in one["numbers"]["rows"]}["bert-base"] == 109_482_240
    _, out, _ = run(capsys, "published-sizes", "published-sizes", "--json")
    assert [each["name"] for each in json.loads(out)] == ["published-sizes"] * 2


def test_a_result_is_recorded_in_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "results"
    code, out, err = run(capsys, "published-sizes", "--record", str(folder))
    assert (code, err) == (0, "")
    assert [path.name for path in folder.iterdir()] == ["published-sizes.json"]
    assert f"Recorded in {folder / 'published-sizes.json'}" in out.replace("\n", "")
    assert json.loads((folder / "published-sizes.json").read_text(encoding="utf-8"))["name"] == "published-sizes"


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.touch()
    code, _, err = run(capsys, "published-sizes", "--record", str(file), "--json")
    assert (code, err) == (1, f"{file} cannot be written: File exists; make room, or write somewhere else\n")
    code, _, err = run(capsys, "published-sizes", "--record", str(file / "below"), "--lang", "ko")
    assert code == 1
    assert err.startswith(f"{file / 'below'}: 쓸 수 없습니다(Not a directory).")


def test_an_unknown_name_stops_before_anything_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "published-sizes", "tabel3", "--lang", "en")
    assert (code, out) == (2, "")
    assert err == f"no benchmark is called 'tabel3'; there are: {', '.join(BENCHMARKS)}\n"
    code, out, err = run(capsys, "tabel3", "--lang", "ko")
    assert (code, out) == (2, "")
    assert err.startswith("'tabel3': 없는 벤치마크입니다.")
