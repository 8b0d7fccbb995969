"""The report in a real browser: both languages, a screen and a phone."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from drawn_book import drawn_before
from glassformer.lessons.record import recorded
from glassformer.textbook.build import Order, Report
from glassformer.words import LANGUAGES
from in_browser import NEEDED
from small_translator import trained

pytestmark = NEEDED
WIDTHS = {"screen": 1280, "narrow": 960, "tablet": 800, "phone": 360}
PAGES = [(lang, width) for lang in LANGUAGES for width in WIDTHS.values()]
# Every two of language, width and colours together: axe reads the whole book, which takes ten seconds a time.
LOOKED_AT = [
    (lang, width, ("light", "dark")[(i + j) % 2])
    for i, lang in enumerate(LANGUAGES)
    for j, width in enumerate(WIDTHS.values())
]


# Most of the page is pictures, and each is as good as any other for tests that ask something else: `light` pages leave
# these two as they are and empty the others, so that opening one takes half the time.
KEPT = ("scaled_scores", "decoder_attention")
PICTURE = re.compile(r'(<svg role="img"[^>]*>)(.*?)(</svg>)', re.DOTALL)


def _emptied(picture: re.Match[str]) -> str:
    return picture[0] if any(f' id="{name}-' in picture[2] for name in KEPT) else picture[1] + picture[3]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The whole book with the chapter of a small run."""
    home = tmp_path_factory.mktemp("report")
    drawn_before(home / "cache", *LANGUAGES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GLASSFORMER_CACHE", str(home / "cache"))
        Report(Order(home / "out", run=trained(home), workers=2)).build()
    for lang in LANGUAGES:
        page = (home / "out" / f"report.{lang}.html").read_text(encoding="utf-8")
        (home / "out" / f"light.{lang}.html").write_text(PICTURE.sub(_emptied, page), encoding="utf-8")
    yield home / "out"
    shutil.rmtree(home, ignore_errors=True)


class Opened:
    """A page, and all that it said and asked for."""

    def __init__(self, browser: Any, path: Path, width: int, **options: Any) -> None:
        self.lang, self.width = path.suffixes[0].removeprefix("."), width
        keys = {"viewport": {"width": width, "height": 800}, "reduced_motion": "reduce", **options}
        self.context = browser.new_context(**keys)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


def reaches(page: Any, anchor: str) -> None:
    """A click is answered when the page gets to it, which on a busy machine is after the call has returned."""
    page.wait_for_function("anchor => location.hash === anchor", arg=anchor)


@pytest.fixture(scope="module", params=PAGES, ids=lambda page: f"{page[0]}-{page[1]}")
def opened(request: pytest.FixtureRequest, browser: Any, report: Path) -> Iterator[Opened]:
    """In every language and width, for tests that leave the page as it is but for what is folded out."""
    lang, width = request.param
    with Opened(browser, report / f"report.{lang}.html", width) as page:
        yield page


def test_every_entry_of_the_contents_can_be_reached(opened: Opened) -> None:
    page = opened.page
    if page.locator("#menu").is_visible():
        page.click("#menu")
    hidden = page.evaluate("""[...document.querySelectorAll("#contents a")].filter((link) => {
        link.scrollIntoView({ block: "nearest", behavior: "instant" });
        const box = link.getBoundingClientRect();
        return !link.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
    }).map((link) => link.hash)""")
    assert hidden == []
    assert page.evaluate("document.querySelector('#contents').getBoundingClientRect().bottom <= innerHeight + 1")
    page.click("#contents a[href='#page-glossary']", timeout=10_000)
    reaches(page, "#page-glossary")
    top = page.evaluate("document.querySelector('#page-glossary h2').getBoundingClientRect().top")
    assert page.evaluate("document.querySelector('.bar').getBoundingClientRect().bottom") <= top < 800


def test_it_opens_quietly_and_fits(opened: Opened) -> None:
    page = opened.page
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    assert opened.said == []
    assert [url for url in opened.asked if not url.startswith(("file:", "data:"))] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    pictures = page.locator(".picture svg")
    assert pictures.count() >= 4
    for box in pictures.evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())"):
        assert 200 < box["width"] <= opened.width and box["height"] > 80
    assert page.locator("html").get_attribute("lang") == opened.lang


