from __future__ import annotations

import math
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
import torch
from rich.console import Console

from glassformer.config.recipe import DataConfig
from glassformer.data.corpus import Corpus
from glassformer.data.document_corpus import document_corpus
from glassformer.data.documents import Documents
from glassformer.errors import InputError
from glassformer.loading import load
from glassformer.metrics.interval import wilson
from glassformer.metrics.language import NGrams, perplexity
from glassformer.show import Table
from glassformer.tasks.evaluation import evaluate
from glassformer.tasks.evaluation_log import EvaluationLog
from glassformer.tasks.language_model import evaluation as language_model
from glassformer.tasks.language_model.evaluation import COLUMNS, LanguageModelEvaluation, WritingScores
from glassformer.tasks.language_model.write import Pen, Writing, drawn, write
from glassformer.words import LANGUAGES
from small_writer import trained


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("packed"), documents="packed")


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("stream"), documents="stream")


def test_a_text_within_the_context_is_judged_in_one_pass(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load(packed)
    texts = {split: Documents(["Jihun has a hat", "Korean is fun"]) for split in ("train", "validation")}
    monkeypatch.setattr(
        language_model, "document_corpus", lambda data: Corpus(data, lambda split: {split: texts[split]})
    )
    total = evaluate(loaded, "validation").total
    nats = 0.0
    for text in texts["validation"]:
        ids = torch.tensor([[1, *loaded.tokenizer.encode(text), 2]])
        with torch.no_grad():
            logits = loaded.model(ids[:, :-1])
        nats += torch.nn.functional.cross_entropy(logits[0], ids[0, 1:], reduction="sum").item()
    assert (total.characters, total.surprise.tokens) == (28, 30)
    assert total.surprise.nats == pytest.approx(nats / 30, rel=1e-5) == pytest.approx(total.in_windows, rel=1e-5)
    assert total.bits_per_character == pytest.approx(nats / math.log(2) / 28, rel=1e-5)


def test_n_grams_are_counted_in_the_training_texts_and_chosen_by_the_validation_texts(packed: Path) -> None:
    found = evaluate(packed, "test")
    texts = document_corpus(load(packed).config.data)
    counted = NGrams.fit(texts.train.texts)
    assert found.order == counted.best_order(texts.validation.texts)
    assert found.apart == ("long",) and len(found.groups) == 5
    some = texts.test["verb-place"]
    nats = counted.nats(some.texts)[found.order]
    assert found.groups["verb-place"].n_grams[found.order] == pytest.approx(nats / math.log(2) / some.characters)
    assert found.total.characters == sum(
        len(text) for name in texts.test if name != "long" for text in texts.test[name]
    )


def test_the_first_token_of_a_stream_is_given(stream: Path) -> None:
    loaded = load(stream)
    found = evaluate(loaded)
    texts = document_corpus(loaded.config.data).validation
    assert found.total.characters == texts.characters - 1
    assert found.total.surprise.tokens == texts.characters + len(texts) - 1 - 1
    assert found.total.in_windows != found.total.surprise.nats
    assert found.groups["validation"] is found.total and found.apart == ()


def test_the_future_does_not_change_what_was_foreseen(stream: Path) -> None:
    """Causality, end to end: another ending of the text leaves the surprise at its beginning as it was."""
    loaded = load(stream)
    row = np.random.default_rng(0).integers(263, loaded.tokenizer.vocab_size, 60).astype(np.int32)
    other = row.copy()
    other[40:] = np.random.default_rng(1).integers(263, loaded.tokenizer.vocab_size, 20)
    both = [language_model.foresee(loaded.model, [some[:41]], 24).nats for some in (row, other)]
    assert row[40] != other[40] and both[0] != both[1]
    same = [language_model.foresee(loaded.model, [some[:40]], 24).nats for some in (row, other)]
    assert same[0] == same[1]


def test_every_reading_is_written_down_and_the_json_has_its_keys(stream: Path) -> None:
    before = EvaluationLog(stream).count("train")
    found = evaluate(stream, "train")
    assert found.readings == before + 1 == EvaluationLog(stream).count("train")
    table, last = found.to_json(), EvaluationLog(stream).read()[-1]
    assert {"loss", "perplexity", "bits_per_character", "accuracy", "n_gram", "n_grams", "groups"} <= set(table)
    assert last["bits_per_character"] == table["bits_per_character"] and last["split"] == "train"
    assert table["n_gram"]["bits_per_character"] == table["n_grams"][str(found.order)]
    assert found.hypotheses == {}


def test_progress_is_told(stream: Path) -> None:
    seen: list[tuple[int, int]] = []
    evaluate(stream, progress=lambda done, total: seen.append((done, total)))
    assert seen and seen[-1][0] == seen[-1][1]


def test_a_split_without_texts(stream: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = Corpus(DataConfig(), lambda split: {} if split == "test" else {split: Documents(["text"])})
    monkeypatch.setattr(language_model, "document_corpus", lambda data: empty)
    with pytest.raises(InputError, match=r"the split 'test' of .* holds no examples"):
        evaluate(stream, "test")


def test_it_shows_itself(stream: Path) -> None:
    found = evaluate(stream)
    assert "bits/character" in repr(found) and "<th>bits/character</th>" in found._repr_html_()


@pytest.mark.parametrize("way", ["packed", "stream"])
def test_what_was_trained_writes_piece_by_piece(way: str, request: pytest.FixtureRequest) -> None:
    loaded = load(request.getfixturevalue(way))
    pen = Pen(loaded, "Jihun", Writing(tokens=30, sampling=drawn(temperature=1.0), seed=0))
    pieces = list(pen)
    assert len(pieces) > 1 and "".join(pieces) == pen.written.text
    assert pen.ids[0] == (loaded.tokenizer.specials.bos if way == "packed" else loaded.tokenizer.encode("J")[0])
    assert write(loaded, "", Writing(tokens=3)).tokens <= 3


# --- how it is shown ---


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


def table(of: LanguageModelEvaluation) -> Table:
    first = of.shown("en").parts[0]
    assert isinstance(first, Table)
    return first


@pytest.mark.parametrize("lang", LANGUAGES)
def test_model_and_n_grams_stand_side_by_side(lang: str) -> None:
    console = Console(width=160, highlight=False)
    with console.capture() as shown:
        console.print(evaluation().shown(lang))
    text = shown.get()
    for part in ("letters", "2.0000", "2.5000", "60.0", "1.7500", "4.482", "64", "32"):
        assert part in text
    assert len(table(evaluation()).columns) == len(COLUMNS)


def test_it_is_said_plainly_whether_counting_is_beaten() -> None:
    assert "0.5000 bits/character below the n-grams" in " ".join(evaluation(2.0).notes("en"))
    worse = " ".join(evaluation(2.75).notes("en"))
    assert "NOT below the n-grams: 0.2500 bits/character above" in worse
    assert "낮지 않습니다" in " ".join(evaluation(2.75).notes("ko"))


def test_groups_come_first_and_all_together_last() -> None:
    alone, both = table(evaluation()), table(evaluation(groups=2))
    assert ([row.cells[0] for row in alone.rows], [row.cells[0] for row in alone.totals]) == ([], ["test"])
    assert [row.cells[0] for row in both.rows] == ["seen-like", "long"]
    assert [row.cells[0] for row in both.totals] == ["all but long"]
