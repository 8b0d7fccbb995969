from __future__ import annotations

import re
from pathlib import Path

import pytest

from glassformer.data.corpus import Corpus
from glassformer.data.pairs import Pairs
from glassformer.loading import load
from glassformer.tasks.evaluation_options import EvaluationOptions
from glassformer.tasks.translation import evaluation as translation
from glassformer.tasks.translation.evaluation import TranslationEvaluation, evaluate_translation
from glassformer.tasks.translation.translate import GREEDY
from small_translator import ENGLISH, KOREAN, trained

HANGUL = re.compile(r"[가-힣]")


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TranslationEvaluation:
    some = Pairs(KOREAN[:8], ENGLISH[:8])
    groups = {"seen-like": some, "verb-place": some, "long": some}
    monkeypatch.setattr(translation, "corpus", lambda config: Corpus(lambda split: groups))
    return evaluate_translation(load(trained(tmp_path)), "test", EvaluationOptions(search=GREEDY, forensics=True))


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
