from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from glassformer.bench import tasks
from glassformer.bench.record import RESULTS
from glassformer.loading import recipes

LEAST = {"sentiment": 0.99, "fill": 0.90, "digits": 0.98, "object-queries": 0.90}


def recorded() -> dict[str, dict[str, Any]]:
    rows = json.loads((RESULTS / "tasks.json").read_text())["numbers"]["rows"]
    return {row["recipe"]: row for row in rows}


@pytest.mark.parametrize("recipe", LEAST)
def test_the_recorded_tasks_reach_what_they_should(recipe: str) -> None:
    assert recorded()[recipe]["value"] >= LEAST[recipe]


def test_the_recorded_characters_are_foreseen_better_than_by_counting() -> None:
    row = recorded()["characters"]
    assert row["value"] < row["beside"]


def test_every_recipe_of_the_benchmark_exists() -> None:
    assert {*tasks.RUNS, *tasks.ON_ACCELERATOR} <= {*recipes()}


def test_each_worker_has_two_cores() -> None:
    assert tasks._pairs([0, 1, 2, 3, 4]) == [[0, 1], [2, 3]]
    assert tasks._pairs([7]) == [[7]]


def test_a_number_inside_of_tables() -> None:
    assert tasks.at({"beside": {"persistence": {"mse": 2}}}, "beside.persistence.mse") == 2.0


@pytest.mark.slow
def test_a_recipe_is_trained_and_read_once(tmp_path: Path) -> None:
    from tiny_tasks import tiny

    found, seconds = tasks._trained(tiny("classification"), tmp_path / "run")
    assert 0 <= tasks.at(found, "accuracy") <= 1 and seconds > 0 and found["readings"] == 1


def test_the_table_in_both_languages() -> None:
    row = {"recipe": "characters", "metric": "bits_per_character", "form": "bits", "value": 0.7, "beside": 1.0}
    bare = {"recipe": "fill", "metric": "determined", "form": "share", "value": 0.96}
    assert tasks.table({"rows": [row, bare]}, "en")[1:] == [
        ["characters", "bits per character", "0.700", "1.000 n-grams, best order"],
        ["fill", "determined words found", "96.00 %", "–"],
    ]
    assert tasks.table({"rows": [row]}, "ko")[1][1] == "글자당 비트"
