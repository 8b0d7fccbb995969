from __future__ import annotations

import torch

from glassformer.layers.queries import LearnedQueries
from glassformer.ledger.rows import rows_of_box
from glassformer.trace.record import record


def test_every_example_begins_with_the_same_vectors() -> None:
    queries = LearnedQueries(queries=3, d_model=4)
    with record(queries) as trace:
        x = queries(2)
    assert x.shape == (2, 3, 4)
    assert torch.equal(x[0], queries.weight) and torch.equal(x[1], queries.weight)
    assert trace.names() == ["output"]


def test_all_examples_teach_the_same_vectors() -> None:
    queries = LearnedQueries(queries=2, d_model=3)
    queries(5).sum().backward()
    assert queries.weight.grad is not None
    assert torch.equal(queries.weight.grad, torch.full((2, 3), 5.0))


def test_the_account_by_hand() -> None:
    (row,) = rows_of_box(LearnedQueries, {"queries": 8, "d_model": 96})
    assert (row.formula, row.numbers, row.parameters) == ("queries×d_model", "8×96", 768)