@pytest.mark.parametrize("width", [360, 800])
def test_no_line_ends_inside_a_name_or_before_a_korean_ending(browser: Any, report: Path, width: int) -> None:
    """Each pair of characters that belongs together stands on one line."""
    with Opened(browser, report / "light.ko.html", width) as opened:
        opened.page.evaluate("for (const svg of document.querySelectorAll('.picture svg')) svg.replaceChildren()")
        assert opened.page.evaluate(TORN) == []


# every pair "bracket or per cent, Hangul" of the texts, and every hyphen of short inline code: on how many lines?
TORN = """() => {
  const torn = [], range = document.createRange();
  const walk = document.createTreeWalker(document.getElementById('main'), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, text = node.data;
    if (node.parentElement.closest('pre, script, style, svg, math') || !node.parentElement.checkVisibility()) continue;
    const pairs = node.parentElement.closest('code') ? /-(?=[A-Za-z0-9-])/g : /[)\\]%”]\u2060?[가-힣]/g;
    for (const found of text.matchAll(pairs)) {
      range.setStart(node, found.index);
      range.setEnd(node, found.index + Math.max(2, found[0].length));
      const tops = [...range.getClientRects()].filter(box => box.width > 0).map(box => Math.round(box.top));
      const around = text.slice(Math.max(0, found.index - 12), found.index + 8);
      if (Math.max(...tops) - Math.min(...tops) > 4) torn.push(around);
    }
  }
  return torn.slice(0, 20);
}"""


