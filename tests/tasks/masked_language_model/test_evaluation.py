from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glassformer.config.recipe import DataConfig
from glassformer.config.values import Choice
from glassformer.data import grammar
from glassformer.data.corpus import Corpus
from glassformer.data.document_corpus import document_corpus
from glassformer.data.documents import Documents
from glassformer.errors import ConfigError, InputError
from glassformer.loading import load
from glassformer.metrics.interval import wilson
from glassformer.runs import Run
from glassformer.tasks.evaluation import evaluate
from glassformer.tasks.evaluation_log import EvaluationLog
from glassformer.tasks.masked_language_model import evaluation as masked
from glassformer.tasks.masked_language_model.evaluation import MaskedEvaluation, MaskedScores, _all_right, determined
from glassformer.tasks.masked_language_model.fill import fill
from glassformer.training.begin import begin
from glassformer.training.loop import train
from tiny_tasks import tiny

NAME = "masked_language_model"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("masked") / "run"
    job = begin(tiny(NAME, train={"steps": 150, "batch_tokens": 256, "evaluate_every": 150, "save_every": 150}), folder)
    list(train(job))
    return folder


@pytest.mark.slow
def test_a_word_is_what_fill_says_first(run: Path) -> None:
    loaded = load(run)
    found = evaluate(loaded, "validation")
    texts = [" ".join(text.split()) for text in document_corpus(loaded.config.data).validation]
    hits = total = 0
    for text, said in zip(texts, found.hypotheses["validation"], strict=True):
        words = text.split()
        for i, word in enumerate(words):
            (gap,) = fill(loaded, " ".join([*words[:i], "___", *words[i + 1 :]]), top=1)
            known = loaded.tokenizer.encode(word) != [loaded.tokenizer.specials.unk]
            hits, total = hits + (known and gap.candidates[0].word == word), total + 1
            assert gap.candidates[0].word == said.split()[i]
    assert (found.total.words.hits, found.total.words.total) == (hits, total)
    assert found.total.words.value > 0.1


@pytest.mark.slow
def test_groups_of_the_test_set_and_the_json(run: Path) -> None:
    seen: list[tuple[int, int]] = []
    found = evaluate(run, "test", progress=lambda done, total: seen.append((done, total)))
    assert tuple(found.groups) == grammar.KINDS and found.apart == ("long",)
    main = [one for name, one in found.groups.items() if name != "long"]
    assert found.total.texts == sum(one.texts for one in main) == 16
    assert found.total.masked.total == sum(one.masked.total for one in main)
    assert found.total.words.hits == sum(one.words.hits for one in main)
    assert found.total.determined == found.total.words
    assert seen[-1] == (20, 20)
    table = found.to_json()
    assert {"words", "determined", "masked", "loss", "groups", "readings", "details"} <= set(table)
    assert EvaluationLog(run).read()[-1]["determined"] == table["determined"] == found.total.words.value
    assert found.readings == 1 and evaluate(run, "test").readings == 2


def test_validation_tells_what_training_saw(run: Path) -> None:
    """The same masks, the same weights: the same loss."""
    logged = [record for record in Run.open(run).log.read() if record["kind"] == "evaluation"]
    found = evaluate(run, checkpoint="last").total
    assert (found.loss, found.masked.value) == pytest.approx((logged[-1]["loss"], logged[-1]["masked_accuracy"]))


def test_only_a_translation_beside_it_determines_a_word() -> None:
    joined = Choice("grammar", {"sides": "joined"})
    assert determined(DataConfig(source=joined))
    assert not determined(DataConfig(source=Choice("grammar", {"sides": "each"})))
    assert not determined(DataConfig(source=Choice("files", {"train": "a.txt"})))


@pytest.mark.slow
def test_a_pair_that_agrees_on_one_side_agrees_on_the_other() -> None:
    """What `determined` rests on; tests/data/grammar says it of 300,000."""
    pairs = [grammar.sentence(index, level="small") for index in range(3000)]
    for one, other in (("source_ko", "target_en"), ("target_en", "source_ko")):
        both = {(vars(pair)[one], vars(pair)[other]) for pair in pairs}
        assert len({side for side, _ in both}) == len(both)


def test_without_a_translation_there_is_no_such_number(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load(run)
    data = replace(loaded.config.data, source=Choice("grammar", {"sides": "one", "count": 60}))
    found = evaluate(replace(loaded, config=replace(loaded.config, data=data)))
    assert found.total.determined is None and found.to_json()["details"]["determined"] is None


def test_a_word_is_right_with_all_of_its_pieces() -> None:
    right = np.array([True, True, False, True, False])
    assert _all_right(right, np.array([0, 0, 1, 1, 2])).tolist() == [True, False, False]


def test_of_many_texts_some_are_taken(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masked, "GAPS", 40)
    found = evaluate(run, "validation")
    assert found.total.texts < 10 and found.total.words.total < 80


def test_nothing_to_score_and_nothing_to_compare(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="says no sentences; leave --forensics out"):
        evaluate(run, forensics=True)
    monkeypatch.setattr(masked, "document_corpus", lambda config: Corpus(config, lambda split: {"test": Documents([])}))
    with pytest.raises(InputError, match=r"the split 'test' of .* holds no examples"):
        evaluate(run, "test")


# --- how it is shown ---


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
    assert any(note.startswith("Determined words: unknown") for note in unknown.notes("en"))
    assert any(note.startswith("Determined: the translation") for note in evaluation().notes("en"))
    assert any(note.startswith("정답이 하나뿐인 낱말") for note in evaluation(split="validation").notes("ko"))
