"""Predicting first, the glossary, pictures and the snippet of the explorer, in a real browser."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
import torch
from PIL import Image
from torch import Tensor

import glassformer as gf
from explorer_client import foreign, tiny_run
from glassformer.explorer.inputs import read
from glassformer.explorer.serve import start
from glassformer.textbook.book import Page
from in_browser import NEEDED, quiet_page, until

pytestmark = NEEDED
TEXT = "나는 학교에 간다"
PAPER, INK = (246, 247, 250), (28, 76, 172)  # of a map of weights, in light colours
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    running = start([tiny_run("translation", "post"), foreign("gpt2")], browser=False, port=0)
    yield running
    running.stop()


@pytest.fixture(params=[1280, 390])
def opened(request: pytest.FixtureRequest, browser: Any, server: Any) -> Iterator[Open]:
    with quiet_page(browser, request.param, color_scheme="light", accept_downloads=True) as page:

        def open_view(view: str, more: str = "", model: str = "ko-en", text: str = TEXT, lang: str = "en") -> Any:
            page.goto("about:blank")
            written = f"&text={text.replace(' ', '+')}" if text else ""
            page.goto(f"{server.url}#model={model}{written}&view={view}&lang={lang}{more}")
            page.wait_for_selector("html[data-ready=yes]")
            page.wait_for_selector(".figure-svg, .opened, .one-number")
            return page

        yield open_view


def recorded(name: str, model: str | Path = "ko-en", text: str = TEXT) -> Tensor:
    """A tensor of the pass, as the page receives it."""
    loaded = gf.load(model)
    given = read(loaded, {"text": text})
    with torch.no_grad(), gf.record(loaded.model, name) as trace:
        given.run(loaded.model, given.inputs)
    return trace[name][0]


def address(page: Any) -> str:
    return unquote(page.evaluate("location.hash"))


# --- predict first ---


@pytest.mark.parametrize(
    ("name", "head", "row", "allowed"),
    [
        ("encoder.blocks.0.self_attention", 1, 2, 4),
        ("decoder.blocks.1.self_attention", 0, 3, 4),  # four of five may be looked at
        ("decoder.blocks.2.cross_attention", 2, 2, 4),
    ],
)
def test_a_head_is_predicted_before_its_map_is_seen(opened: Open, name: str, head: int, row: int, allowed: int) -> None:
    shares = recorded(f"{name}.weights")[head, row]
    best = int(shares.argmax())
    rows = f"{row}," if name.startswith("encoder") else f"0,{row}"
    at = f"{name.replace('.blocks.', '.')}.weights.head{head}"
    page = opened("heads", f"&guess=1&row={rows}&at={at}")
    page.wait_for_selector("[data-guess-state=open]")
    assert page.locator(".guess-option").count() == allowed
    assert page.locator(".one-head .arcs, .one-head .map, .sentence").count() == 0
    cell = f".head-cell canvas[data-map='{name}.weights'][data-head='{head}']"
    assert visibility(page, cell) == "hidden"
    wrong = next(at for at in range(allowed) if at != best)
    page.keyboard.press(str(wrong + 1))
    page.wait_for_selector("[data-right=false]")
    told = [float(each.get_attribute("data-share")) for each in page.locator(".guess [data-share]").all()]
    assert told == pytest.approx([float(shares[wrong]), float(shares[best])], rel=2e-3, abs=1e-4)
    assert visibility(page, cell) == "visible" and page.locator(".one-head .arcs").count() == 1
    other = f".head-cell canvas[data-map='{name}.weights'][data-head='{(head + 1) % 4}']"
    assert visibility(page, other) == "hidden"
    tally = page.locator(".guess-tally")
    assert (tally.get_attribute("data-asked"), tally.get_attribute("data-tally")) == ("1", "0")
    assert float(tally.get_attribute("data-chance")) == pytest.approx(1 / allowed)


def visibility(page: Any, selector: str) -> Any:
    return page.eval_on_selector(selector, "(element) => getComputedStyle(element).visibility")


def test_the_next_question_is_about_another_head_and_the_tally_goes_on(opened: Open) -> None:
    page = opened("heads", "&guess=1&at=encoder.0.self_attention.weights.head0&row=1,")
    page.wait_for_selector("[data-guess-state=open]")
    shares = recorded("encoder.blocks.0.self_attention.weights")
    page.click(f".guess-option[data-option='{int(shares[0, 1].argmax())}']")
    page.wait_for_selector("[data-right=true]")
    page.click(".guess-next")
    page.wait_for_selector("[data-guess-state=open]")
    assert "at=encoder.0.self_attention.weights.head1" in address(page) and "row=2,0" in address(page)
    page.focus(f".guess-option[data-option='{int(shares[1, 2].argmax())}']")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-right=true]")
    assert page.get_attribute(".guess-tally", "data-tally") == "2"
    page.reload()  # what was said is known as long as the tab is open
    page.wait_for_selector("[data-right=true]")
    page.click(".guess-forget")
    page.wait_for_selector("[data-guess-state=open]")
    assert page.locator(".guess-tally").count() == 0
    page.click(".guess-switch")
    page.wait_for_selector(".one-head .arcs")
    assert "guess" not in address(page) and page.locator(".guess").count() == 0


def test_where_only_one_token_may_be_looked_at_nothing_is_asked(opened: Open) -> None:
    page = opened("steps", "&guess=1&at=decoder.0.self_attention.weights.head0", lang="ko")
    page.wait_for_selector(".guess")
    assert page.locator(".guess-option").count() == 0 and page.locator(".guess-next").count() == 1
    assert page.locator(".stage .map").count() == 0


@pytest.mark.parametrize("scene", ["scores", "mask", "weights"])
def test_the_step_player_asks_before_the_maps(opened: Open, scene: str) -> None:
    page = opened("steps", f"&guess=1&at=decoder.0.self_attention.{scene}.head1&row=0,2")
    page.wait_for_selector("[data-guess-state=open]")
    assert page.locator(".guess-option").count() == 3 and page.locator(".stage .map").count() == 0
    page.keyboard.press("1")
    page.wait_for_selector(".stage .map")
    assert visibility(page, ".stage .map") == "visible"


@pytest.mark.parametrize(("model", "text"), [("ko-en", TEXT), ("explorer-gpt2", "the cat")])
def test_the_next_token_is_predicted_before_the_answer_is_seen(
    opened: Open, server: Any, model: str, text: str
) -> None:
    row = 1
    page = opened("steps", f"&guess=1&at=head.choice&row={f'0,{row}' if model == 'ko-en' else f'{row},0'}", model, text)
    page.wait_for_selector("[data-guess-state=open]")
    loaded = gf.load(model if model == "ko-en" else foreign("gpt2"))
    given = read(loaded, {"text": text})
    with torch.no_grad():
        shares = given.run(loaded.model, given.inputs)[0, row].softmax(-1)
    tops = shares.topk(8)
    pieces = [loaded.vocabularies.target.piece(int(token)) for token in tops.indices]
    offered = page.locator(".guess-option > span").all_text_contents()
    assert sorted(offered) == sorted(pieces)
    assert page.locator(".choices").count() == 0
    transparent = page.eval_on_selector("#answer > :last-child", "(element) => getComputedStyle(element).color")
    assert transparent == "rgba(0, 0, 0, 0)"
    page.click(f".guess-option[data-option='{offered.index(pieces[0])}']")
    page.wait_for_selector("[data-right=true]")
    assert float(page.get_attribute(".guess [data-share]", "data-share")) == pytest.approx(
        float(tops.values[0]), rel=1e-4
    )
    assert page.locator(".choices").count() == 1


def test_a_class_is_predicted_too(opened: Open) -> None:
    page = opened("steps", "&guess=1&at=head.choice", "digits", "", "ko")
    page.wait_for_selector("[data-guess-state=open]")
    loaded = gf.load("digits")
    given = read(loaded, {"example": 0})
    with torch.no_grad():
        shares = given.run(loaded.model, given.inputs)[0].softmax(-1)
    assert page.locator(".guess-option > span").all_text_contents() == loaded.labels
    page.click(f".guess-option[data-option='{int(shares.argmax())}']")
    page.wait_for_selector("[data-right=true]")


# --- the glossary ---


def meaning(page: Any, key: str, lang: str) -> bool:
    term = Page("glossary", lang).terms[key]
    note = page.text_content("#term-note").replace("\u2060", "")
    return term["term"] in note and re.sub(r"[`*]", "", term["meaning"])[:30] in note


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_terms_are_marked_once_in_each_panel_and_texts_stay(opened: Open, lang: str) -> None:
    page = opened("steps", "&at=encoder.0.self_attention.weights.head0", lang=lang)
    page.wait_for_selector(".lesson .term[data-term=head]")
    marks = page.locator(".lesson .term")
    keys = [each.get_attribute("data-term") for each in marks.all()]
    assert len(keys) == len(set(keys)) and {"head", "attention"} <= set(keys)
    assert page.locator(".stage-head .term[data-term=softmax]").count() == 1
    told = page.evaluate(
        "async (lang) => (await (await fetch(`/api/lesson/attention_patterns?lang=${lang}`)).json()).easy", lang
    )
    assert page.eval_on_selector(
        ".lesson-text",
        """(text, told) => {
          const other = document.createElement("div");
          other.innerHTML = told;
          return other.textContent === text.textContent;
        }""",
        told,
    )


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_note_opens_by_pointer_and_keyboard_and_escape_closes_it(opened: Open, lang: str) -> None:
    page = opened("steps", "&at=encoder.0.self_attention.weights.head0&zoom=3", lang=lang)
    page.wait_for_selector(".lesson .term[data-term=head]")
    page.hover(".lesson .term[data-term=head]")
    page.wait_for_selector("#term-note:not([hidden])", timeout=8_000)
    assert meaning(page, "head", lang)
    described = page.get_attribute(".lesson .term[data-term=head]", "aria-describedby")
    assert described == "term-note" and page.get_attribute(f"#{described}", "role") == "tooltip"
    box = page.locator("#term-note").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= page.viewport_size["width"]
    page.keyboard.press("Escape")
    page.wait_for_selector("#term-note", state="hidden")
    assert "zoom=3" in address(page)  # it was the note that was closed
    page.mouse.move(0, 0)
    page.focus(".stage-head .term[data-term=softmax]")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    page.wait_for_selector("#term-note[data-key=softmax]:not([hidden])", timeout=8_000)
    assert meaning(page, "softmax", lang)


def test_a_touch_opens_a_note(browser: Any, server: Any) -> None:
    with quiet_page(browser, 390, has_touch=True) as page:
        page.goto(f"{server.url}#model=ko-en&view=steps&at=encoder.0.self_attention.weights.head0&lang=en")
        page.wait_for_selector(".lesson .term[data-term=head]")
        page.tap(".lesson .term[data-term=head]")
        page.wait_for_selector("#term-note:not([hidden])", timeout=8_000)
        assert meaning(page, "head", "en")
        page.tap(".brand")
        page.wait_for_selector("#term-note", state="hidden")


def test_a_long_touch_of_a_box_asks_and_a_short_one_opens_it(browser: Any, server: Any) -> None:
    with quiet_page(browser, 390, has_touch=True) as page:
        page.goto(f"{server.url}#model=ko-en&view=heads&lang=en")
        box = page.locator(".figure-svg .box[data-at='decoder.0.cross_attention']")
        box.scroll_into_view_if_needed()
        frame = box.bounding_box()
        point = {"x": frame["x"] + frame["width"] / 2, "y": frame["y"] + frame["height"] / 2}
        fingers = page.context.new_cdp_session(page)
        fingers.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        page.wait_for_selector("#term-note[data-key=cross_attention]:not([hidden])", timeout=8_000)
        fingers.send("Input.dispatchTouchEvent", {"type": "touchCancel", "touchPoints": []})
        assert "at=" not in address(page)
        box.tap()
        page.wait_for_selector(".opened")
        assert "at=decoder.0.cross_attention" in address(page)
        assert page.locator("#term-note").is_hidden()


@pytest.mark.parametrize(
    ("at", "key"),
    [
        ("encoder.0.self_attention", "multi_head"),
        ("decoder.0.self_attention", "masked_attention"),
        ("decoder.0.cross_attention", "cross_attention"),
        ("encoder.0.feed_forward", "feed_forward"),
        ("encoder.0.self_attention_norm", "layer_norm"),
        ("encoder.0.after_self_attention", "residual_connection"),
    ],
)
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_boxes_of_the_figure_say_what_they_are(browser: Any, server: Any, at: str, key: str, lang: str) -> None:
    with quiet_page(browser) as page:
        page.goto(f"{server.url}#model=ko-en&lang={lang}")
        page.wait_for_selector(".figure-svg .box")
        page.hover(f".figure-svg .box[data-at='{at}']")
        page.wait_for_selector("#term-note:not([hidden])", timeout=8_000)
        assert page.get_attribute("#term-note", "data-key") == key and meaning(page, key, lang)


FOUND = {
    "en": {
        "Queries meet keys; a head has two heads": ["query", "key", "head", "head"],
        "self-attention is attention": ["self_attention", "attention"],
        "headed, pre-normed, ahead, head-on, a tokenized text": [],
        "Two losses, two classes, scaled dot-product attention": ["loss", "class_label", "scaled_dot_product"],
        "adam is no Adam": ["adam"],
        "It depends on what was confirmed": [],
    },
    "ko": {
        "헤드마다 토큰들의 어텐션은 1층에서부터": ["head", "token", "attention", "layer"],
        "셀프 어텐션을, LayerNorm은": ["self_attention", "layer_norm"],
        "고층에서 배치했고 머리헤드의": [],
        "쿼리와 키를": ["query", "key"],
        "소프트맥스입니다. 로짓이라고": ["softmax", "logits"],
    },
}


@pytest.mark.parametrize("lang", FOUND)
def test_terms_are_found_as_they_are_written(browser: Any, server: Any, lang: str) -> None:
    with quiet_page(browser) as page:
        page.goto(f"{server.url}#model=ko-en&lang={lang}")
        page.wait_for_selector("html[data-ready=yes]")
        found = page.evaluate(
            """async ([lang, texts]) => {
              const { glossary } = await import("/static/terms/mark.js");
              const { find } = await glossary(lang);
              return texts.map((text) => find(text).map(({ key }) => key));
            }""",
            [lang, list(FOUND[lang])],
        )
        assert found == list(FOUND[lang].values())


@pytest.mark.parametrize(("text", "marked"), [("A key of music has a value", 0), ("A query meets a key", 2)])
def test_everyday_words_are_terms_only_beside_their_like(browser: Any, server: Any, text: str, marked: int) -> None:
    with quiet_page(browser) as page:
        page.goto(f"{server.url}#model=ko-en&lang=en")
        page.wait_for_selector("html[data-ready=yes]")
        page.evaluate(
            """(text) => {
              const panel = document.createElement("div");
              panel.className = "card";
              panel.id = "ours";
              panel.innerHTML = "<p>token</p><p></p>";
              panel.lastChild.textContent = text;
              document.querySelector("#view").append(panel);
            }""",
            text,
        )
        page.wait_for_selector("#ours .term[data-term=token]")
        assert page.locator("#ours .term").count() == 1 + marked
        assert page.text_content("#ours") == f"token{text}"


def test_the_language_of_the_terms_follows_that_of_the_page(opened: Open) -> None:
    page = opened("heads")
    page.wait_for_selector(".head-kind .term")
    assert page.text_content(".head-kind .term") == "Encoder"
    page.click("#language")
    until(page, lambda: page.locator(".head-kind .term").first.text_content() == "인코더")


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_nothing_stands_in_the_way_of_a_screen_reader(opened: Open, lang: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = opened("heads", "&guess=1", lang=lang)
    page.wait_for_selector("[data-guess-state=open]")
    page.wait_for_selector(".guess .term")
    page.keyboard.press("1")
    page.wait_for_selector("[data-guess-state=said]")
    page.hover(".head-kind .term")
    page.wait_for_selector("#term-note:not([hidden])", timeout=8_000)
    page.click("#take-view")
    serious = [one for one in Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in serious] == []
    page.keyboard.press("Escape")
    page.click("#python")
    page.wait_for_selector("#python-gives[data-value]")
    serious = [one for one in Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in serious] == []


# --- pictures ---


def taken(page: Any, menu: str, kind: str) -> tuple[str, bytes]:
    page.click(menu)
    with page.expect_download() as download:
        page.click(f"{menu}-list [data-take={kind}]")
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def colour(share: float) -> tuple[int, ...]:
    """Of a weight: from paper to ink in 255 steps."""
    part = int(share * 255 + 0.5) / 255
    return tuple(int(low + (high - low) * part + 0.5) for low, high in zip(PAPER, INK, strict=True))


def alone(content: bytes) -> ElementTree.Element:
    """An SVG that opens alone: XML without scripts, listeners, HTML, classes and addresses elsewhere."""
    root = ElementTree.fromstring(content)
    for element in root.iter():
        tag = element.tag.rpartition("}")[2]
        assert tag not in ("script", "style", "foreignObject", "a", "use")
        for name, value in element.attrib.items():
            assert (not name.startswith("on") and name not in ("class", "id")) or value.startswith("clip-")
            assert "var(" not in value and "http" not in value
            if name.endswith("href"):
                assert value.startswith("data:image/png;base64,")
            if "url(" in value:
                assert value.startswith("url(#clip-")
    return root


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(element.itertext()).strip() for element in root.iter() if element.tag.endswith("}text")]


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_figure_is_saved_as_a_drawing_that_stands_alone(opened: Open, lang: str) -> None:
    page = opened("heads", lang=lang)
    page.wait_for_selector(".head-cell canvas")
    name, content = taken(page, "#take-figure", "svg")
    assert name == "ko-en-figure.svg"
    root = alone(content)
    shown = page.eval_on_selector_all(".figure-svg text", "(texts) => texts.map((text) => text.textContent.trim())")
    assert sorted(texts(root)) == sorted(text for text in shown if text)
    fills = {element.get("fill") for element in root.iter() if element.tag.endswith("}rect")}
    assert {"#ffe3c7", "#cfe6fb", "#f5eebb"} <= fills  # attention, feed-forward, norm


def test_a_panel_has_its_numbers_and_the_pixels_of_its_maps(opened: Open) -> None:
    attention = "decoder.blocks.0.cross_attention.weights"
    page = opened("steps", "&at=decoder.0.cross_attention.weights.head1&row=0,2")
    page.wait_for_selector(".stage .map-canvas")
    weights = recorded(attention)[1].half().float()
    name, content = taken(page, "#take-view", "svg")
    assert name == "ko-en-steps-decoder.0.cross_attention.weights.head1.svg"
    root = alone(content)
    assert {f"{share:.3f}" for share in weights[2].tolist()} <= set(texts(root))
    (image,) = [element for element in root.iter() if element.tag.endswith("}image")]
    pixels = Image.open(
        io.BytesIO(base64.b64decode(next(v for k, v in image.items() if "href" in k).partition(",")[2]))
    )
    assert pixels.size == (weights.shape[1], weights.shape[0])
    wanted = [[colour(share) for share in row] for row in weights.tolist()]
    assert [
        [pixels.convert("RGB").getpixel((x, y)) for x in range(pixels.width)] for y in range(pixels.height)
    ] == wanted
    name, drawn = taken(page, "#take-view", "png")
    assert name.endswith(".head1.png")
    picture = Image.open(io.BytesIO(drawn)).convert("RGB")
    left, top, *_ = map(float, root.attrib["viewBox"].split())
    fine = picture.width / float(root.attrib["width"])
    for y, row in enumerate(wanted):
        for x, expected in enumerate(row):
            # a tenth into the cell: the frame of the followed row lies on its edge, numbers nowhere
            across = float(image.attrib["x"]) + (x + 0.5) * float(image.attrib["width"]) / len(row)
            down = float(image.attrib["y"]) + (y + 0.5) * float(image.attrib["height"]) / len(wanted)
            assert picture.getpixel((int((across - left) * fine), int((down - top) * fine))) == expected


@pytest.mark.parametrize("view", ["steps", "heads", "interfere", "lens", "decoding"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_can_be_saved(browser: Any, server: Any, view: str, scheme: str) -> None:
    with quiet_page(browser, color_scheme=scheme, accept_downloads=True) as page:
        page.goto(f"{server.url}#model=ko-en&text={TEXT}&view={view}&at=encoder.0.self_attention.scores&zoom=4&lang=ko")
        page.wait_for_selector(".opened .map-canvas")
        page.wait_for_selector(
            {"lens": ".lens-cell", "decoding": "[data-bar]", "interfere": "#moved"}.get(view, ".map-canvas")
        )
        for menu, what in (("#take-view", view), ("#take-figure", "figure")):
            name, content = taken(page, menu, "svg")
            assert name == f"ko-en-{what}-encoder.0.self_attention.scores.svg"
            root = alone(content)
            assert len(texts(root)) > 5
            paper = next(
                element
                for element in root.iter()
                if element.tag.endswith("}rect") and element.get("width") == root.get("width")
            )
            assert paper.get("fill") == ("#ffffff" if scheme == "light" else "#191d27")
            _, drawn = taken(page, menu, "png")
            width, height = Image.open(io.BytesIO(drawn)).size
            assert width / height == pytest.approx(float(root.attrib["width"]) / float(root.attrib["height"]), rel=0.01)


def test_the_menu_works_by_keyboard(opened: Open) -> None:
    page = opened("heads")
    page.focus("#take-view")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.take") == "svg"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "take-view"
    assert page.get_attribute("#take-view", "aria-expanded") == "false"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "ko-en-heads.svg"


# --- Python ---


def outcome(code: str) -> Any:
    space: dict[str, Any] = {}
    exec(compile(code, "snippet", "exec"), space)
    return space["number"]


def code_of(page: Any) -> str:
    page.wait_for_selector("#python-gives[data-value]")
    return str(page.text_content(".snippet code"))


@pytest.mark.parametrize(
    ("at", "cell", "edits"),
    [
        ("decoder.1.cross_attention.weights.head2", "2,1", ""),
        ("encoder.2.feed_forward.output", "1,5", "zero~encoder.blocks.0.self_attention.heads~h1"),
        ("decoder.0.self_attention.scores.head0", "3,1", "forbid~decoder.blocks.0.self_attention~h0~r3~c1"),
        ("encoder.0.self_attention.k.head3", "0,4", "scale~encoder.input~r0~x2"),
    ],
)
def test_the_snippet_gives_the_number_on_the_page(opened: Open, at: str, cell: str, edits: str) -> None:
    page = opened("steps", f"&at={at}&cell={cell}&zoom=5{f'&edits={edits}' if edits else ''}", lang="ko")
    page.wait_for_selector(".big-number")
    shown = float(page.get_attribute(".big-number", "data-value"))
    page.click("#python")
    number = outcome(code_of(page))
    close = 1e-3 if at.split(".")[3] in ("weights", "scores") else 1e-6  # maps travel in float16
    assert number == pytest.approx(shown, rel=close, abs=1e-6)
    assert float(page.get_attribute("#python-gives", "data-value")) == pytest.approx(number, rel=1e-6)
    assert "aside=python" in address(page)
    page.keyboard.press("Escape")
    until(page, lambda: "aside" not in address(page))
    assert not page.evaluate("document.querySelector('dialog').open")


def test_the_snippet_follows_what_is_looked_at(opened: Open) -> None:
    page = opened("heads", "&aside=python")
    code = code_of(page)
    weights = recorded("decoder.blocks.2.cross_attention.weights")
    assert torch.allclose(outcome(code), weights[0])
    page.click("#python-close")
    page = opened("steps", "&aside=python&at=head.choice&row=0,1")
    code = code_of(page)
    shown = float(page.get_attribute("#python-gives", "data-value"))
    assert outcome(code) == pytest.approx(shown, rel=1e-6)
    assert shown == pytest.approx(float(page.locator(".choices .term-value").first.text_content()), abs=5e-4)


@pytest.mark.parametrize(
    "model", ["digits", "forecaster", "masked-ko", "writer-en", "clothes", "tiny-translation-post"]
)
def test_the_answer_of_every_family_is_computed_again(browser: Any, server: Any, model: str) -> None:
    with quiet_page(browser) as page:
        page.goto(f"{server.url}#model={model}&view=steps&aside=python&lang=en")
        number = outcome(code_of(page))
        shown = page.get_attribute("#python-gives", "data-value")
        if shown == "null":
            loaded = gf.load(model)
            given = read(loaded, {"example": 0})
            with torch.no_grad():
                assert number.tolist() == pytest.approx(given.restore(given.run(loaded.model, given.inputs)[0]))
        else:
            assert number == pytest.approx(json.loads(shown), rel=1e-6)


def test_the_code_can_be_copied(browser: Any, server: Any) -> None:
    with quiet_page(browser, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto(f"{server.url}#model=ko-en&view=heads&lang=ko")
        page.wait_for_selector("html[data-ready=yes]")
        page.focus("#python")
        page.keyboard.press("Enter")
        code = code_of(page)
        page.focus("#python-copy")
        page.keyboard.press("Enter")
        until(page, lambda: page.text_content("#python-copy") == "복사했습니다")
        assert page.evaluate("navigator.clipboard.readText()") == code
