"""Addresses of the explorer in a real browser: what they restore, Back and Forward, and what nonsense becomes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from explorer_models import opened, served
from in_browser import NEEDED, until

pytestmark = NEEDED
PLACES = [  # view, place, zoom, cell, what the path says
    ("steps", "", "", "", ["ko-en"]),
    ("heads", "decoder", "2", "", ["ko-en", "Decoder"]),
    ("interfere", "decoder.1", "3", "", ["ko-en", "Decoder", "Layer 2"]),
    ("lens", "decoder.1.cross_attention.head3", "4", "", ["ko-en", "Decoder", "Layer 2", "Cross-attention", "Head 4"]),
    (
        "decoding",
        "encoder.2.self_attention.weights.head1",
        "5",
        "1,2",
        ["ko-en", "Encoder", "Layer 3", "Multi-head attention", "Head 2", "weights [1, 2]"],
    ),
    (
        "steps",
        "encoder.0.feed_forward.hidden",
        "5",
        "3,7",
        ["ko-en", "Encoder", "Layer 1", "Feed-forward", "hidden [3, 7]"],
    ),
    ("steps", "head", "4", "", ["ko-en", "Linear & softmax"]),
]
NONSENSE = [  # what is asked for, and what is left of it
    ({"view": "nowhere"}, {}),
    ({"view": "lens", "model": "digits", "text": ""}, {"view": "lens"}),
    ({"view": "decoding", "model": "digits", "text": ""}, {}),
    ({"at": "decoder.0.cross_attention#1", "zoom": "4"}, {"at": "decoder.0", "zoom": "3"}),
    ({"at": "decoder.0.cross_attention#1"}, {"at": "decoder.0"}),
    ({"at": "nothing.at.all", "zoom": "4"}, {"at": "encoder", "zoom": "2"}),
    ({"at": "encoder.99.self_attention", "zoom": "4"}, {"at": "encoder", "zoom": "2"}),
    ({"at": "encoder.1.self_attention.head77", "zoom": "4"}, {"at": "encoder.1.self_attention", "zoom": "4"}),
    ({"zoom": "99"}, {}),
    ({"zoom": "-1", "at": "encoder.0"}, {"at": "encoder.0"}),
    ({"zoom": "5", "at": "encoder.0.self_attention.weights.head0", "cell": "99,0"},
     {"zoom": "4", "at": "encoder.0.self_attention.weights.head0"}),
    ({"zoom": "5", "at": "encoder.0.self_attention.weights.head0", "cell": "x"},
     {"zoom": "4", "at": "encoder.0.self_attention.weights.head0"}),
    ({"row": "99,1"}, {"row": "0,1"}),
    ({"row": "many"}, {}),
    ({"model": "nobody"}, {}),
    ({"checkpoint": "no-such"}, {}),
    ({"example": "999", "model": "digits", "text": ""}, {}),
    ({"edits": "nonsense"}, {}),
]  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with served(["ko-en"]) as running:
        yield running


def crumbs(page: Any) -> list[str]:
    return page.eval_on_selector_all(".crumb", "all => all.map(one => one.textContent)")


def fields(page: Any) -> dict[str, str]:
    found = parse_qs(urlsplit(page.url).fragment)
    return {key: value[0] for key, value in found.items() if key not in ("model", "text", "lang")}


def seen(page: Any) -> list[Any]:
    """What is on the screen, as far as an address says it."""
    tab = page.get_attribute("[role=tab][aria-selected=true]", "id")
    return [tab, crumbs(page), page.input_value("#text") if page.is_visible("#text") else ""]


@pytest.mark.parametrize(("view", "at", "zoom", "cell", "path"), PLACES)
def test_an_address_restores_what_it_names(
    page: Any, server: Any, view: str, at: str, zoom: str, cell: str, path: list[str]
) -> None:
    opened(page, server.url, "ko-en", view=view, at=at, zoom=zoom, cell=cell)
    assert seen(page) == [f"tab-{view}", path, "나는 학교에 간다"]
    for key, value in {"at": at, "zoom": zoom, "cell": cell}.items():
        assert fields(page).get(key, "") == value


def test_back_and_forward_restore_every_view(page: Any, server: Any) -> None:
    opened(page, server.url, "ko-en")
    page.wait_for_selector(".stage h2")
    screens = [seen(page)]

    def turn(selector: str) -> None:
        if selector.startswith("#figure .box"):
            page.locator(selector).first.press("Enter")
        else:
            page.locator(selector).first.click()
        until(page, lambda: seen(page) != screens[-1])
        screens.append(seen(page))

    turn("#tab-heads")
    turn("#figure .box.stack[data-at=decoder]")
    turn("#figure .box.layer[data-at='decoder.1']")
    turn("#figure .box[data-at='decoder.1.cross_attention']")
    turn("#figure .map-body")
    turn("#tab-lens")
    page.fill("#text", "너는 왜 이 책을 읽었니?")
    page.keyboard.press("Enter")
    until(page, lambda: "book" in page.text_content("#answer"))
    screens.append(seen(page))
    turn(".crumb")
    for wanted in reversed(screens[:-1]):
        page.go_back()
        until(page, lambda wanted=wanted: seen(page) == wanted)
    until(page, lambda: page.text_content("#answer") == "→I go to school")
    for wanted in screens[1:]:
        page.go_forward()
        until(page, lambda wanted=wanted: seen(page) == wanted)
    until(page, lambda: "book" in page.text_content("#answer"))


@pytest.mark.parametrize(("asked", "left"), NONSENSE)
def test_nonsense_gives_way_to_the_nearest_there_is(page: Any, server: Any, asked: Any, left: Any) -> None:
    opened(page, server.url, "ko-en", **asked)
    page.wait_for_selector("html[data-ready=yes]")
    until(page, lambda: fields(page) == left)
    assert page.is_hidden(".input > .error")
    assert not [one for one in crumbs(page) if "explorer." in one]
    assert page.text_content("#answer")
    before = page.evaluate("history.length")
    page.wait_for_selector("[role=tabpanel] > *")
    assert page.evaluate("history.length") == before


def test_the_language_and_the_theme_are_kept(page: Any, server: Any) -> None:
    opened(page, server.url, "ko-en")
    page.click("#language")
    until(page, lambda: page.get_attribute("html", "lang") == "ko")
    assert "lang=ko" in page.url
    page.click("#tab-heads")
    page.click("#theme")
    assert page.get_attribute("html", "data-theme") == "dark"
    page.reload()
    page.wait_for_selector("#figure .sheet > *")
    assert page.get_attribute("html", "lang") == "ko"
    assert page.get_attribute("html", "data-theme") == "dark"
    assert page.text_content("[role=tab][aria-selected=true]") == "모든 헤드"


def test_a_model_is_left_and_chosen_again(page: Any, server: Any) -> None:
    opened(page, server.url, "ko-en")
    first = page.text_content("#answer")
    for name in ("ko-en-growing", "ko-en"):
        page.select_option("#model", name)
        until(page, lambda name=name: page.get_attribute("#figure .crumb", "aria-current") and name in page.url)
        until(page, lambda: page.get_attribute(".input", "aria-busy") == "false" and bool(page.input_value("#text")))
        assert page.is_hidden(".error")
    assert page.text_content("#answer") == first
