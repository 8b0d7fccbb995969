from __future__ import annotations

import math

import pytest

from glassformer.bench.initial_loss import table
from glassformer.bench.record import RESULTS, BenchResult


def test_normal_starts_at_ln_v_and_the_tied_matrix_of_the_paper_above() -> None:
    numbers = BenchResult.read(RESULTS / "initial-loss.json").numbers
    excess = {
        (row["init"], row["norm_order"]): row["loss"] / math.log(numbers["vocab_size"]) - 1 for row in numbers["rows"]
    }
    assert all(abs(excess["normal", order]) < 0.05 for order in ("post", "pre"))
    assert all(excess["paper", order] > 0.02 for order in ("post", "pre"))


@pytest.mark.parametrize(("lang", "title"), [("en", "initialisation"), ("ko", "초기화")])
def test_the_table_gives_the_excess(lang: str, title: str) -> None:
    row = {"init": "paper", "norm_order": "pre", "loss": 2 * math.log(10), "deviation": 1.5}
    rows = table({"vocab_size": 10, "rows": [row]}, lang)
    assert rows[0][0] == title
    assert rows[1] == ["paper", "pre", "1.50", "4.61", "+100.0 %"]
