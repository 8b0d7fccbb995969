from __future__ import annotations

import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch

from glassformer.bench import published, published_runs, real, table3
from glassformer.bench.catalogue import BENCHMARKS
from glassformer.bench.record import (
    PICTURES,
    RESULTS,
    BenchResult,
    markdown,
    numbers_in,
    picture,
    recorded_results,
    render,
    result,
    write_pictures,
)
from glassformer.errors import FileError

ROOT = Path(__file__).parents[2]
DRAWN = [name for name, bench in BENCHMARKS.items() if bench.draw is not None]


def test_a_result_says_where_it_comes_from(tmp_path: Path) -> None:
    measured = result("table3", {"rows": [1, 2]})
    assert measured.command == "glassformer bench table3"
    assert set(measured.versions) == {"python", "torch"}
    card = torch.cuda.get_device_name(0) if torch.cuda.is_available() else ""
    assert measured.machine == {"cores": os.cpu_count(), "accelerator": card}
    measured.write(tmp_path / "table3.json")
    assert BenchResult.read(tmp_path / "table3.json") == measured
    assert [path.name for path in tmp_path.iterdir()] == ["table3.json"]


@pytest.mark.parametrize(
    ("accelerator", "lang", "line"),
    [
        ("", "en", "`glassformer bench x` · 2 cores, no accelerator · python 3, torch 2 · commit abc"),
        ("", "ko", "`glassformer bench x` · 코어 2개, 가속기 없음 · python 3, torch 2 · 커밋 abc"),
        ("NVIDIA H200", "en", "`glassformer bench x` · 2 cores, NVIDIA H200 · python 3, torch 2 · commit abc"),
        ("NVIDIA H200", "ko", "`glassformer bench x` · 코어 2개, NVIDIA H200 · python 3, torch 2 · 커밋 abc"),
    ],
)
def test_the_source_is_said_in_either_language(accelerator: str, lang: str, line: str) -> None:
    machine = {"cores": 2, "accelerator": accelerator}
    measured = BenchResult("x", "glassformer bench x", {}, "abc", {"python": "3", "torch": "2"}, machine)
    assert measured.source(lang) == line


def test_a_failed_write_leaves_the_old_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = result("table3", {"rows": []})
    measured.write(tmp_path / "table3.json")
    before = (tmp_path / "table3.json").read_bytes()

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FileError, match=r"table3\.json cannot be written: No space left on device"):
        result("table3", {"rows": [3]}).write(tmp_path / "table3.json")
    assert (tmp_path / "table3.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["table3.json"]


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.name)
def test_recorded_results_are_whole(path: Path) -> None:
    recorded = BenchResult.read(path)
    assert recorded.name == path.name.split(".")[0]
    assert recorded.commit != "unknown"
    assert recorded.numbers


def texts(value: Any) -> list[str]:
    match value:
        case dict():
            return [text for item in value.values() for text in texts(item)]
        case list():
            return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.name)
def test_recorded_results_speak_no_language(path: Path) -> None:
    """Names and codes only: whatever is a word of ours is said when the table is made."""
    ours = re.compile(r"\b(cores?|no accelerator|tokens|layers|eager|compiled|after|empty)\b")
    assert [text for text in texts(asdict(BenchResult.read(path))) if ours.search(text)] == []


def test_every_benchmark_is_recorded_or_waits_for_an_accelerator() -> None:
    """What waits is in no table: remove it here when its record is there."""
    waiting = [*(name for name in real.REAL if name not in real.SMALL), "full-size"]
    assert [name for name in BENCHMARKS if not recorded_results(name)] == waiting


@pytest.mark.slow
def test_exact_results_are_what_the_code_gives_today() -> None:
    """Counts do not depend on the machine: a recorded one that differs is stale."""
    exact = {"table3": table3.run, "published-sizes": published.run, "published-runs": published_runs.run}
    for name, run in exact.items():
        assert BenchResult.read(RESULTS / f"{name}.json").numbers == run()


def test_render_fills_what_stands_between_the_markers() -> None:
    text = "before\n<!-- table: table3 -->\nold\n<!-- end -->\nafter\n"
    filled = render(text, "en")
    assert filled.startswith("before\n<!-- table: table3 -->\n| row of Table 3 |")
    assert "old" not in filled
    assert filled.endswith("<!-- end -->\nafter\n")
    assert render(filled, "en") == filled


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("name", DRAWN)
def test_pictures_of_the_documents_are_those_of_the_recorded_results(name: str, lang: str) -> None:
    kept = (ROOT / PICTURES / f"{name}.{lang}.svg").read_text(encoding="utf-8")
    assert numbers_in(kept) == numbers_in(picture(name, lang)), "run `make tables`"
    assert len(numbers_in(kept)) > 10 and "var(" not in kept
    shown = f"../pictures/{name}.{lang}.svg)"
    assert sum(shown in path.read_text(encoding="utf-8") for path in (ROOT / "docs" / lang).glob("*.md")) == 1


def test_pictures_are_drawn_beside_the_documents_when_their_numbers_are_others(tmp_path: Path) -> None:
    write_pictures(tmp_path)
    paths = sorted((tmp_path / PICTURES).iterdir())
    assert [path.name for path in paths] == [f"{name}.{lang}.svg" for name in sorted(DRAWN) for lang in ("en", "ko")]
    kept, old = (path.read_text(encoding="utf-8") for path in paths[:2])
    paths[0].write_text(f"{kept}<!-- another version of matplotlib -->", encoding="utf-8")
    paths[1].write_text(old.replace("<title>", "<title>1", 1), encoding="utf-8")
    write_pictures(tmp_path)
    assert [path.read_text(encoding="utf-8") for path in paths[:2]] == [
        f"{kept}<!-- another version of matplotlib -->",
        old,
    ]


def test_tables_speak_both_languages() -> None:
    assert "표 3의 행" in markdown("table3", "ko")
    assert "표 3의 행" not in markdown("table3", "en")


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_korean_table_holds_no_english_words_of_ours(name: str) -> None:
    """Every English word of a sentence that has a Korean one; names of models and packages stay as they are."""
    ours = re.compile(
        r"\b(cores|no accelerator|commit|tokens|layers|eager|compiled|empty|program|after|imports|median)\b"
    )
    assert not ours.search(markdown(name, "ko"))
    assert not re.search(r"[가-힣]", markdown(name, "en"))
