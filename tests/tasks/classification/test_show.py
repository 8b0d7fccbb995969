from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glassformer.tasks.classification.evaluation import ClassificationEvaluation, ClassificationScores, Guesses
from glassformer.tasks.classification.show import notes

HANGUL = re.compile(r"[가-힣]")
GUESSES = Guesses(np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3]]), np.array([0, 0, 1, 1]))


def found(groups: int = 3) -> ClassificationEvaluation:
    scores = ClassificationScores.of(GUESSES)
    names = ("seen-like", "verb-place", "long")[:groups]
    return ClassificationEvaluation(
        folder=Path("runs/mood"),
        checkpoint="step-00000120",
        split="test",
        labels=("cold", "warm"),
        unit="texts",
        total=scores,
        groups=dict.fromkeys(names, scores),
        apart=("long",) if groups == 3 else (),
        readings=1,
        hypotheses={},
    )


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ("all but long", ": 1, see evaluations.jsonl", "warm taken for cold: 1")),
        ("ko", ("long 제외 전체", "횟수: 1")),
    ],
)
def test_everything_is_shown_in_either_language(
    lang: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", lang)
    shown, html = repr(found()), found()._repr_html_()
    for word in (*words, "seen-like", "verb-place", "75.00", "50.00", "step-00000120", "cold", "warm"):
        assert word in shown and word in html, word
    assert bool(HANGUL.search(html)) is bool(HANGUL.search(shown)) is (lang == "ko")


def test_one_group_is_the_split_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    assert "all" not in repr(found(1)).split() and "seen-like" not in repr(found(1))
    assert "all" in repr(found(2)).split()


def test_a_matrix_that_does_not_fit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    many = ClassificationScores.of(Guesses(np.eye(13)[[0, 1]], np.array([0, 1])))
    labels = tuple(f"label {i}" for i in range(13))
    wide = replace(found(1), labels=labels, total=many, groups={"test": many})
    assert "said →" in repr(found()) and "said →" not in repr(wide)


def test_what_is_never_confused_is_not_mentioned() -> None:
    right = ClassificationScores.of(Guesses(np.eye(2), np.array([0, 1])))
    assert not [note for note in notes(replace(found(), total=right), "en") if "taken for" in note]
