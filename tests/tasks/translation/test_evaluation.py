from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from glassformer.data.corpus import Corpus
from glassformer.data.pairs import Pairs
from glassformer.errors import ConfigError, GlassformerWarning, InputError
from glassformer.loading import load
from glassformer.tasks.evaluation import evaluate
from glassformer.tasks.evaluation_log import EvaluationLog
from glassformer.tasks.search import GREEDY
from glassformer.tasks.translation import evaluation as translation
from glassformer.tasks.translation.evaluation import TranslationEvaluation, total_loss
from small_translator import ENGLISH, KOREAN, trained


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return trained(tmp_path)


def test_what_was_learned_by_heart_is_right(run: Path) -> None:
    seen: list[tuple[int, int]] = []
    found = evaluate(run, "test", progress=lambda done, total: seen.append((done, total)))
    assert (found.total.exact.hits, found.total.sentences) == (20, 20)
    assert found.total.bleu.value == pytest.approx(100)
    assert 0 < found.total.surprise.nats < 0.5
    assert found.hypotheses == {"test": ENGLISH}
    assert (found.groups["test"], found.apart, found.forensics) == (found.total, (), [])
    assert seen[-1] == (20, 20)


def test_every_reading_of_the_test_set_is_written_down(run: Path) -> None:
    assert evaluate(run, "validation", GREEDY).readings == 1
    assert [evaluate(run, "test", GREEDY).readings for _ in range(2)] == [1, 2]
    last = EvaluationLog(run).read()[-1]
    assert (last["split"], last["checkpoint"], last["exact"]) == ("test", "step-00000120", 1.0)
    assert last["search"]["beam"] == 1


def test_the_json_has_the_keys_of_the_contract(run: Path) -> None:
    table = evaluate(load(run), search=GREEDY).to_json()
    assert {"bleu", "signature", "chrf", "sentences", "loss", "groups", "readings"} <= set(table)
    assert (table["split"], table["checkpoint"]) == ("validation", "step-00000120")


def grouped(monkeypatch: pytest.MonkeyPatch, groups: dict[str, Pairs]) -> None:
    monkeypatch.setattr(translation, "pair_corpus", lambda config: Corpus(config, lambda split: groups))


def test_long_sentences_stand_apart(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Pairs(KOREAN[:4], ["something else entirely here"] * 4)
    groups = {"seen-like": Pairs(KOREAN, ENGLISH), "verb-place": Pairs(KOREAN[:5], ENGLISH[:5]), "long": wrong}
    grouped(monkeypatch, groups)
    found = evaluate(run, "test", GREEDY)
    assert found.apart == ("long",)
    assert (found.total.sentences, found.total.exact.hits) == (25, 25)
    assert found.groups["long"].exact.hits == 0
    first, second = found.groups["seen-like"].surprise, found.groups["verb-place"].surprise
    both = (first.nats * first.tokens + second.nats * second.tokens) / (first.tokens + second.tokens)
    assert found.total.surprise.nats == pytest.approx(both)


def test_long_sentences_alone_are_the_main_number(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grouped(monkeypatch, {"long": Pairs(KOREAN, ENGLISH)})
    found = evaluate(run, "test", GREEDY)
    assert (found.apart, found.total.sentences) == ((), 20)


def test_the_conventions_side_by_side(run: Path) -> None:
    rows = {row.key: row for row in evaluate(run, forensics=True, search=GREEDY).forensics}
    assert rows["sacrebleu"].value == pytest.approx(100) and len(rows) >= 5


def test_conventions_of_text_that_is_cut_already_are_refused(run: Path) -> None:
    loaded = load(run)
    cut = replace(loaded, config=replace(loaded.config, data=replace(loaded.config.data, prepare="moses")))
    with pytest.raises(ConfigError, match="forensics needs text as it is, and prepare='moses' has cut it into tokens"):
        evaluate(cut, forensics=True)


def test_a_split_without_sentences_is_refused(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grouped(monkeypatch, {})
    with pytest.raises(InputError, match=r"the split 'test' of .* holds no examples; name another split"):
        evaluate(run, "test")
    assert not EvaluationLog(run).read()


def test_an_unknown_split_is_refused(run: Path) -> None:
    with pytest.raises(ConfigError, match="split='dev' is unknown; use one of: train, validation, test"):
        evaluate(run, "dev")


def test_a_run_that_cannot_be_written_into_is_scored_all_the_same_and_it_is_said(run: Path) -> None:
    written = evaluate(run)
    (run / "evaluations.jsonl").unlink()
    (run / "evaluations.jsonl").mkdir()
    with pytest.warns(GlassformerWarning, match=r"evaluations\.jsonl cannot be written \(Is a directory\)"):
        assert evaluate(run).to_json() == written.to_json()


# --- how it is shown ---

HANGUL = re.compile(r"[가-힣]")


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TranslationEvaluation:
    some = Pairs(KOREAN[:8], ENGLISH[:8])
    groups = {"seen-like": some, "verb-place": some, "long": some}
    monkeypatch.setattr(translation, "pair_corpus", lambda config: Corpus(config, lambda split: groups))
    found = evaluate(trained(tmp_path), "test", GREEDY, forensics=True)
    assert isinstance(found, TranslationEvaluation)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lang", "words"), [("en", ("all but long", ": 1, see evaluations.jsonl")), ("ko", ("long 제외 전체", "횟수: 1"))]
)
def test_everything_is_shown_in_either_language(
    found: TranslationEvaluation, lang: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", lang)
    shown, html = repr(found), found._repr_html_()
    for word in (*words, "seen-like", "verb-place", "100.0", "tok:13a", found.checkpoint):
        assert word in shown and word in html
    assert bool(HANGUL.search(html)) is bool(HANGUL.search(shown)) is (lang == "ko")


def test_no_signature_is_cut_off(found: TranslationEvaluation) -> None:
    assert "…" not in repr(found)


def test_html_is_well_formed(found: TranslationEvaluation) -> None:
    html = found._repr_html_()
    for tag in ("table", "tr", "td", "th", "p"):
        assert len(re.findall(rf"<{tag}(?: style=[^>]*)?>", html)) == html.count(f"</{tag}>") > 0


def test_the_sum_is_that_of_every_sentence_alone(tmp_path: Path) -> None:
    loaded = load(trained(tmp_path))
    pairs = Pairs(KOREAN * 2, ENGLISH * 2)  # more than one batch
    nats, tokens = total_loss(loaded, pairs)
    special, by_hand = loaded.vocabularies.target.specials, 0.0
    for source, target in pairs:
        ids = [*loaded.vocabularies.target.encode(target), special.need("eos")]
        given = torch.tensor([[*loaded.vocabularies.source.encode(source), special.need("eos")]])
        with torch.no_grad():
            logits = loaded.model(given, torch.tensor([[special.need("bos"), *ids[:-1]]]))
        by_hand -= float(logits[0].log_softmax(-1)[torch.arange(len(ids)), ids].sum())
    assert nats == pytest.approx(by_hand, rel=1e-4)
    assert tokens == sum(len(target.split()) + 1 for target in pairs.targets)
