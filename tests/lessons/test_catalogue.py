"""What holds for every lesson: a new one is tested by its line in the catalogue."""

from __future__ import annotations

import json
import re
from functools import cached_property
from html import escape
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG

import drawn_book
import legible
from drawn_book import Drawn
from glassformer.lessons.catalogue import LESSONS, PATHS, lesson
from glassformer.lessons.fingerprint import PACKAGE
from glassformer.lessons.index import claims
from glassformer.lessons.lesson import drawn
from glassformer.lessons.record import RECORDED, LessonResult, rounded
from glassformer.lessons.texts import HOLE, PictureWords, fill_numbers, tables
from glassformer.show.figure import as_svg
from glassformer.show.theme import DARK, LIGHT, THEMES
from glassformer.words import LANGUAGES
from lesson_models import tiny_result
from marks import first_is_fast

NAMES = list(LESSONS)
PARTS = ("title", "question", "caption", "alt", "easy", "deep", "picture")
# 은/는, 이/가, 을/를 … behind a number that is put in: right for one value, wrong for another
PARTICLE = re.compile(r"\}\}(은|는|이|가|을|를|과|와|으로|로)(?=[\s,.])")


def recorded(name: str) -> LessonResult:
    return LessonResult.read(RECORDED / f"{name}.json")


def flat(table: Any, path: str = "") -> dict[str, str]:
    if isinstance(table, dict):
        return {key: text for name, inner in table.items() for key, text in flat(inner, f"{path}.{name}").items()}
    return {path: str(table)}


def holes(text: str) -> set[tuple[str, str]]:
    """What is put in; each language may show it with other digits."""
    return {(found["of"] or "", found["path"]) for found in HOLE.finditer(text)}


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_says_what_it_is(name: str) -> None:
    found = lesson(name)
    assert found.sources and all((PACKAGE / source).is_file() for source in found.sources)
    assert bool(found.equation) == bool(found.formula)
    for lang in LANGUAGES:
        texts = tables(lang, "lessons", name)
        assert not [part for part in PARTS if part not in texts]
        assert set(texts.get("claims", {})) == set(found.claims)
        for words in texts.get("claims", {}).values():
            assert set(words) == {"claim", "measured", "condition"}


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_say_the_same(name: str) -> None:
    english, korean = (flat(tables(lang, "lessons", name)) for lang in ("en", "ko"))
    assert list(english) == list(korean)
    for key, text in english.items():
        ours, theirs = ({found[0] for found in HOLE.finditer(one)} for one in (text, korean[key]))
        assert {hole.partition("|")[0].rstrip("}") for hole in ours} == {
            hole.partition("|")[0].rstrip("}") for hole in theirs
        }, key
        assert not PARTICLE.search(korean[key]), key
    prose = " ".join(korean[f".{part}"] for part in ("easy", "deep"))
    assert len(re.findall(r"[가-힣]", prose)) > 200


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_result_is_judged_in_words(name: str) -> None:
    result = recorded(name)
    verdicts = result.verdicts()
    assert set(verdicts) == set(lesson(name).claims)
    for lang in LANGUAGES:
        texts = tables(lang, "lessons", name)
        for part in ("caption", "alt", "easy", "deep"):
            assert "{{" not in fill_numbers(texts[part], result.data, lambda of, hole: of)
        for claim, verdict in verdicts.items():
            assert verdict.measured
            for part in ("measured", "condition"):
                assert "{{" not in fill_numbers(texts["claims"][claim][part], verdict.measured)


class Pictures:
    """The pictures of a recorded result: those of the book, and in English the one on dark paper."""

    def __init__(self, name: str) -> None:
        self.name = name

    def light(self, lang: str) -> Drawn:
        return drawn_book.drawn(self.name, lang)

    @cached_property
    def dark(self) -> Drawn:
        figure = drawn(lesson(self.name), recorded(self.name).data, PictureWords(self.name, "en"), DARK)
        alternative = self.light("en").alternative
        svg = as_svg(figure, self.name, "en", alternative, DARK)
        FigureCanvasAgg(figure)
        figure.dpi = FigureCanvasSVG.fixed_dpi  # as it was written
        return Drawn(svg, b"", alternative, {"faint": legible.faint(figure, DARK)})


@pytest.fixture(scope="module", params=first_is_fast(NAMES))
def pictures(request: pytest.FixtureRequest) -> Pictures:
    """Lesson after lesson: pytest asks everything of one before it goes on to the next."""
    return Pictures(request.param)


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_it_draws_itself_from_the_recorded_result(pictures: Pictures, lang: str) -> None:
    """A glyph that no font has is a warning, and warnings are errors; inside mathematics it is only logged."""
    found = pictures.light(lang)
    assert max(found.seen["inches"]) <= 12
    assert found.svg.startswith(f'<svg role="img" aria-label="{escape(found.alternative)}"')
    assert found.alternative and len(found.svg) < 600_000
    assert LIGHT.ink not in re.sub(r"var\([^)]*\)", "", found.svg)
    assert found.png.startswith(b"\x89PNG")
    assert found.seen["logged"] == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_its_picture_can_be_read(pictures: Pictures, lang: str) -> None:
    """Numbers as people print them, nothing cut off or written over, every colour explained."""
    seen = pictures.light(lang).seen
    assert {look.__name__: seen[look.__name__] for look in drawn_book.READABLE if seen[look.__name__]} == {}


