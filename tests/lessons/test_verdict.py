"""The one rule of all verdicts. Above all: what shows nothing refutes nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.lessons.catalogue import LESSONS, lesson
from glassformer.lessons.lesson_results import LessonResults
from glassformer.lessons.record import RECORDED, LessonResult
from glassformer.lessons.statistics import difference, interval
from glassformer.lessons.texts import tables
from glassformer.lessons.verdict import WORDS, Side, Verdict, exact, greater, less, over, together, within
from glassformer.textbook.book import Page
from glassformer.textbook.tables import meanings
from glassformer.words import LANGUAGES, say

ROOT = Path(__file__).parents[2]
NUMBERS = st.floats(-10, 10, allow_nan=False).map(lambda x: round(x, 3))
WORD = st.sampled_from(["confirmed", "refuted", "undecided"])


def test_an_interval_decides() -> None:
    above, below, both = interval([1.0, 1.1, 1.2]), interval([-1.0, -1.1, -1.2]), interval([-1.0, 0.0, 1.1])
    assert [greater(one) for one in (above, below, both)] == ["confirmed", "refuted", "undecided"]
    assert [less(one) for one in (above, below, both)] == ["refuted", "confirmed", "undecided"]
    assert (
        greater(above, 0.5) == "confirmed" and greater(above, 5.0) == "refuted" and greater(above, 1.1) == "undecided"
    )
    assert within(above, 0.5, 2.0) == "confirmed" and within(above, 2.0, 3.0) == within(above, 0.0, 0.5) == "refuted"
    assert within(both, -1.0, 1.0) == "undecided"
    assert (exact(True), exact(False)) == ("confirmed", "refuted")


def test_one_seed_or_one_without_a_number_decides_nothing() -> None:
    for effect in (interval([5.0]), interval([5.0, float("nan"), 5.1])):
        assert greater(effect) == less(effect) == within(effect, 4.0, 6.0) == "undecided"


@given(st.lists(NUMBERS, min_size=2, max_size=12), NUMBERS)
def test_an_interval_that_holds_the_bound_is_undecided_and_nothing_else_is(values: list[float], bound: float) -> None:
    effect = interval(values)
    held = effect["low"] <= bound <= effect["high"]
    assert (greater(effect, bound) == "undecided") == held == (less(effect, bound) == "undecided")
    assert held or {greater(effect, bound), less(effect, bound)} == {"confirmed", "refuted"}


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [3, 5, 30])
def test_without_an_effect_nineteen_of_twenty_experiments_stay_undecided(seeds: int) -> None:
    random = np.random.default_rng(0)
    pairs = random.normal(size=(4000, 2, seeds))
    words = [greater(difference(*map(list, pair))) for pair in pairs]
    shares = {word: words.count(word) / len(words) for word in WORDS}
    assert shares["undecided"] == pytest.approx(0.95, abs=0.015)
    assert shares["refuted"] == pytest.approx(0.025, abs=0.01) and shares["confirmed"] == pytest.approx(0.025, abs=0.01)


def test_statements_of_one_sentence_and_conditions_of_one_claim() -> None:
    assert together("confirmed", "confirmed") == "confirmed"
    assert together("confirmed", "undecided") == "undecided"
    assert together("confirmed", "undecided", "refuted") == "refuted"
    assert over(["confirmed", "refuted", "undecided"]) == "depends"
    assert over(["refuted", "undecided"]) == over(["confirmed", "undecided"]) == over([]) == "undecided"


@given(st.lists(WORD, min_size=1, max_size=4), st.integers(0, 3))
def test_a_verdict_stands_whatever_the_open_sides_turn_out_to_be(sides: Any, _: int) -> None:
    found = over(sides)
    settled = {over([as_ if side == "undecided" else side for side in sides]) for as_ in ("confirmed", "refuted")}
    assert found == "undecided" or settled == {found}


def test_sides_are_named_by_their_word() -> None:
    found = Verdict.of({"2": "confirmed", "6": {"loss": "confirmed", "spread": "refuted"}, "12": "undecided"}, {"n": 1})
    assert found.verdict == "depends" and found.sides["6"] == Side(
        "refuted", {"loss": "confirmed", "spread": "refuted"}
    )
    assert found.measured == {"n": 1, "confirms": "2", "refutes": "6", "open": "12", "held": 1, "asked": 3}
    assert found.sides["6"].to_json() == {"verdict": "refuted", "parts": {"loss": "confirmed", "spread": "refuted"}}


def test_a_claim_without_conditions_has_no_sides() -> None:
    assert Verdict.of("refuted", {"n": 1}) == Verdict("refuted", {"n": 1}, {})


def test_the_recorded_numbers_give_the_published_verdicts() -> None:
    """All of them: what the table of the documents says about each claim is what the rule makes of its numbers."""
    table = (ROOT / "docs" / "en" / "textbook.md").read_text("utf-8")
    published = {
        claim: word for word, claim in re.findall(r"\| \*\*(\w+)\*\* \|.*`glassformer claims ([\w-]+) --fresh`", table)
    }
    computed = {
        claim: found.verdict
        for name in LESSONS
        for claim, found in LessonResult.read(RECORDED / f"{name}.json").verdicts().items()
    }
    assert computed == published and len(computed) == 56


def uncertain(data: Any) -> Any:
    """The same result, had its seeds been so far apart that nothing could be seen."""
    if isinstance(data, list):
        return [uncertain(one) for one in data]
    if not isinstance(data, dict):
        return data
    if {"low", "high"} <= set(data):
        wide = {**data, "low": -1e9, "high": 1e9}
        return {**wide, "values": [1e9 * (-1) ** i for i in range(data["n"])]} if "values" in data else wide
    return {key: uncertain(one) for key, one in data.items()}


BIT_BY_BIT = ("word_order", "accumulation")  # the largest of all values is compared with rounding, none is a sample


@pytest.mark.parametrize("name", [name for name in LESSONS if lesson(name).claims and name not in BIT_BY_BIT])
def test_no_claim_is_refuted_or_confirmed_by_seeds_that_show_nothing(name: str) -> None:
    """What is exact stays as it is; whatever rests on an interval becomes undecided."""
    data = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))["data"]
    before, after = lesson(name).verdicts(data), lesson(name).verdicts(uncertain(data))
    for claim, found in after.items():
        assert found.verdict in (before[claim].verdict, "undecided"), claim
        for side, one in found.sides.items():
            assert one.verdict in (before[claim].sides[side].verdict, "undecided", "refuted"), (claim, side)
            for part, word in one.parts.items():
                assert word in (before[claim].sides[side].parts[part], "undecided"), (claim, side, part)


RESTS_ON_INTERVALS = {
    "abstraction": "encoder_attention",
    "cls-not-sep": "cls_or_sep",
    "cyclic-escapes": "cyclic",
    "early-layers": "encoder_contributions",
    "final-norm": "pre_or_post_norm",
    "heads-differ": "attention_patterns",
    "heads-terms": "stock_patches",
    "layer-not-batch": "norm_kinds",
    "long-range": "long_range",
    "pe-unseen": "position_kinds",
    "stochastic-depth": "stochastic_depth",
    "sublayer-order": "decoder_contributions",
    "warmup-stabilises": "warmup",
    "xavier-not-he": "gradient_flow",
}


@pytest.mark.parametrize(("claim", "name"), RESTS_ON_INTERVALS.items())
def test_a_claim_about_training_is_undecided_where_nothing_can_be_seen(claim: str, name: str) -> None:
    data = LessonResult.read(RECORDED / f"{name}.json").data
    assert lesson(name).verdicts(uncertain(data))[claim].verdict == "undecided"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_page_says_the_four_words_in_the_same_sentences(lang: str) -> None:
    """Welcome, conclusion, glossary and documents take them from one key."""
    sentences = [say(f"meanings.{word}", lang) for word in WORDS]
    for page in ("welcome", "conclusion"):
        source = tables(lang, "pages", page)["body"]
        assert all(f"{{{{meaning:{word}}}}}" in source for word in WORDS)
        text = Page(page, lang).text(LessonResults(), lambda claim: "")
        assert all(sentence in text for sentence in sentences)
    terms = Page("glossary", lang).terms
    assert [terms[word]["meaning"] for word in WORDS] == sentences
    assert [terms[word]["term"] for word in WORDS] == [say(f"verdicts.{word}", lang) for word in WORDS]
    document = (ROOT / "docs" / lang / "textbook.md").read_text("utf-8")
    assert meanings(lang) in document and all(sentence in meanings(lang) for sentence in sentences)


def test_the_decision_says_them_too() -> None:
    assert meanings("en") in (ROOT / "docs" / "adr" / "0013-lessons.md").read_text("utf-8")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_welcome_page_says_how_many_verdicts_chance_alone_would_give(lang: str) -> None:
    claims = sum(len(lesson(name).claims) for name in LESSONS)
    text = Page("welcome", lang).text(LessonResults(), lambda claim: "")
    assert str(claims) in text and str(round(0.05 * claims)) in text and "{{" not in text


def test_the_words_are_told_apart_on_every_surface() -> None:
    from glassformer.lessons.view import MARKS

    assert set(MARKS) == set(WORDS)
    assert len({mark for mark, _ in MARKS.values()}) == len({style for _, style in MARKS.values()}) == len(WORDS)
    style = (ROOT / "src/glassformer/textbook/templates/style.css").read_text("utf-8")
    assert all(f".{word} {{" in style for word in WORDS)
