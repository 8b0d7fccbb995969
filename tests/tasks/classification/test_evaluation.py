from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glassformer.config.values import Choice
from glassformer.data.corpus import Corpus
from glassformer.data.texts import Texts
from glassformer.errors import ConfigError, GlassformerWarning, InputError
from glassformer.files import without_nan
from glassformer.loading import load
from glassformer.tasks.classification import evaluation as classification
from glassformer.tasks.classification.evaluation import (
    ClassificationEvaluation,
    ClassificationScores,
    Guesses,
    evaluate_classification,
)
from glassformer.tasks.evaluation import evaluate
from glassformer.tasks.evaluation_log import EvaluationLog
from glassformer.tasks.result import EvaluationOptions
from small_classifier import REVIEWS, trained, write_tsv

TEXTS, LABELS = [text for text, _ in REVIEWS], [label for _, label in REVIEWS]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return trained(tmp_path)


def grouped(monkeypatch: pytest.MonkeyPatch, groups: dict[str, Texts]) -> None:
    monkeypatch.setattr(classification, "labelled_corpus", lambda config: Corpus(config, lambda split: groups))


def test_scores_by_hand() -> None:
    found = ClassificationScores.of(
        Guesses(np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3]]), np.array([0, 0, 1, 1]))
    )
    assert (found.examples, found.accuracy.hits, found.majority) == (4, 3, 0.5)
    assert found.confusion.tolist() == [[2, 0], [1, 1]]
    assert found.loss == pytest.approx(-np.log([0.9, 0.6, 0.8, 0.3]).mean())
    assert found.f1.macro == pytest.approx((4 / 5 + 2 / 3) / 2)
    assert [(one.true, one.predicted, one.count) for one in found.most_confused] == [(1, 0, 1)]


def test_what_is_impossible_has_a_loss_that_is_finite() -> None:
    assert np.isfinite(ClassificationScores.of(Guesses(np.array([[1.0, 0.0]]), np.array([1]))).loss)


def test_what_was_learned_by_heart_is_right(run: Path) -> None:
    seen: list[tuple[int, int]] = []
    found = evaluate(run, "test", progress=lambda done, total: seen.append((done, total)))
    assert isinstance(found, ClassificationEvaluation)
    assert (found.total.accuracy.hits, found.total.examples, found.labels) == (40, 40, ("bad", "good"))
    assert found.hypotheses == {"test": LABELS}
    assert found.total.calibration.error < 0.1 and found.total.majority == 0.5
    assert seen[-1] == (40, 40)


def test_the_order_of_the_texts_is_kept_whatever_their_lengths(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grouped(monkeypatch, {"validation": Texts(TEXTS[::-1], LABELS[::-1])})
    monkeypatch.setattr(classification, "AT_ONCE", 7)
    assert evaluate(run).hypotheses["validation"] == LABELS[::-1]


def test_groups_and_what_stands_apart(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Texts(TEXTS[:4], ["bad", "good", "good", "bad"])
    groups = {"seen-like": Texts(TEXTS, LABELS), "verb-place": Texts(TEXTS[:5], LABELS[:5]), "long": wrong}
    grouped(monkeypatch, groups)
    found = evaluate_classification(load(run), "test", EvaluationOptions())
    assert (found.apart, found.total.examples, found.total.accuracy.hits) == (("long",), 45, 45)
    assert found.groups["long"].accuracy.hits == 0
    grouped(monkeypatch, {"long": Texts(TEXTS, LABELS)})
    assert evaluate(run, "test").total.examples == 40


def test_the_json_is_plain_and_the_reading_written_down(run: Path) -> None:
    table = evaluate(run, "validation").to_json()
    assert {"accuracy", "f1", "calibration_error", "loss", "examples", "confusion", "labels", "groups"} <= set(table)
    assert json.loads(json.dumps(without_nan(table)))["confusion"] == [[20, 0], [0, 20]]
    assert [evaluate(run, "test").readings for _ in range(2)] == [1, 2]
    last = EvaluationLog(run).read()[-1]
    assert (last["split"], last["accuracy"]) == ("test", 1.0)


def test_the_confused_are_named(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grouped(monkeypatch, {"test": Texts(TEXTS[:4], ["good", "bad", "bad", "bad"])})
    table = evaluate(run, "test").to_json()
    assert table["most_confused"] == [{"true": "bad", "said": "good", "count": 1, "share": pytest.approx(1 / 3)}]


def test_a_label_that_was_never_learned(run: Path, tmp_path: Path) -> None:
    loaded = load(run)
    path = write_tsv(tmp_path / "test.tsv", [("영화 좋다", "good"), ("영화 나쁘다", "awful")])
    source = Choice("files", {**loaded.config.data.source.options, "test": path})
    other = replace(loaded, config=replace(loaded.config, data=replace(loaded.config.data, source=source)))
    with pytest.raises(InputError, match="the label 'awful' of text 2 in the part 'test' is not among those learned"):
        evaluate(other, "test")
    assert not [line for line in EvaluationLog(run).read() if line["split"] == "test"]


def test_what_is_refused(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="forensics compares conventions of BLEU, and the task 'classification' says"):
        evaluate(run, forensics=True)
    with pytest.raises(ConfigError, match="split='dev' is unknown"):
        evaluate(run, "dev")
    grouped(monkeypatch, {})
    with pytest.raises(InputError, match=r"the split 'test' of .* holds no examples"):
        evaluate(run, "test")


def test_a_run_that_cannot_be_written_into_is_scored_all_the_same_and_it_is_said(run: Path) -> None:
    written = evaluate(run)
    (run / "evaluations.jsonl").unlink()
    (run / "evaluations.jsonl").mkdir()
    with pytest.warns(GlassformerWarning, match=r"evaluations\.jsonl cannot be written \(Is a directory\)"):
        assert evaluate(run).to_json() == written.to_json()


# --- how it is shown ---

HANGUL = re.compile(r"[가-힣]")
GUESSES = Guesses(np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3]]), np.array([0, 0, 1, 1]))


def judged(groups: int = 3) -> ClassificationEvaluation:
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
    shown, html = repr(judged()), judged()._repr_html_()
    for word in (*words, "seen-like", "verb-place", "75.00", "50.00", "step-00000120", "cold", "warm"):
        assert word in shown and word in html, word
    assert bool(HANGUL.search(html)) is bool(HANGUL.search(shown)) is (lang == "ko")


def test_one_group_is_the_split_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    assert "all" not in repr(judged(1)).split() and "seen-like" not in repr(judged(1))
    assert "all" in repr(judged(2)).split()


def test_a_matrix_that_does_not_fit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    many = ClassificationScores.of(Guesses(np.eye(13)[[0, 1]], np.array([0, 1])))
    labels = tuple(f"label {i}" for i in range(13))
    wide = replace(judged(1), labels=labels, total=many, groups={"test": many})
    assert "said →" in repr(judged()) and "said →" not in repr(wide)


def test_what_is_never_confused_is_not_mentioned() -> None:
    right = ClassificationScores.of(Guesses(np.eye(2), np.array([0, 1])))
    assert not [note for note in replace(judged(), total=right).notes("en") if "taken for" in note]
