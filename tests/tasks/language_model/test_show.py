from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import pytest
from rich.console import Console

from glassformer.metrics.interval import wilson
from glassformer.metrics.language import perplexity
from glassformer.tasks.language_model.evaluation import LanguageModelEvaluation, WritingScores
from glassformer.tasks.language_model.show import COLUMNS, columns, notes, rows, tables
from glassformer.words import LANGUAGES


def scores(bits: float) -> WritingScores:
    return WritingScores(
        surprise=perplexity(150.0, 100),
        bits_per_character=bits,
        characters=95,
        accuracy=wilson(60, 100),
        in_windows=1.75,
        n_grams=MappingProxyType({1: 4.5, 2: 3.5, 3: 2.5}),
    )


def evaluation(bits: float = 2.0, groups: int = 1) -> LanguageModelEvaluation:
    names = ["test"] if groups == 1 else ["seen-like", "long"]
    return LanguageModelEvaluation(
        folder=Path("runs/letters"),
        checkpoint="averaged",
        split="test",
        context=64,
        order=3,
        total=scores(bits),
        groups={name: scores(bits) for name in names},
        apart=("long",) if groups > 1 else (),
        readings=2,
    )


@pytest.mark.parametrize("lang", LANGUAGES)
def test_model_and_n_grams_stand_side_by_side(lang: str) -> None:
    console = Console(width=160, highlight=False)
    with console.capture() as shown:
        console.print(tables(evaluation(), lang))
    text = shown.get()
    for part in ("letters", "2.0000", "2.5000", "60.0", "1.7500", "4.482", "64", "32"):
        assert part in text
    assert len(columns(evaluation(), lang)) == len(COLUMNS)


def test_it_is_said_plainly_whether_counting_is_beaten() -> None:
    assert "0.5000 bits/character below the n-grams" in " ".join(notes(evaluation(2.0), "en"))
    worse = " ".join(notes(evaluation(2.75), "en"))
    assert "NOT below the n-grams: 0.2500 bits/character above" in worse
    assert "낮지 않습니다" in " ".join(notes(evaluation(2.75), "ko"))


def test_groups_come_first_and_all_together_last() -> None:
    assert [cells[0] for cells, _ in rows(evaluation(), "en")] == ["test"]
    assert [(cells[0], bold) for cells, bold in rows(evaluation(groups=2), "en")] == [
        ("seen-like", False),
        ("long", False),
        ("all but long", True),
    ]
