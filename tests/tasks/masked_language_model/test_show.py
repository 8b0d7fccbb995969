from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.metrics.interval import wilson
from glassformer.tasks.masked_language_model.evaluation import MaskedEvaluation, MaskedScores
from glassformer.tasks.masked_language_model.show import notes


def evaluation(**changes: object) -> MaskedEvaluation:
    scores = MaskedScores(20, wilson(90, 100), 0.5, wilson(95, 100), wilson(95, 100))
    plain = MaskedEvaluation(
        folder=Path("fill"),
        checkpoint="best",
        split="test",
        total=scores,
        groups={"seen-like": scores, "long": scores},
        apart=("long",),
        readings=2,
        hypotheses={},
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_a_table_for_a_terminal_and_a_notebook() -> None:
    text = repr(evaluation())
    for part in (
        "fill, test (best)",
        "all but long",
        "95.00 [88.82–97.85]",
        "90.00 [82.56–94.48]",
        "0.5000",
        ": 2, see evaluations.jsonl",
    ):
        assert part in text, text
    assert "95.00" in evaluation()._repr_html_()


def test_one_group_has_the_name_of_its_split() -> None:
    alone = evaluation(groups={"test": evaluation().total}, apart=())
    assert "all" not in repr(alone).split("In brackets")[0]
    assert "│ all " in repr(evaluation(apart=()))


def test_what_nobody_knows_is_a_dash_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = evaluation(total=replace(evaluation().total, determined=None))
    assert "–" in repr(unknown)
    assert any(note.startswith("Determined words: unknown") for note in notes(unknown, "en"))
    assert any(note.startswith("Determined: the translation") for note in notes(evaluation(), "en"))
    assert any(note.startswith("정답이 하나뿐인 낱말") for note in notes(evaluation(split="validation"), "ko"))
