from __future__ import annotations

import re
from pathlib import Path

import pytest

from glassformer.bench.record import RESULTS, BenchResult
from glassformer.bench.translation import RUNS, SEARCHES, table
from glassformer.data.grammar import KINDS
from glassformer.loading import recipes
from glassformer.tasks.search import SearchOptions


@pytest.mark.parametrize(("device", "file"), [("cpu", "translation.json"), ("cuda", "translation.h200.json")])
def test_every_recipe_exists_and_every_seed_was_recorded(device: str, file: str) -> None:
    assert set(RUNS[device]) <= set(recipes())
    rows = BenchResult.read(RESULTS / file).numbers["rows"]
    expected = {(name, seed) for name, seeds in RUNS[device].items() for seed in seeds}
    assert {(row["recipe"], row["seed"]) for row in rows} == expected


def test_the_built_in_translator_says_99_percent_of_unseen_combinations_right() -> None:
    rows = BenchResult.read(RESULTS / "translation.json").numbers["rows"]
    for beam in {row.get("beam") for row in rows}:
        kinds = {row["test"]: row["exact"] for row in rows if row.get("beam") == beam}
        assert set(kinds) == set(KINDS)
        assert sum(exact for kind, exact in kinds.items() if kind != "long") / (len(KINDS) - 1) >= 0.99


def test_the_table_is_of_what_the_demo_does_and_of_what_evaluate_does() -> None:
    """`make demo` searches greedily, `evaluate` by itself with a beam: long sentences come out differently."""
    makefile = (Path(__file__).parents[2] / "Makefile").read_text()
    (demo,) = re.findall(r"glassformer evaluate runs/demo --split test --beam (\d+)", makefile)
    assert {search.beam for search in SEARCHES["ko-en"]} == {int(demo), SearchOptions().beam}


@pytest.mark.parametrize(("lang", "tokens"), [("en", "sacreBLEU 13a, cased"), ("ko", "sacreBLEU 13a, 대소문자 구분")])
def test_the_table_says_on_which_tokens(lang: str, tokens: str) -> None:
    row = {"recipe": "x", "seed": 0, "test": "t", "tokens": "13a", "bleu": 12.345, "exact": 0.5}
    assert table({"rows": [row]}, lang)[1] == ["x", "t", "0", "5", tokens, "12.35", "50.0 %"]
    assert table({"rows": [{**row, "beam": 1}]}, lang)[1][3] == "1"
