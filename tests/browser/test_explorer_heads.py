"""All heads in a real browser: each small map, the large one and its lines have the weights that `gf.record` finds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from explorer_models import MODELS, opened, served, truth
from explorer_truth import Truth, drawn, printed, same_pixels
from in_browser import NEEDED, quiet_page, until

pytestmark = NEEDED
FAINT = 0.015  # lighter lines are not drawn
LINES = """() => [...document.querySelectorAll('.arc')].map(line =>
    [Number(line.dataset.row), Number(line.dataset.column), line.getAttribute('stroke-width')])"""


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with served(MODELS) as running:
        yield running


def attentions(known: Truth) -> list[str]:
    return [name for name in known.tensors if name.endswith(".weights")]


@pytest.mark.parametrize("name", MODELS)
def test_every_map_has_the_colours_of_its_weights(page: Any, server: Any, name: str) -> None:
    known = truth(name)
    opened(page, server.url, name, view="heads")
    shown = drawn(page, ".head-grids")
    heads = known.loaded.config.model.n_heads
    alone = known.given.target is None and not known.given.tensors
    title = page.text_content(".head-kind h3")
    assert ("each token" in title) == alone
    assert {(one["name"], one["head"]) for one in shown} == {(x, h) for x in attentions(known) for h in range(heads)}
    for one in shown:
        same_pixels(one, known)

    wanted = attentions(known)[-1]
    page.click(f".head-cell:has([data-map='{wanted}'][data-head='1'])")
    assert page.text_content(".one-head h3") == "Head 2"
    assert page.get_attribute(".head-cell[aria-pressed=true] canvas", "data-map") == wanted
    weights = known.matrix(wanted, 1)
    page.click("[data-shape=arcs]")
    lines = {(row, column): width for row, column, width in page.evaluate(LINES)}
    assert lines == {
        (row, column): printed(0.75 + 6 * float(share), 2)
        for row, some in enumerate(weights)
        for column, share in enumerate(some)
        if share >= FAINT
    }
    page.click("[data-shape=matrix]")
    (large,) = drawn(page, ".one-head")
    assert (large["name"], large["head"]) == (wanted, 1)
    same_pixels(large, known)
    page.click("[data-shape=arcs]")


def test_one_altered_byte_is_seen(page: Any, server: Any) -> None:
    known, name = truth("ko-en"), "decoder.blocks.2.cross_attention.weights"

    def alter(route: Any) -> None:
        answer = route.fetch()
        body, length = bytearray(answer.body()), int.from_bytes(answer.body()[:8], "little")
        begin = json.loads(body[8 : 8 + length])[name]["data_offsets"][0]
        body[8 + length + begin + 1] ^= 0x04  # of the first weight of the first head
        route.fulfill(response=answer, body=bytes(body))

    page.route("**/api/trace", alter)
    opened(page, server.url, "ko-en", view="heads", at="decoder.2.cross_attention.head0")
    wrong = [one for one in drawn(page, ".head-grids") if one["name"] == name and one["head"] == 0]
    page.click("[data-shape=matrix]")
    for one in [*wrong, *drawn(page, ".one-head")]:
        with pytest.raises(AssertionError):
            same_pixels(one, known)
    assert len(wrong) == 1


@pytest.mark.parametrize("width", [1280, 390])
def test_a_token_on_either_side_says_how_much(browser: Any, server: Any, width: int) -> None:
    known, name = truth("ko-en"), "decoder.blocks.2.cross_attention.weights"
    with quiet_page(browser, width, color_scheme="dark") as page:
        opened(page, server.url, "ko-en", view="heads", at="decoder.2.cross_attention.head3")
        for one in drawn(page, ".head-grids"):
            same_pixels(one, known, dark=True)
        weights = known.matrix(name, 3)
        shares = "all => all.map(one => one.querySelector('.share').textContent)"
        page.hover(".arc-tokens.left [data-at-token='2']")
        shown = page.eval_on_selector_all(".arc-tokens.right .arc-token", shares)
        assert shown == [printed(float(x), 2) if x >= FAINT else "" for x in weights[2]]
        best = known.given.source[int(weights[2].argmax())].piece
        assert f"“{best}”: {printed(float(weights[2].max()))}" in page.text_content(".sentence")
        page.mouse.move(0, 0)
        page.focus(".arc-tokens.right [data-at-token='1']")
        shown = page.eval_on_selector_all(".arc-tokens.left .arc-token", shares)
        assert shown == [printed(float(x), 2) if x >= FAINT else "" for x in weights[:, 1]]


def test_a_click_meets_the_head_that_it_points_at(browser: Any, server: Any) -> None:
    """A row that stretches its canvases would hand clicks to the wrong head."""
    for width in (1280, 390):
        with quiet_page(browser, width) as page:
            opened(page, server.url, "ko-en", view="heads")
            for at in (
                "encoder.0.self_attention.head3",
                "decoder.1.self_attention.head0",
                "decoder.1.cross_attention.head2",
            ):
                box = page.locator(f".head-cell[data-at='{at}']")
                box.scroll_into_view_if_needed()
                where = box.bounding_box()
                page.mouse.click(where["x"] + where["width"] - 4, where["y"] + where["height"] - 4)
                assert page.get_attribute(".head-cell[aria-pressed=true]", "data-at") == at
                assert f"at={at}" in page.url


def test_the_maps_follow_the_text(page: Any, server: Any) -> None:
    opened(page, server.url, "ko-en", view="heads")
    before = drawn(page, ".head-grids")
    page.fill("#text", "너는 왜 이 책을 읽었니?")
    page.keyboard.press("Enter")
    until(page, lambda: page.get_attribute(".input", "aria-busy") == "false" and "책" in page.text_content(".arcs"))
    known = Truth("ko-en", {"text": "너는 왜 이 책을 읽었니?"})
    after = drawn(page, ".head-grids")
    assert len(after) == len(before)
    for one in after:
        same_pixels(one, known)
