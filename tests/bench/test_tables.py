from __future__ import annotations

import re

import pytest

from glassformer.bench import published, published_runs, table3
from glassformer.bench.catalogue import BENCHMARKS
from glassformer.bench.record import RESULTS, BenchResult
from glassformer.bench.tables import markdown, recorded, render


def test_every_benchmark_is_recorded() -> None:
    for name in BENCHMARKS:
        assert recorded(name), name


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
