"""The figure in a real browser: five levels, each with an address; what it draws is what `gf.record` finds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from explorer_models import MODELS, opened, served, truth
from explorer_truth import drawn, same_pixels
from in_browser import NEEDED, quiet_page, until

pytestmark = NEEDED
FORMS = ["ko-en", "bert", "gpt2", "bart", "tiny-image_classification-post", "tiny-forecasting", "tiny-object_queries"]
STICKING_OUT = """() => [...document.querySelectorAll('#figure .box')].filter(box => {
    const [text, rect] = [box.querySelector('text'), box.querySelector('rect')];
    if (!text) return false;
    const [inner, outer] = [text.getBBox(), rect.getBBox()];
    return inner.x < outer.x || inner.y < outer.y - 1 || inner.x + inner.width > outer.x + outer.width
        || inner.y + inner.height > outer.y + outer.height + 1;
}).map(box => box.getAttribute('aria-label'))"""
BOXES = "all => all.map(one => one.dataset.at)"


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with served(MODELS) as running:
        yield running


def crumbs(page: Any) -> list[str]:
    return page.eval_on_selector_all(".crumb", "all => all.map(one => one.textContent)")


@pytest.mark.parametrize("name", FORMS)
def test_every_level_draws_what_was_recorded(page: Any, server: Any, name: str) -> None:
    known = truth(name)
    opened(page, server.url, name)
    model = known.loaded.model
    stack = "decoder" if hasattr(model, "decoder") else "encoder"
    boxes = page.eval_on_selector_all("#figure .box", BOXES)
    assert f"{stack}.0.self_attention" in boxes and "head" in boxes and stack in boxes
    assert ("decoder.0.cross_attention" in boxes) == any("cross_attention" in one for one in known.tensors)
    layers = {one for one in boxes if one in (f"{stack}.{i}" for i in range(99))}
    assert len(layers) == len(getattr(model, stack).blocks)

    page.locator(f"#figure .box.tab[data-at='{stack}.0']").click()
    parts = drawn(page, "#figure")
    assert {one["name"].split(".")[3] for one in parts} >= {"self_attention", "feed_forward"}
    for one in parts:
        same_pixels(one, known)

    page.locator(".crumb").nth(1).click()
    maps = drawn(page, "#figure")
    assert {one["name"] for one in maps} == {
        one for one in known.tensors if one.startswith(stack) and one.endswith(".weights")
    }
    for one in maps:
        same_pixels(one, known)
    assert len(crumbs(page)) == 2

    for box in dict.fromkeys(one for one in boxes if one.count(".") == 2 and one.split(".")[0] == stack):
        page.locator(".crumb").first.click()
        page.locator(f"#figure .box[data-at='{box}']").click()
        shown = drawn(page, "#figure")
        assert shown, box
        for one in shown:
            same_pixels(one, known)
        assert len(crumbs(page)) == 4


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_every_label_lies_in_its_box(browser: Any, server: Any, width: int, lang: str) -> None:
    with quiet_page(browser, width) as page:
        for name in ("ko-en", "bart", "gpt2", "tiny-object_queries"):
            for level in ("", "3"):
                opened(page, server.url, name, lang=lang, **({"zoom": level} if level else {}))
                assert page.evaluate(STICKING_OUT) == [], (name, level)


def test_the_whole_figure_is_seen_at_once_and_stays(page: Any, server: Any) -> None:
    opened(page, server.url, "ko-en", view="interfere")
    page.wait_for_selector("#moved")
    svg = page.locator("#figure svg").bounding_box()
    assert svg["y"] + svg["height"] <= 900
    for chip in ("source:0", "target:0"):
        assert page.locator(f"#figure [data-token='{chip}']").first.bounding_box()["y"] < 880
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
    after = page.locator("#figure svg").bounding_box()
    assert after["y"] > 0
    assert after["y"] + after["height"] <= 900

    opened(page, server.url, "ko-en", view="interfere", zoom="4", at="decoder.0.cross_attention")
    page.wait_for_selector("#moved")
    page.evaluate("scrollTo(0, 3000)")
    until(page, lambda: page.evaluate("scrollY") > 500)
    figure = page.locator("#figure").bounding_box()
    assert figure["height"] > 900  # taller than the window: it scrolls with the page, and its end stays
    assert figure["y"] < 0 < figure["y"] + figure["height"] <= 900


def test_what_is_pointed_at_is_marked_everywhere(page: Any, server: Any) -> None:
    opened(page, server.url, "ko-en", view="heads", at="encoder.1.self_attention", zoom="4")
    page.hover(".head-cell[data-at='encoder.1.self_attention.head2']")
    marked = page.eval_on_selector_all(".hot[data-at]", BOXES)
    assert "encoder.1.self_attention.head2" in [one for one in marked if "encoder.1" in one]
    assert page.locator(".head-picker .pill.hot").text_content() == "Head 3"
    page.hover("#figure .map-body >> nth=3")
    assert page.locator(".hot-token").count() > 1


LEVELS = {  # where one looks → what is pointed at there, and whose heads light up beside it
    ("", ""): ("#figure .box[data-at='decoder.0.cross_attention']", r"decoder\.\d\.cross_attention"),  # for all layers
    ("2", "decoder"): ("#figure .box.layer[data-at='decoder.1']", r"decoder\.1"),
    ("3", "decoder.1"): ("#figure .box[data-at='decoder.1.cross_attention']", r"decoder\.1\.cross_attention"),
    ("4", "decoder.1.cross_attention.head2"): (
        "#figure [data-tap=weights] header",
        r"decoder\.1\.cross_attention\.head2",
    ),
    ("5", "decoder.1.cross_attention.weights.head2"): (
        "#figure .terms button >> nth=1",
        r"decoder\.1\.cross_attention\.head2",
    ),
}


@pytest.mark.parametrize("where", LEVELS)
def test_what_is_pointed_at_is_marked_at_every_level(page: Any, server: Any, where: tuple[str, str]) -> None:
    (zoom, at), (pointed, heads) = where, LEVELS[where]
    opened(page, server.url, "ko-en", view="heads", zoom=zoom, at=at, cell="2,1" if zoom == "5" else "")
    page.locator(pointed).first.hover()
    every = page.eval_on_selector_all(".head-cell", BOXES)
    wanted = {one for one in every if re.match(rf"{heads}(\.|$)", one)}
    until(page, lambda: {*page.eval_on_selector_all(".head-cell:is(.hot, .within)", BOXES)} == wanted)
    assert wanted < set(every)
    assert page.locator("#figure .hot").count() >= 1
    if zoom == "5":  # the operand is the score of the second word
        tokens = page.eval_on_selector_all(".hot-token", "all => all.map(one => one.dataset.token)")
        assert set(tokens) == {"source:1"} and page.locator(".arc-token.hot-token").count() == 1


def test_the_data_flow_through_the_figure_when_enter_is_pressed(browser: Any, server: Any) -> None:
    """Unless the reader asks for less motion."""
    for motion, moves in (("no-preference", True), ("reduce", False)):
        with quiet_page(browser, reduced_motion=motion) as page:
            opened(page, server.url, "ko-en")
            page.evaluate(
                "() => { window.begun = 0; document.addEventListener('animationstart', () => (window.begun += 1)); }"
            )
            page.fill("#text", "너는 왜 이 책을 읽었니?")
            page.keyboard.press("Enter")
            until(page, lambda page=page: "book" in page.text_content("#answer"))
            wires = page.locator("#figure .pulse").count()
            assert wires > 10
            until(page, lambda page=page, wires=wires, moves=moves: (page.evaluate("begun") >= wires) == moves)