def test_its_axes_do_not_mislead(pictures: Pictures) -> None:
    seen = pictures.light("en").seen
    assert {look.__name__: seen[look.__name__] for look in drawn_book.HONEST if seen[look.__name__]} == {}


@pytest.mark.parametrize("theme", THEMES)
def test_its_texts_stand_out_from_what_is_below_them(pictures: Pictures, theme: str) -> None:
    found = pictures.dark if theme == DARK.name else pictures.light("en")
    assert found.seen["faint"] == []


def test_one_drawing_serves_light_and_dark(pictures: Pictures) -> None:
    """On a page only the variables change: the drawing itself must not depend on the theme, nor bring other colours."""
    light, dark = pictures.light("en").svg, pictures.dark.svg
    light, dark = (re.sub(r"var\(--(\w+), #\w+\)", r"var(--\1)", svg) for svg in (light, dark))
    images = re.compile(r'xlink:href="data:[^"]*"|id="[^"]*"|url\([^)]*\)|xlink:href="#[^"]*"')
    assert images.sub("", light) == images.sub("", dark)
    assert not re.findall(r"(?:fill|stroke|color): ?#\w+", light)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_runs(name: str) -> None:
    """With hardly any effort: the numbers mean nothing, but they are JSON, they are judged, and they can be drawn."""
    found = lesson(name)
    data = rounded(tiny_result(name))
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert set(found.verdicts(data)) == set(found.claims)
    for lang in LANGUAGES:
        drawn(found, data, PictureWords(name, lang))


def test_a_claim_is_answered_once() -> None:
    answered = [claim for name in LESSONS for claim in lesson(name).claims]
    assert len(answered) == len(set(answered)) == len(claims())


def test_a_path_leaves_out_and_never_reorders() -> None:
    assert list(PATHS) == [2, 6, 15]
    order = list(LESSONS)
    for names in PATHS.values():
        assert list(names) == sorted(set(names), key=order.index)
    short, middle, whole = map(set, PATHS.values())
    assert short < middle < whole == set(LESSONS)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_first_page_walks_through_the_two_hours(lang: str) -> None:
    steps = re.search(r"(?ms)^1\. (.*?)^8\. [^\n]*", tables(lang, "pages", "welcome")["body"])
    assert steps and tuple(re.findall(r"`(\w+)`", steps[0])) == PATHS[2]


def test_the_map_comes_first_and_nothing_before_what_it_needs() -> None:
    order = list(LESSONS)
    assert order[0] == "architecture"
    needs = [
        *(("tokenizer", "token_embedding"), ("token_embedding", "positional_encoding")),
        *(("positional_encoding", "worked_example"), ("look_ahead_mask", "decoder_attention")),
        *(("residual", "pre_or_post_norm"), ("layer_norm", "feed_forward"), ("feed_forward", "encoder_attention")),
        *(("transformer_attention", "generation"), ("masking", "mlm_masking"), ("metrics", "small_budget")),
    ]
    assert [pair for pair in needs if order.index(pair[0]) > order.index(pair[1])] == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_first_page_names_the_lessons_in_the_one_order(lang: str) -> None:
    named = [name for name in re.findall(r"`(\w+)`", tables(lang, "pages", "welcome")["body"]) if name in LESSONS]
    assert named == sorted(named, key=list(LESSONS).index)
    assert named[:2] == ["architecture", "tokenizer"]


# An equation or a comparison, a root, a Greek letter, a transpose or a power, a sum, a letter with an index, a function
# of a letter, letters that are added or multiplied. Sizes ("7 × 7 pixels"), commands and [CLS] are no formulas.
FORMULA = re.compile(
    r"[=≈≤≥<>√∑∏∫∂^ᵀ²³ⁿα-ωΔΣΠ]|\b[A-Za-z]+_[A-Za-z]\w*|\b[a-z]\([a-z]\)|\b[A-Za-z] ?[+·×/−] ?[A-Za-z]\b(?![a-z])"
)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_an_easy_text_has_no_formula(name: str, lang: str) -> None:
    easy = HOLE.sub("7", tables(lang, "lessons", name)["easy"])
    for other in LESSONS:
        easy = easy.replace(f"`{other}`", "")
    easy = re.sub(r"`(glassformer [\w -]+|\[[A-Z]+\])`", "", easy)
    assert FORMULA.findall(easy) == []


@pytest.mark.parametrize(
    "formula", ["x + f(x)", "QKᵀ", "√d_k", "y = 3", "γ", "x²", "the `d_model` numbers", "a·b", "1/√d", "p ≤ 0.1"]
)
def test_what_is_a_formula(formula: str) -> None:
    assert FORMULA.search(formula)
    assert not FORMULA.search("7 × 7 pixels, 3 + 4 words and 40 % of a well-read encoder-decoder (Q), 7.5 to 8/9")
