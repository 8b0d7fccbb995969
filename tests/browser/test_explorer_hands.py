"""The explorer under other hands, in a real browser: an input method, the keyboard, a reader, an old browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from explorer_models import opened, served, truth
from explorer_truth import drawn, same_pixels
from glassformer.words import sentences
from in_browser import NEEDED, quiet_page, until

pytestmark = NEEDED
MODELS = ["ko-en", "tiny-object_queries"]
SERIOUS = ("serious", "critical")
LOOKS = [(1280, "light", "en"), (1280, "dark", "ko"), (390, "dark", "en"), (390, "light", "ko")]
FOCUSABLE = """() => {
    const all = [...document.querySelectorAll('button, select, input, a[href], summary, [tabindex]')];
    all.forEach(one => delete one.dataset.stop);
    const open = all.filter(one => one.tabIndex >= 0 && !one.disabled && one.getClientRects().length);
    open.forEach((one, i) => { one.dataset.stop = i; });
    return open.filter(one => one.type !== 'radio' || one.checked).map(one => Number(one.dataset.stop));
}"""
MARKED = "() => [...document.querySelectorAll('[data-stop]')].map(one => Number(one.dataset.stop))"
FOCUSED = """() => {
    const one = document.activeElement;
    if (!one || one === document.body) return null;
    const [style, ring] = [getComputedStyle(one), getComputedStyle(one.closest('.ask') ?? one)];
    const page = getComputedStyle(document.querySelector('.figure'));
    const rect = one.matches('.box, .tile') ? getComputedStyle(one.querySelector('rect')) : null;
    const inked = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
    const framed = one.matches('.ask input') && ring.borderColor !== page.borderColor;
    const seen = rect ? parseFloat(rect.strokeWidth) > 1.5 : inked || framed;
    return [Number(one.dataset.stop ?? -1), seen, one.outerHTML.slice(0, 80)];
}"""


CLICKS = """async () => {
    for (let round = 0; round < 8; round += 1)
        for (const what of ['#tab-steps', '[data-step=on]', '#tab-heads', '#language', '.head-cell']) {
            document.querySelector(what).click();
            await new Promise(done => setTimeout(done, 5));
        }
}"""


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with served(MODELS) as running:
        yield running


def views(page: Any) -> list[str]:
    return page.eval_on_selector_all("[role=tab]", "all => all.map(one => one.id.slice(4))")


def settled(page: Any) -> None:
    """Waits until nothing has been asked and nothing redrawn between two looks."""
    page.locator("[role=tabpanel] > * > *").first.wait_for()  # a handle would keep what it points at
    look = "() => [performance.getEntriesByType('resource').length, document.body.innerHTML.length].join()"
    seen = ["", page.evaluate(look)]
    while seen[-1] != seen[-2] or page.locator("[aria-busy=true]").count():
        page.wait_for_timeout(150)
        seen.append(page.evaluate(look))


def test_enter_while_a_syllable_is_composed_does_nothing(browser: Any, server: Any) -> None:
    with quiet_page(browser) as page:
        opened(page, server.url, "ko-en")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/trace") else None)
        page.fill("#text", "")
        page.focus("#text")
        keys = page.context.new_cdp_session(page)
        for text in ("ㅎ", "하", "학"):
            keys.send("Input.imeSetComposition", {"text": text, "selectionStart": 1, "selectionEnd": 1})
        assert page.input_value("#text") == "학"
        for kind in ("rawKeyDown", "keyUp"):  # what a browser sends while an input method holds the key
            keys.send(
                "Input.dispatchKeyEvent", {"type": kind, "windowsVirtualKeyCode": 229, "key": "Enter", "code": "Enter"}
            )
        settled(page)
        assert asked == []
        assert "text=학&" not in page.url
        keys.send("Input.insertText", {"text": "학교"})
        assert page.input_value("#text") == "학교"
        page.keyboard.press("Enter")
        until(page, lambda: page.get_attribute(".input", "aria-busy") == "false" and len(asked) > 0)
        settled(page)
        assert len(asked) == 1
        assert page.text_content(".said-text") == "학교"


@pytest.mark.parametrize("model", MODELS)
def test_every_control_is_reached_by_tab_and_shows_it(browser: Any, server: Any, model: str) -> None:
    with quiet_page(browser) as page:
        opened(page, server.url, model)
        for view in views(page):
            page.click(f"#tab-{view}")
            for _ in range(
                5
            ):  # a view that was drawn again meanwhile, because an answer came late, is gone through again
                settled(page)
                stops = set(page.evaluate(FOCUSABLE))
                reached = tabbed(page, len(stops))
                if stops == set(page.evaluate(MARKED)):
                    break
            assert stops <= reached, (view, stops - reached)


def tabbed(page: Any, count: int) -> set[int]:
    """Every stop from the top to the end of the page; each shows that it has the focus."""
    page.evaluate("document.activeElement.blur(); document.body.tabIndex = -1; document.body.focus(); scrollTo(0, 0)")
    reached = set()
    for _ in range(2 * count):  # notes of terms may come meanwhile
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUSED)
        if found is None:
            break
        stop, seen, what = found
        assert seen, what
        reached.add(stop)
    return reached


def test_the_keyboard_alone_goes_five_levels_deep_and_back(browser: Any, server: Any) -> None:
    with quiet_page(browser) as page:
        opened(page, server.url, "ko-en")

        def press(selector: str, *keys: str) -> None:
            page.focus(selector)
            for key in keys:
                page.keyboard.press(key)

        def path() -> list[str]:
            return page.eval_on_selector_all(".crumb", "all => all.map(one => one.textContent)")

        press("#figure .box.stack[data-at=encoder]", "Enter")
        press("#figure .box.layer[data-at='encoder.1']", " ")
        press("#figure .box[data-at='encoder.1.self_attention']", "Enter")
        press("#figure [data-tap=weights] .map-body", "ArrowDown", "ArrowRight", "Enter")
        assert path() == ["ko-en", "Encoder", "Layer 2", "Multi-head attention", "Head 1", "weights [1, 1]"]
        page.wait_for_selector(".terms button")
        press("#figure .terms button", "Enter")
        assert path()[-1] == "scores [1, 0]"
        for count in (5, 3, 2, 1):
            press("#figure .crumb:last-of-type", "Escape")
            assert len(path()) == count
        press("#tab-steps", "ArrowRight", "ArrowRight")
        assert page.get_attribute("[role=tab][aria-selected=true]", "id") == "tab-interfere"
        press("#tab-interfere", "ArrowLeft", "ArrowLeft")
        press("[data-step=on]", *["Enter"] * 2)
        assert page.text_content(".player-count").startswith("3 /")
        press(".stage .strip-canvas", "ArrowRight", "ArrowRight", "Enter")
        assert path()[-1].endswith("[0, 2]")


@pytest.mark.parametrize(("width", "scheme", "lang"), LOOKS)
def test_a_reader_finds_nothing_serious(browser: Any, server: Any, width: int, scheme: str, lang: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with quiet_page(browser, width, color_scheme=scheme) as page:
        for model in MODELS if width == 1280 else MODELS[:1]:
            opened(page, server.url, model, lang=lang)
            for view in views(page):
                page.click(f"#tab-{view}")
                settled(page)
                found = axe.run(page).response["violations"]
                told = [(one["id"], one["nodes"][0]["html"][:120]) for one in found if one["impact"] in SERIOUS]
                assert told == [], (model, view)
                assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, view
        for zoom, at in (("2", "decoder"), ("3", "decoder.0"), ("4", "decoder.0.cross_attention"), ("4", "head")):
            opened(page, server.url, "ko-en", lang=lang, zoom=zoom, at=at)
            found = axe.run(page, "#figure").response["violations"]
            told = [(one["id"], one["nodes"][0]["html"][:120]) for one in found if one["impact"] in SERIOUS]
            assert told == [], at


PHONE = ["ko-en-growing", "writer-ko", "masked-ko", "sentiment-ko", "digits", "clothes", "prices", "forecaster"]
CUT = """() => [...document.querySelectorAll('.view :is(.card, .chart, .board, canvas)')].filter(one => {
    const [box, view] = [one.getBoundingClientRect(), document.querySelector('.view').getBoundingClientRect()];
    return box.width && box.right > view.right + 1 && !one.closest('.scroll, .map, .apart-scroll, .time-large');
}).map(one => one.outerHTML.slice(0, 90))"""


@pytest.mark.parametrize("model", PHONE)
def test_nothing_sticks_out_on_a_telephone(browser: Any, server: Any, model: str) -> None:
    with quiet_page(browser, 390) as page:
        page.goto(f"{server.url}#model={model}&lang=ko")
        page.wait_for_selector("#figure .box")
        for view in views(page):
            page.click(f"#tab-{view}")
            settled(page)
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, view
            assert page.evaluate(CUT) == [], view
            chosen = page.locator(".lens-cell[aria-pressed=true]")
            if chosen.count():  # the answer that is looked at is seen
                assert chosen.bounding_box()["x"] + chosen.bounding_box()["width"] <= 390


def test_a_browser_without_float16_decodes_the_same(browser: Any, server: Any) -> None:
    known = truth("ko-en")
    for without in (True, False):
        with quiet_page(browser) as page:
            if without:
                page.add_init_script("delete globalThis.Float16Array")
            opened(page, server.url, "ko-en", view="heads", at="decoder.0.self_attention.scores.head1", zoom="4")
            assert page.evaluate("typeof Float16Array") == "undefined" or not without
            shown = [*drawn(page, ".head-grids"), *drawn(page, "#figure")]
            assert {one["name"].rpartition(".")[2] for one in shown} >= {"scores", "weights"}
            for one in shown:
                same_pixels(one, known)


def test_both_languages_say_everything(browser: Any, server: Any) -> None:
    for lang in ("en", "ko"):
        keys = {key for key in sentences(lang) if key.startswith("explorer.")}
        with quiet_page(browser) as page:
            for model in MODELS:
                opened(page, server.url, model, lang=lang)
                for view in views(page):
                    page.click(f"#tab-{view}")
                    settled(page)
                    text = page.inner_text("body")
                    assert [key for key in keys if key in text] == []
                    assert "explorer." not in text
                    assert "undefined" not in text


def test_clicks_leave_nothing_behind(browser: Any, server: Any) -> None:
    """Effects that are not ended, or elements that are kept, would make every click slower than the one before."""
    with quiet_page(browser) as page:
        opened(page, server.url, "ko-en", view="heads")
        browser_side = page.context.new_cdp_session(page)
        browser_side.send("Performance.enable")

        def kept() -> tuple[int, int]:
            browser_side.send("HeapProfiler.collectGarbage")
            found = {one["name"]: one["value"] for one in browser_side.send("Performance.getMetrics")["metrics"]}
            return found["JSEventListeners"], found["Nodes"]

        counts = []
        for _ in range(4):
            page.evaluate(CLICKS)
            settled(page)
            counts.append(kept())
        assert counts[3][0] <= counts[1][0] * 1.02
        assert counts[3][1] <= counts[1][1] * 1.02