@pytest.mark.parametrize(("lang", "width", "scheme"), LOOKED_AT)
def test_nothing_stands_in_anybodys_way(browser: Any, report: Path, lang: str, width: int, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with Opened(browser, report / f"light.{lang}.html", width, color_scheme=scheme) as opened:
        opened.page.evaluate("for (const details of document.querySelectorAll('details.deep')) details.open = true")
        # A picture has a role and a text of its own; what is inside it is for the eye alone, and would take minutes.
        assert opened.page.locator(".picture svg:not([aria-label])").count() == 0
        opened.page.evaluate("for (const svg of document.querySelectorAll('.picture svg')) svg.replaceChildren()")
        all_but = {"resultTypes": ["violations"], "rules": {CONTRAST: {"enabled": False}}}
        only = {"resultTypes": ["violations"], "runOnly": {"type": "rule", "values": [CONTRAST]}}
        assert opened.page.evaluate(KINDS) > 50
        looks = Axe().run(opened.page, options=all_but), Axe().run(opened.page, "[data-kind]", only)
        serious = [
            (violation["id"], [node["html"][:160] for node in violation["nodes"][:3]])
            for look in looks
            for violation in look.response["violations"]
            if violation["impact"] in ("serious", "critical")
        ]
        assert serious == []


# Contrast depends on a text's colour, size and weight and on what lies below it: one text of each kind is marked, for
# axe takes twice as long over the contrast of every text as over all its other rules together.
CONTRAST = "color-contrast"
KINDS = """() => {
  const grounds = new Map(), kinds = new Set();
  const ground = (one) => {
    if (!one) return "";
    if (!grounds.has(one)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(one);
      grounds.set(one, [ground(one.parentElement), backgroundColor, backgroundImage, opacity].join(" "));
    }
    return grounds.get(one);
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const one = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !one.checkVisibility()) continue;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(one);
    const kind = [ground(one), color, fontSize, fontWeight, textShadow].join(" ");
    if (!kinds.has(kind)) one.dataset.kind = kinds.size;
    kinds.add(kind);
  }
  return kinds.size;
}"""


@pytest.mark.parametrize(("lang", "word", "title"), [("en", "divided", "divided by"), ("ko", "나누는", "나누는 이유")])
def test_search_leads_to_a_lesson(browser: Any, report: Path, lang: str, word: str, title: str) -> None:
    with Opened(browser, report / f"light.{lang}.html", 360) as opened:
        page = opened.page
        page.fill("#search", word)
        first = page.locator("#results a").first
        assert title in first.inner_text()
        page.press("#search", "Enter")
        reaches(page, "#scaled_scores")
        assert page.locator("#results").is_hidden()
        page.fill("#search", "zzzz")
        assert page.locator("#results a").count() == 0 and page.locator("#results p").inner_text()
        page.press("#search", "Escape")
        assert page.locator("#results").is_hidden()


def test_light_and_dark(browser: Any, report: Path) -> None:
    with Opened(browser, report / "light.en.html", 1280, color_scheme="light") as opened:
        page = opened.page
        paper = "getComputedStyle(document.body).backgroundColor"
        ink = "getComputedStyle(document.querySelector('.picture svg text')).fill"
        light = page.evaluate(paper), page.evaluate(ink)
        page.click("#theme")
        dark = page.evaluate(paper), page.evaluate(ink)
        assert light[0] != dark[0] and light[1] != dark[1]
        page.reload()
        assert page.evaluate(paper) == dark[0]
        page.click("#theme")
        assert page.evaluate(paper) == light[0]


def test_letters_of_a_picture_keep_the_font_they_were_placed_with(browser: Any, report: Path) -> None:
    """Another font may be wider, and a label would run into the next one."""
    with Opened(browser, report / "light.ko.html", 1280) as opened:
        text = opened.page.locator("#decoder_attention .picture svg text").first
        written = text.get_attribute("style") or ""
        first = written.split("font-family:")[1].split(",")[0].strip(" '\"")
        assert text.evaluate("one => getComputedStyle(one).fontFamily").split(",")[0].strip(" '\"") == first


def test_values_show_themselves(browser: Any, report: Path) -> None:
    with Opened(browser, report / "light.en.html", 1280) as opened:
        page = opened.page
        picture = page.locator("#scaled_scores .picture")
        picture.scroll_into_view_if_needed()
        picture.locator(".hover").first.hover(force=True)
        found = recorded("scaled_scores")
        assert found is not None
        first = found.data["rows"][0]
        assert f"q·k · {first['d_k']}: {first['plain']['variance']['mean']:.2f}" in page.locator("#tip").inner_text()
        page.mouse.move(5, 400)
        assert page.locator("#tip").is_hidden()
        picture.focus()
        picture.press("ArrowRight")
        first = page.locator("#tip").inner_text()
        picture.press("ArrowRight")
        assert first and page.locator("#tip").inner_text() != first
        assert page.locator("#live").inner_text() == page.locator("#tip").inner_text()


def test_values_by_touch(browser: Any, report: Path) -> None:
    with Opened(browser, report / "light.ko.html", 360, has_touch=True) as opened:
        picture = opened.page.locator("#scaled_scores .picture")
        picture.scroll_into_view_if_needed()
        picture.locator(".hover").first.tap(force=True)
        assert "q·k" in opened.page.locator("#tip").inner_text()
        before = picture.locator("svg").bounding_box()["width"]
        opened.page.locator("#scaled_scores .enlarge").tap()
        assert picture.locator("svg").bounding_box()["width"] > 1.5 * before
        assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_contents_on_a_phone(browser: Any, report: Path) -> None:
    with Opened(browser, report / "light.en.html", 360) as opened:
        page = opened.page
        assert page.locator("#contents").is_hidden()
        page.click("#menu")
        page.click("#contents a[href='#scaled_scores']")
        assert page.locator("#contents").is_hidden()
        assert page.evaluate("Math.abs(document.querySelector('#scaled_scores').getBoundingClientRect().top) < 300")


def test_the_contents_by_keyboard(browser: Any, report: Path) -> None:
    with Opened(browser, report / "light.ko.html", 360) as opened:
        page = opened.page
        page.focus("#menu")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.closest('#contents') !== null")
        page.keyboard.press("Escape")
        assert page.locator("#contents").is_hidden() and page.evaluate("document.activeElement.id") == "menu"


@pytest.mark.parametrize("width", [360, 1280])
def test_a_box_of_the_map_is_a_way_to_its_lesson(browser: Any, report: Path, width: int) -> None:
    with Opened(browser, report / "light.ko.html", width) as opened:
        page = opened.page
        page.locator(".map svg a[href='#look_ahead_mask']").first.click()
        reaches(page, "#look_ahead_mask")


def test_from_leaf_to_leaf(browser: Any, report: Path) -> None:
    with Opened(browser, report / "light.en.html", 360) as opened:
        page = opened.page
        page.evaluate("document.querySelector('#page-welcome .tally a').click()")
        reaches(page, "#claims-confirmed")
        page.evaluate("document.querySelector('#page-welcome .turn a[rel=next]').click()")
        reaches(page, "#architecture")
        page.evaluate("document.querySelector('#architecture .turn a[rel=prev]').click()")
        reaches(page, "#page-welcome")


def test_a_table_that_is_too_wide_says_so(browser: Any, report: Path) -> None:
    boxes = """[...document.querySelectorAll('.scroll')].filter((box) => box.checkVisibility()).map((box) =>
        [box.scrollWidth > box.clientWidth + 1, !box.nextElementSibling.hidden])"""
    with Opened(browser, report / "light.en.html", 360) as opened:
        opened.page.wait_for_timeout(300)
        found = opened.page.evaluate(boxes)
        assert all(wide == told for wide, told in found) and any(wide for wide, _ in found)


def test_the_place_where_one_reads_is_marked(browser: Any, report: Path) -> None:
    with Opened(browser, report / "light.en.html", 1280) as opened:
        page = opened.page
        page.evaluate("document.querySelector('#scaled_scores').scrollIntoView()")
        page.wait_for_selector("#contents a[href='#scaled_scores'][aria-current]")


def test_deep_texts_and_files_unfold(browser: Any, report: Path) -> None:
    with Opened(browser, report / "light.en.html", 1280) as opened:
        page = opened.page
        deep = page.locator("#scaled_scores details.deep")
        assert deep.get_attribute("open") is None
        page.click("#depth")
        assert deep.get_attribute("open") is not None
        deep.locator("a[href='#source-layers-attention-kernel']").click()
        assert page.locator("#source-layers-attention-kernel").get_attribute("open") is not None


def test_on_paper_everything_is_open(browser: Any, report: Path) -> None:
    with Opened(browser, report / "report.ko.html", 1280) as opened:
        page = opened.page
        page.emulate_media(media="print")
        assert page.locator(".bar").is_hidden() and page.locator("#contents").is_hidden()
        assert page.locator("#scaled_scores .easy").is_visible()
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("#scaled_scores details.deep math").is_visible()
        assert page.locator(".claim details, .path").evaluate_all("all => all.every(one => one.open)")
        assert len(page.pdf(format="A4")) > 50_000


def test_without_scripts_it_is_still_a_book(browser: Any, report: Path) -> None:
    with Opened(browser, report / "light.en.html", 360, java_script_enabled=False) as opened:
        page = opened.page
        assert page.locator("#contents").is_visible() and page.locator("#menu").is_hidden()
        assert page.locator("#scaled_scores .easy").is_visible()


def test_the_first_tab_leads_to_the_text(browser: Any, report: Path) -> None:
    with Opened(browser, report / "light.en.html", 1280) as opened:
        opened.page.keyboard.press("Tab")
        assert opened.page.evaluate("document.activeElement.className") == "skip"
        opened.page.keyboard.press("Enter")
        assert opened.page.evaluate("document.activeElement.id") == "main"
