from __future__ import annotations

import torch

from glassformer.explorer.alignment import Alignment, align
from glassformer.explorer.answer_rows import AnswerRow, AnswerTable, in_one_table

SAME = Alignment("position", [(0, 0), (1, 1)])


def answers(
    kind: str, rows: list[AnswerRow], output: torch.Tensor, vocabulary: tuple[str, ...] = ("x", "y")
) -> AnswerTable:
    return AnswerTable(kind, rows[0].name, rows, "numbers" if kind == "numbers" else "distribution", vocabulary, output)


def test_rows_that_only_one_has_stand_alone() -> None:
    one = answers("tokens", [AnswerRow("a", "x", 0.9, 0), AnswerRow("b", "y", 0.8, 1)], torch.zeros(1, 2, 2))
    other = answers("tokens", [AnswerRow("b", "x", 0.7, 0)], torch.tensor([[[0.0, 40.0]]]))
    found = in_one_table(one, other, align(["a", "b"], ["b"], words=True))
    assert [(row["a"] and row["a"]["name"], row["b"] and row["b"]["name"]) for row in found["rows"]] == [
        ("a", None),
        ("b", "b"),
    ]
    assert [row["moved"] for row in found["rows"]] == [None, 0.5] and found["moved"] == 0.5
    assert (found["changed"], found["total"]) == (1, 1)


def test_only_gaps_are_rows_where_words_are_masked() -> None:
    one, other = (answers("tokens", [AnswerRow("[MASK]", "x", 1.0, 1)], torch.zeros(1, 2, 2)) for _ in range(2))
    assert len(in_one_table(one, other, SAME)["rows"]) == 1


def test_classes_belong_together_by_name() -> None:
    one = answers(
        "classes", [AnswerRow("no", None, 0.5, 0), AnswerRow("yes", None, 0.5, 1)], torch.zeros(1, 2), ("no", "yes")
    )
    other = answers(
        "classes",
        [AnswerRow("yes", None, 0.9, 0), AnswerRow("maybe", None, 0.1, 1)],
        torch.ones(1, 2),
        ("yes", "maybe"),
    )
    found = in_one_table(one, other, SAME)
    named = [tuple(row[side]["name"] if row[side] else None for side in "ab") for row in found["rows"]]
    assert named == [("no", None), ("yes", "yes"), (None, "maybe")]
    assert found["moved"] is None  # other classes: their probabilities cannot be subtracted
    assert (found["changed"], found["total"]) == (1, 1)


def test_answers_of_two_kinds_have_no_rows_in_common() -> None:
    one = answers("numbers", [AnswerRow("+1", "1.00", None, 0)], torch.zeros(1, 1))
    other = answers("tokens", [AnswerRow("a", "x", 0.9, 0)], torch.zeros(1, 1, 2))
    assert in_one_table(one, other, SAME) == {
        "kind": "",
        "measure": "numbers",
        "rows": [],
        "moved": None,
        "changed": 0,
        "total": 0,
    }
