"""Images, objects, series, masked words and classes in a real browser: what is shown is computed again by `gf`."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from torch import Tensor

import foreign_models
import glassformer as gf
from explorer_client import foreign, tiny_run
from glassformer.explorer.answers import answer
from glassformer.explorer.inputs import read
from glassformer.explorer.pictures import example_images
from glassformer.explorer.serve import start
from glassformer.loading import Loaded
from glassformer.words import say
from in_browser import NEEDED, quiet_page, until
from once import once

pytestmark = NEEDED
WIDTHS = pytest.mark.parametrize("opened", [1280, 390], indirect=True)
STRONGEST = 217  # how opaque the largest share is drawn over an image
Opened = Callable[..., Any]


def large_vit(folder: Path) -> None:
    """Coloured images of 40 by 40, too large for an address."""
    config = transformers.ViTConfig(image_size=40, patch_size=10, num_labels=2, **foreign_models.BODY)
    transformers.ViTForImageClassification(config).save_pretrained(folder)


@pytest.fixture(scope="module")
def folders() -> dict[str, Path]:
    return {
        "queries": tiny_run("object_queries"),
        "prompts": tiny_run("prompted_objects", "post"),
        "bert": foreign("bert"),
        "vit": once("explorer-large-vit", large_vit),
    }


@pytest.fixture(scope="module")
def server(folders: dict[str, Path]) -> Iterator[Any]:
    running = start([*folders.values()], browser=False)
    yield running
    running.stop()


@pytest.fixture
def opened(request: pytest.FixtureRequest, browser: Any, server: Any) -> Iterator[Opened]:
    with quiet_page(browser, getattr(request, "param", 1280)) as page:

        def open_model(model: str, more: str = "", lang: str = "en") -> Any:
            page.goto("about:blank")
            page.goto(f"{server.url}#model={model}&lang={lang}{more}")
            page.wait_for_selector("#figure .box")
            return page

        yield open_model


def field(page: Any, key: str) -> str:
    return parse_qs(urlparse(page.url).fragment).get(key, [""])[0]


def said(loaded: Loaded, given: dict[str, Any]) -> dict[str, Any]:
    one = read(loaded, given)
    with torch.no_grad():
        return answer(loaded, one, one.run(loaded.model, one.inputs))


def weights(loaded: Loaded, given: dict[str, Any], name: str) -> Tensor:
    one = read(loaded, given)
    with torch.no_grad(), gf.record(loaded.model) as trace:
        one.run(loaded.model, one.inputs)
    return trace[name][0]  # h t s


def drawn(page: Any) -> np.ndarray:
    """The bytes of the drawing in the address."""
    written = field(page, "drawn")
    return np.frombuffer(base64.urlsafe_b64decode(written + "=" * (-len(written) % 4)), dtype=np.uint8)


COPIED = """one => {
  const copy = new OffscreenCanvas(one.width, one.height).getContext("2d", {willReadFrequently: true});
  copy.drawImage(one, 0, 0);
  return [one.height, one.width, ...copy.getImageData(0, 0, one.width, one.height).data];
}"""


def pixels(page: Any, selector: str) -> np.ndarray:
    """Red, green, blue and opacity of every pixel of a canvas."""
    rows_, columns, *found = page.eval_on_selector(selector, COPIED)
    return np.array(found).reshape(rows_, columns, 4)


def shares(page: Any) -> list[float]:
    return page.eval_on_selector_all(".class-shares li", "rows => rows.map((row) => Number(row.dataset.p))")


def shows(page: Any, wanted: list[float]) -> None:
    until(page, lambda: shares(page) == pytest.approx(wanted, abs=1e-6))


def classes(loaded: Loaded, given: dict[str, Any]) -> list[float]:
    return [one["p"] for one in said(loaded, given)["classes"]]


def rows(bytes_: np.ndarray, side: int) -> Any:
    return [[round(int(byte) / 255, 4) for byte in row] for row in bytes_.reshape(side, side)]


# --- images ---


@WIDTHS
@pytest.mark.parametrize(("model", "side"), [("digits", 8), ("clothes", 28)])
def test_a_drawing_runs_at_once_and_stands_in_the_address(opened: Opened, model: str, side: int) -> None:
    page, loaded = opened(model), gf.load(model)
    page.wait_for_selector(".class-shares li")
    page.click("#clear")
    until(page, lambda: field(page, "drawn") != "" and not drawn(page).any())
    box = page.locator("#pad").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.15)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.85, steps=4)
    page.mouse.up()
    until(page, lambda: bool((drawn(page).reshape(side, side)[side // 4 : side - side // 4, side // 2] > 0).all()))
    until(page, lambda: bool((pixels(page, "#pad-canvas")[..., 0] == drawn(page).reshape(side, side)).all()))
    line = drawn(page).reshape(side, side)
    assert not line[:, : side // 4].any()
    assert (pixels(page, "#pad-canvas")[..., 0] == line).all()
    shows(page, classes(loaded, {"pixels": rows(line, side)}))
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector(".class-shares li")
    shows(page, classes(loaded, {"pixels": rows(line, side)}))
    assert (pixels(page, "#pad-canvas")[..., 0] == line).all()


@WIDTHS
def test_the_keyboard_draws_and_erases(opened: Opened) -> None:
    page = opened("digits")
    page.click("#clear")
    page.focus("#pad")
    for key in ("ArrowLeft", "ArrowUp", "ArrowUp", " "):
        page.keyboard.press(key)
    until(page, lambda: field(page, "drawn") != "" and bool(drawn(page).any()))
    assert drawn(page).reshape(8, 8).argmax() == 2 * 8 + 3 and drawn(page).max() == 255
    shows(page, classes(gf.load("digits"), {"pixels": rows(drawn(page), 8)}))
    page.click("[data-tool='erase']")
    page.focus("#pad")
    page.keyboard.press(" ")
    until(page, lambda: not drawn(page)[2 * 8 + 3])


def test_an_example_is_a_picture_and_its_classes_are_those_of_the_model(opened: Opened) -> None:
    page, loaded = opened("digits"), gf.load("digits")
    picture = example_images(loaded)[3][0]
    shown = pixels(page, ".thumbnail:nth-child(4) canvas")
    assert (shown[..., 0] == (255 * picture).round().numpy()).all()
    page.click(".thumbnail:nth-child(4)")
    shows(page, classes(loaded, {"example": 3}))
    assert field(page, "example") == "3"
    best = max(said(loaded, {"example": 3})["classes"], key=lambda one: one["p"])
    assert page.text_content(".class-shares .best .term-label") == best["label"]


@WIDTHS
def test_a_file_is_scaled_to_the_raster_and_what_is_no_image_is_one_line(opened: Opened, tmp_path: Path) -> None:
    page = opened("digits")
    half = np.zeros((64, 96), dtype=np.uint8)
    half[:, :48] = 255  # of the middle square, the left half
    Image.fromarray(half).save(tmp_path / "half.png")
    page.set_input_files("#upload", tmp_path / "half.png")
    until(page, lambda: field(page, "drawn") != "")
    seen = drawn(page).reshape(8, 8)
    assert (seen[:, :3] > 250).all() and (seen[:, 5:] < 5).all()
    shows(page, classes(gf.load("digits"), {"pixels": rows(seen, 8)}))
    page.click("#invert")
    until(page, lambda: bool((drawn(page).reshape(8, 8) == 255 - seen).all()))
    (tmp_path / "no.png").write_text("no image")
    page.set_input_files("#upload", tmp_path / "no.png")
    page.wait_for_selector("#input-error:visible")
    assert page.text_content("#input-error") == "This file is no image that the browser can read."
    page.click("#language")
    until(page, lambda: "이미지" in (page.text_content("#input-error") or ""))
    Image.new("1", (7100, 7100)).save(tmp_path / "wide.png")  # few bytes, many pixels
    (tmp_path / "heavy.png").write_bytes(bytes(20_000_001))
    for name in ("wide.png", "heavy.png"):
        page.set_input_files("#upload", tmp_path / "no.png")
        until(page, lambda: "읽을 수" in (page.text_content("#input-error") or ""))
        page.set_input_files("#upload", tmp_path / name)
        until(page, lambda: page.text_content("#input-error") == say("explorer.families.file_large", "ko"))


def test_a_coloured_image_that_no_address_holds_says_so(
    opened: Opened, folders: dict[str, Path], tmp_path: Path
) -> None:
    page, loaded = opened(folders["vit"].name), gf.load(folders["vit"])
    colours = np.zeros((40, 40, 3), dtype=np.uint8)
    colours[:20, :, 0], colours[20:, :, 2] = 200, 90
    Image.fromarray(colours).save(tmp_path / "colours.png")
    page.set_input_files("#upload", tmp_path / "colours.png")
    until(page, lambda: field(page, "drawn") == "here")
    given = [[[round(int(byte) / 255, 4) for byte in row] for row in plane] for plane in colours.transpose(2, 0, 1)]
    shows(page, classes(loaded, {"pixels": given}))
    assert (pixels(page, "#pad-canvas")[..., :3] == colours).all()
    assert "too large for the address" in page.text_content(".pad-beside")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#input-error:visible")
    shows(page, classes(loaded, {"example": 0}))


# --- patches ---


@WIDTHS
@pytest.mark.parametrize("view", ["steps", "heads"])
def test_the_attention_over_the_image_is_the_followed_row(opened: Opened, view: str) -> None:
    at = "encoder.1.self_attention" + (".weights" if view == "steps" else "")
    page, name = opened("clothes", f"&view={view}&at={at}.head2"), "encoder.blocks.1.self_attention.weights"
    overlay = f"[data-overlay='{name}']"
    page.wait_for_selector(overlay)
    found = weights(gf.load("clothes"), {"example": 0}, name)[2].half().float().numpy()

    def is_row(row: int) -> bool:
        wanted = np.round(STRONGEST * found[row, 1:] / found[row, 1:].max()).reshape(7, 7)
        return bool((np.abs(pixels(page, overlay)[..., 3] - wanted) <= 1).all())

    assert is_row(0) and not is_row(17)  # that of [CLS] first
    page.click(".board:not(.small) [data-token='source:17']")
    until(page, lambda: is_row(17))
    assert field(page, "row") == "17,0"
    page.focus(".board:not(.small) .board-cell[data-token='source:17']")
    page.keyboard.press("ArrowDown")  # a row of patches further down
    page.keyboard.press("Enter")
    until(page, lambda: is_row(24))


def test_a_patch_is_highlighted_everywhere(opened: Opened) -> None:
    page = opened("clothes", "&at=pieces")
    page.hover(".board-cell[data-token='source:9']")
    page.wait_for_selector(".figure-patch.hot-token")
    assert page.get_attribute(".figure-patch.hot-token", "data-token") == "source:9"
    page.hover(".figure-patch[data-token='source:30']")
    page.wait_for_selector(".board-cell.hot-token[data-token='source:30']")


def test_a_patch_that_overlaps_shows_how_far_it_reaches(opened: Opened) -> None:
    page, cell = opened("objects", "&at=pieces.source"), ".board.overlap.apart .board-cell[data-token='source:9']"
    page.click(cell)
    page.wait_for_selector(f"{cell}[aria-pressed='true']")
    assert "patches of 12 × 12 pixels; a new one begins every 4 pixels" in page.text_content(".stage")
    read_ = "one => [parseFloat(getComputedStyle(one, '::after').width), one.getBoundingClientRect().width]"
    frame, middle = page.eval_on_selector(cell, read_)
    assert frame / middle == pytest.approx(12 / 4, abs=0.02)
    plain = opened("digits", "&at=pieces")
    plain.wait_for_selector(".board.apart")
    assert plain.locator(".board.overlap").count() == 0 and "overlap" not in plain.text_content(".stage")


@pytest.mark.parametrize(
    ("model", "lang", "titles"),
    [
        ("digits", "en", ["The image", "Patches"]),
        ("digits", "ko", ["이미지", "패치"]),
        ("prices", "en", ["The series", "Patches"]),
        ("ko-en", "ko", ["글", "토큰과 번호"]),
    ],
)
def test_the_player_begins_with_what_is_given(opened: Opened, model: str, lang: str, titles: list[str]) -> None:
    page = opened(model, lang=lang)
    for title in titles:
        until(page, lambda title=title: page.text_content(".stage h2") == title)
        page.click("[data-step='on']")


@pytest.mark.parametrize("model", ["digits", "prices", "queries", "prompts"])
def test_the_player_reaches_its_end(opened: Opened, folders: dict[str, Path], model: str) -> None:
    page = opened(folders[model].name if model in folders else model)
    page.wait_for_selector(".stage h2")
    last = int(page.get_attribute(".player-slider", "max"))
    for step in range(last):
        page.click("[data-step='on']")
        until(page, lambda step=step: page.text_content(".player-count") == f"{step + 2} / {last + 1}")
    assert page.locator("[data-step='on']").is_disabled()


# --- objects ---


def boxes(page: Any, inside: str) -> list[list[float]]:
    """Left, top, width and height, in pixels of the canvas."""
    read_ = "boxes => boxes.map((one) => ['x', 'y', 'width', 'height'].map((key) => Number(one.getAttribute(key))))"
    return page.eval_on_selector_all(f"{inside} .object-box", read_)


def corners(found: dict[str, Any], side: int) -> list[float]:
    cx, cy, wide, tall = found["box"]
    return [side * value for value in (cx - wide / 2, cy - tall / 2, wide, tall)]


@WIDTHS
def test_the_boxes_are_those_of_the_queries(opened: Opened, folders: dict[str, Path]) -> None:
    page, loaded = opened(folders["queries"].name, "&example=2&at=head.choice"), gf.load(folders["queries"])
    found, side = said(loaded, {"example": 2})["objects"], loaded.config.model.input.options["size"]
    for place in ("#pad", ".canvas-found"):
        until(page, lambda place=place: len(boxes(page, place)) == len(found))
        assert boxes(page, place) == [pytest.approx(corners(one, side), rel=1e-5) for one in found]
    listed = page.query_selector_all(".pad-beside .object")
    assert [float(one.get_attribute("data-p")) for one in listed] == pytest.approx([one["p"] for one in found])
    assert [one.query_selector("strong").text_content() for one in listed] == [
        one["label"] or "nothing" for one in found
    ]
    page.wait_for_selector(".view .term[data-term=query], .head-kind .term, .stage .term")
    assert page.locator(".pad-beside .term[data-term=key]").count() == 0  # arrow keys are no keys of attention
    page.hover(".pad-beside .object[data-token='target:1']")
    page.wait_for_selector("#pad .object-frame.hot-token[data-token='target:1']")
    page.click(".pad-beside .object[data-token='target:1']")
    until(page, lambda: field(page, "row") == "0,1")
    page.wait_for_selector("#pad .object-frame.followed[data-token='target:1']")


def test_where_a_query_looks_lies_over_the_image(opened: Opened, folders: dict[str, Path]) -> None:
    name = "decoder.blocks.0.cross_attention.weights"
    page = opened(folders["queries"].name, "&at=decoder.0.cross_attention.weights.head1&row=0,1")
    page.wait_for_selector(f"[data-overlay='{name}']")
    row = weights(gf.load(folders["queries"]), {"example": 0}, name)[1, 1].half().float().numpy()
    wanted = np.round(STRONGEST * row / row.max()).reshape(4, 4)
    assert np.abs(pixels(page, f"[data-overlay='{name}']")[..., 3] - wanted).max() <= 1


@WIDTHS
def test_a_prompt_is_a_point_or_a_word(opened: Opened, folders: dict[str, Path]) -> None:
    page, loaded = opened(folders["prompts"].name), gf.load(folders["prompts"])
    side = loaded.config.model.input.options["size"]

    def answers(prompt: dict[str, Any]) -> None:
        found = said(loaded, {"example": 0, "prompt": prompt})["objects"][-1]
        until(page, lambda: boxes(page, "#pad") == [pytest.approx(corners(found, side), rel=1e-5)])
        assert float(page.get_attribute(".object", "data-p")) == pytest.approx(found["p"])
        assert page.text_content(".object strong") == found["label"]

    answers({"point": [side // 2, side // 2]})
    box = page.locator("#pad").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 5.5 / side, box["y"] + box["height"] * 20.5 / side)
    until(page, lambda: field(page, "prompt") == "5,20")
    answers({"point": [5, 20]})
    assert page.get_attribute("#prompt-mark", "data-point") == "5,20"
    page.focus("#pad")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    answers({"point": [6, 20]})
    page.click("[data-word='다섯']")
    answers({"word": "다섯"})
    assert field(page, "prompt") == "다섯"
    page.reload()
    page.wait_for_selector("[data-word='다섯'][aria-pressed='true']")
    answers({"word": "다섯"})


# --- series ---


def forecast(page: Any, key: str = "value") -> list[float]:
    return page.eval_on_selector_all(
        ".chart-pair [data-forecast]", f"all => all.map((one) => Number(one.dataset.{key}))"
    )


@WIDTHS
@pytest.mark.parametrize("model", ["prices", "forecaster"])
def test_the_forecast_stands_beside_what_really_came(opened: Opened, model: str) -> None:
    page, loaded = opened(model, "&example=1"), gf.load(model)
    given = read(loaded, {"example": 1})
    until(page, lambda: forecast(page) == pytest.approx(said(loaded, {"example": 1})["numbers"]))
    assert forecast(page, "actual") == pytest.approx(given.shown["actual"]) and given.shown["actual"]
    points = page.get_attribute(".series-chart [data-line='past']", "points").split()
    heights = np.array([float(point.split(",")[1]) for point in points])
    values = np.array(given.shown["values"])
    assert len(points) == len(values)
    slope, start_ = np.polyfit(values, heights, 1)
    assert slope < 0 and np.abs(slope * values + start_ - heights).max() < 0.2
    brackets = page.locator(".chart-pair .bracket")
    assert brackets.count() == len(given.source)
    assert len({brackets.nth(i).locator("rect").first.get_attribute("y") for i in range(3)}) == 2  # they overlap


@WIDTHS
def test_the_attention_over_the_chart_is_the_followed_row(opened: Opened) -> None:
    name = "encoder.blocks.0.self_attention.weights"
    page = opened("prices", "&at=encoder.0.self_attention.weights.head3&row=4,0")
    selector = f".stage .bracket[data-overlay='{name}']"
    found = weights(gf.load("prices"), {"example": 0}, name)[3].half().float()

    def shown() -> list[float]:
        return page.eval_on_selector_all(selector, "all => all.map((one) => Number(one.dataset.share))")

    until(page, lambda: shown() == pytest.approx(found[4].tolist()))
    strengths = page.eval_on_selector_all(
        f"{selector} .bracket-share", "all => all.map((one) => Number(one.getAttribute('fill-opacity')))"
    )
    assert strengths == pytest.approx((0.85 * found[4] / found[4].max()).tolist(), abs=6e-4)
    page.focus(f"{selector}[data-token='source:4']")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    until(page, lambda: shown() == pytest.approx(found[5].tolist()))


@WIDTHS
def test_values_of_ones_own(opened: Opened) -> None:
    page, loaded = opened("prices"), gf.load("prices")
    page.click(".own summary")
    values = [100 + (i % 5) / 2 for i in range(34)]
    page.fill("#own-values", "\n".join(map(str, values[:10])) + ",\n" + ", ".join(map(str, values[10:])))
    page.click("#run-values")
    until(page, lambda: forecast(page) == pytest.approx(said(loaded, {"values": values})["numbers"]))
    assert [float(part) for part in field(page, "drawn").split(",")] == values[-30:]
    page.reload()
    until(page, lambda: forecast(page) == pytest.approx(said(loaded, {"values": values})["numbers"]))
    for text, line in (("1, two, 3", "“two” is not a number."), ("1 2 3", "These are 3 numbers; the model needs 30.")):
        page.fill("#own-values", text)
        page.click("#run-values")
        until(page, lambda line=line: page.text_content("#input-error") == line)
    page.click("#language")
    until(page, lambda: "30개" in (page.text_content("#input-error") or ""))


@pytest.mark.parametrize(
    ("model", "broken"), [("prices", "1,2,3"), ("prices", "1,x"), ("digits", "AAAA"), ("digits", "?")]
)
def test_an_address_that_cannot_be_restored_says_so_and_shows_the_example(
    opened: Opened, model: str, broken: str
) -> None:
    page, wanted = opened(model, f"&drawn={broken}"), said(gf.load(model), {"example": 0})
    until(page, lambda: "cannot be restored" in (page.text_content("#input-error") or ""))
    if model == "digits":
        shows(page, [one["p"] for one in wanted["classes"]])
    else:
        until(page, lambda: forecast(page) == pytest.approx(wanted["numbers"]))


# --- words ---


def likely(page: Any, row: str) -> list[float]:
    return page.eval_on_selector_all(row, "all => all.map((one) => Number(one.dataset.p))")


@WIDTHS
def test_a_click_hides_a_word_and_the_likeliest_stand_below(opened: Opened) -> None:
    text = "나는 학교에 간다"
    page, loaded = opened("masked-ko", f"&text={text}"), gf.load("masked-ko")
    page.click(".gap-piece[data-token='source:2']")

    def stands(masked: list[int]) -> None:
        found = said(loaded, {"text": text, "masked": masked})
        for place in masked:
            wanted, row = found["top"][place][:5], f".gap[data-gap='{place}'] li"
            until(page, lambda row=row, wanted=wanted: likely(page, row) == pytest.approx([one["p"] for one in wanted]))
            assert page.locator(f"{row} .term-label").all_text_contents() == [one["piece"] for one in wanted]
        assert page.locator(".gap").count() == len(masked)

    stands([2])
    page.focus(".gap-piece[data-token='source:4']")
    page.keyboard.press("Enter")
    stands([2, 4])
    assert field(page, "masked") == "2,4"
    page.reload()
    page.wait_for_selector(".gap")
    stands([2, 4])
    page.click(".gap-piece[data-token='source:2']")
    stands([4])
    page.fill("#text", "우리는 웃는다")
    page.press("#text", "Enter")
    until(page, lambda: page.locator(".gap").count() == 0)
    assert field(page, "masked") == ""


def test_a_word_of_an_imported_bert_is_hidden(opened: Opened, folders: dict[str, Path]) -> None:
    page, loaded = opened(folders["bert"].name, "&text=the cat"), gf.load(folders["bert"])
    page.click(".gap-piece[data-token='source:1']")
    wanted = said(loaded, {"text": "the cat", "masked": [1]})["top"][1][:5]
    until(page, lambda: likely(page, ".gap[data-gap='1'] li") == pytest.approx([one["p"] for one in wanted]))


@WIDTHS
def test_all_classes_of_a_text_have_bars(opened: Opened) -> None:
    page, loaded = opened("sentiment-ko"), gf.load("sentiment-ko")
    page.wait_for_selector(".class-shares li")
    text = field(page, "text").replace("+", " ")
    shows(page, classes(loaded, {"text": text}))
    assert page.locator(".class-shares .term-label").all_text_contents() == loaded.labels
