from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from glassformer.bench.families import CASES, LIMITS, differences, table
from glassformer.bench.record import RESULTS, BenchResult
from glassformer.bench.references import VARIANTS


def twice(model: float) -> Tensor:
    return torch.tensor([1.0, 2.0]) * model


def test_the_largest_difference_of_each_case() -> None:
    asked = {"whole": [(twice, twice), (twice, lambda model: twice(model) + torch.tensor([0.0, 4.0]))]}
    assert differences(asked, 2.0, 2.0) == {"whole": 4.0}
    assert differences(asked, 2.0, 2.0, relative=True) == {"whole": 0.5}


def test_answers_of_different_shapes_are_not_compared() -> None:
    with pytest.raises(AssertionError):
        differences({"whole": [(twice, lambda model: twice(model)[:1])]}, 1.0, 1.0)


@pytest.mark.parametrize(("lang", "title"), [("en", "keys left over"), ("ko", "남은 키")])
def test_the_table_shows_every_case(lang: str, title: str) -> None:
    row: dict[str, Any] = {"variant": "bert", "architecture": "BertModel", "aside": []}
    row |= {"parameters": 12345, "ours": 12345}
    gaps = {"whole": 2e-15, "right": 0.0, "left": 3e-14}
    row |= {"lifted": gaps, "float64": gaps, "float32": {"whole": 4e-7, "right": 1e-7}}
    rows = table({"transformers": "5.0", "rows": [row]}, lang)
    assert "transformers 5.0" in rows[0][1]
    assert rows[0][3] == title
    assert rows[1] == ["bert", "BertModel", "12,345", "0", "2e-15", "0", "3e-14", "–", "3e-14", "4e-07"]


def test_the_recorded_differences_are_within_the_bounds() -> None:
    rows = BenchResult.read(RESULTS / "families.json").numbers["rows"]
    assert [row["variant"] for row in rows] == list(VARIANTS)
    for row in rows:
        assert row["ours"] == row["parameters"] and row["aside"] == []
        for kind, limit in LIMITS.items():
            assert set(row[kind]) <= set(CASES)
            assert all(gap <= limit for gap in row[kind].values())
