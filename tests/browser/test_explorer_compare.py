"""Comparing in a real browser: every number on the page is computed again by `gf` from the same checkpoints."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, unquote

import pytest
import torch
from torch import Tensor

import glassformer as gf
from explorer_client import foreign, tiny_run
from glassformer.explorer.inputs import read
from glassformer.explorer.serve import start
from glassformer.loading import Loaded
from in_browser import NEEDED, quiet_page, until

pytestmark = NEEDED
TEXT, HOME = "나는 학교에 간다", "나는 집에 간다"
CROSS, FIRST = "decoder.blocks.2.cross_attention", "encoder.blocks.0.self_attention"
MASKED = (222.0, 225, 232)
POSITIONS = {"ko-en": TEXT, "writer-en": "the old man"}


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    runs = [tiny_run("classification", order) for order in ("pre", "post")]
    running = start([*runs, foreign("bert")], browser=False)
    yield running
    running.stop()


@pytest.fixture(params=[1280, 390])
def opened(request: pytest.FixtureRequest, browser: Any, server: Any) -> Iterator[Any]:
    """Opens the view and waits for its numbers."""
    with quiet_page(browser, request.param) as page:

        def open_view(model: str = "ko-en", wait: str = "#compare-verdict", **fields: str) -> Any:
            more = "".join(f"&{key}={quote(value)}" for key, value in fields.items())
            page.goto(f"{server.url}#model={model}&view=compare&lang=en{more}")
            page.wait_for_selector(wait, timeout=30_000)
            return page

        yield open_view


def passed(loaded: Loaded, given: dict[str, Any], edits: Any = None) -> tuple[Any, Tensor]:
    inputs = read(loaded, given)
    with torch.no_grad(), gf.edit(loaded.model, edits or {}), gf.record(loaded.model) as trace:
        output = inputs.run(loaded.model, inputs.inputs)
    return trace, output


def apart(a: Tensor, b: Tensor) -> float:
    one, other = a.double().flatten(), b.double().flatten()
    return float((one - other).norm() / max(one.norm(), other.norm()))


def check_stream(page: Any, one: Any, other: Any, stack: str = "") -> None:
    """Distance, cosine and the cell of every token of the table, against two traces with the same rows."""
    rows = page.query_selector_all(f"[data-apart^='{stack}'][data-relative]" if stack else "[data-relative]")
    assert rows
    for row in rows:
        a, b = (trace[row.get_attribute("data-apart")][0] for trace in (one, other))
        assert float(row.get_attribute("data-relative")) == pytest.approx(apart(a, b), rel=1e-5)
        cosine = torch.cosine_similarity(a.double().flatten(), b.double().flatten(), 0)
        assert float(row.get_attribute("data-cosine")) == pytest.approx(cosine.item(), abs=1e-6)
        cells = [float(cell.get_attribute("data-value")) for cell in row.query_selector_all(".apart-cell")]
        assert cells == pytest.approx([apart(x, y) for x, y in zip(a, b, strict=True)], rel=1e-5)
        assert row.query_selector(".apart-relative").text_content() == shown(apart(a, b))


def shown(value: float) -> str:
    """A number as the page prints it."""
    if value != 0 and abs(value) < 0.0005:
        digits, exponent = f"{value:.1e}".split("e")
        return f"{digits}e{int(exponent)}".replace("-", "−", 1)
    return f"{value:.3f}".replace("-", "−")


def check_map(page: Any, name: str, wanted: Tensor, most: float, causal: bool = False) -> None:
    """The pixels of a map against its numbers: paper at 0, one colour above, the other below; grey what is masked."""
    pixels = page.eval_on_selector(
        f"canvas[data-map='compare.{name}']",
        "canvas => { const {width, height} = canvas;"
        " return {width, height, data: [...canvas.getContext('2d').getImageData(0, 0, width, height).data]}; }",
    )
    assert (pixels["height"], pixels["width"]) == tuple(wanted.shape)
    zero, low, high = (torch.tensor(rgb) for rgb in ([246.0, 247, 250], [178.0, 74, 34], [28.0, 76, 172]))
    share = ((wanted / most).clamp(-1, 1) * 255).round()[..., None] / 255
    colours = torch.where(share < 0, zero + (low - zero) * -share, zero + (high - zero) * share)
    if causal:
        colours = torch.where(torch.ones_like(wanted).tril().bool()[..., None], colours, torch.tensor(MASKED))
    drawn = torch.tensor(pixels["data"]).reshape(*wanted.shape, 4)[..., :3]
    assert (drawn - colours).abs().max() <= 1.01


def cell_by_keys(page: Any, row: int, column: int) -> None:
    """The map of the difference by keyboard alone, from its first cell."""
    page.focus(".map-body:has(canvas[data-map='compare.difference'])")
    for key in ["ArrowUp"] * 20 + ["ArrowLeft"] * 20 + ["ArrowDown"] * row + ["ArrowRight"] * column:
        page.keyboard.press(key)


def check_cells(page: Any, a: Tensor, b: Tensor, rows: list[tuple[int, int]], columns: list[tuple[int, int]]) -> None:
    """Maps, legend and the sentence of the last cell; `rows`, `columns`: which of the one belong to which."""
    mine = a[[i for i, _ in rows]][:, [i for i, _ in columns]]
    yours = b[[j for _, j in rows]][:, [j for _, j in columns]]
    difference = yours - mine
    most = float(difference.abs().max())
    check_map(page, "a", a, 1.0)
    check_map(page, "b", b, 1.0)
    check_map(page, "difference", difference, most)
    assert float(page.get_attribute(".signed-legend", "data-most")) == pytest.approx(most, rel=1e-6)
    ends = [each.text_content() for each in page.query_selector_all(".signed-legend b")]
    assert ends == [f"−{shown(most)}", "0", f"+{shown(most)}"]
    assert abs(float(page.get_attribute("#compare-cell", "data-value"))) == pytest.approx(most, rel=1e-6)
    row, column = len(rows) - 1, len(columns) - 2
    cell_by_keys(page, row, column)
    value = float(difference[row, column])
    assert float(page.get_attribute("#compare-cell", "data-value")) == pytest.approx(value, abs=1e-7)
    assert f"left {shown(float(mine[row, column]))}, right {shown(float(yours[row, column]))}" in page.text_content(
        "#compare-cell"
    )


def test_two_sentences(opened: Any) -> None:
    page = opened(text=TEXT, with_text=HOME)
    loaded = gf.load("ko-en")
    (one, said), (other, says) = (passed(loaded, {"text": text}) for text in (TEXT, HOME))
    assert page.text_content("[data-answer=left]") == read(loaded, {"text": TEXT}).shown["target"]
    assert page.text_content("[data-answer=right]") == read(loaded, {"text": HOME}).shown["target"]
    # I go to school, I go home: three rows stand in both
    rows = [(i, i) for i in range(3)]
    a, b = (trace[f"{CROSS}.weights"][0, 0] for trace in (one, other))
    check_cells(page, a, b, rows, [(i, i) for i in range(4)])
    check_stream(page, one, other, "encoder")
    moved = (said[0, :3].softmax(-1) - says[0, :3].softmax(-1)).abs().sum(-1) / 2
    assert float(page.get_attribute("#compare-moved", "data-moved")) == pytest.approx(float(moved.mean()), rel=1e-4)
    table = [row.query_selector_all(".p") for row in page.query_selector_all(".compare-answers tbody tr")]
    shares = [[float(cell.get_attribute("data-p")) for cell in row] for row in table[:3]]
    best = torch.stack([said[0, :3].softmax(-1).amax(-1), says[0, :3].softmax(-1).amax(-1)], 1)
    assert torch.allclose(torch.tensor(shares), best, rtol=1e-4)
    assert len(table) == said.shape[1] + says.shape[1] - 3


def test_a_sentence_is_written_and_stands_in_the_address(opened: Any) -> None:
    page = opened(text=TEXT)
    assert page.input_value("#with-text") == "나는 간다"  # without the last word but one
    page.fill("#with-text", HOME)
    page.press("#with-text", "Enter")
    until(page, lambda: page.text_content("[data-answer=right]") == "I go home")
    assert f"with_text={HOME}" in unquote(page.url).replace("+", " ")
    page.select_option("#with-attention", FIRST)
    page.wait_for_selector("[data-with-head='2']")
    page.click("[data-with-head='2']")
    until(page, lambda: page.get_attribute("canvas[data-map='compare.b']", "data-head") == "2")
    trace, _ = passed(gf.load("ko-en"), {"text": HOME})
    check_map(page, "b", trace[f"{FIRST}.weights"][0, 2], 1.0)
    assert "with_at=encoder.0.self_attention.head2" in page.url


def test_enter_while_a_syllable_is_composed_does_nothing(opened: Any) -> None:
    page = opened(text=TEXT)
    page.fill("#with-text", "나는 집에 ")
    keys = page.context.new_cdp_session(page)
    keys.send("Input.imeSetComposition", {"text": "간다", "selectionStart": 2, "selectionEnd": 2})
    enter = {"type": "keyDown", "key": "Enter", "code": "Enter", "text": "\r"}
    keys.send("Input.dispatchKeyEvent", enter | {"windowsVirtualKeyCode": 229})
    assert page.input_value("#with-text") == HOME and "with_text" not in page.url
    keys.send("Input.insertText", {"text": "간다"})
    page.keyboard.press("Enter")
    until(page, lambda: page.text_content("[data-answer=right]") == "I go home")


def test_the_same_translation_is_read_by_both(opened: Any) -> None:
    page = opened(text=TEXT, with_text=HOME)
    page.click("[data-with=target]")
    loaded = gf.load("ko-en")
    said = read(loaded, {"text": TEXT}).shown["target"]
    (one, _), (other, says) = passed(loaded, {"text": TEXT}), passed(loaded, {"text": HOME, "target": said})
    until(page, lambda: page.locator("[data-apart='decoder.input'] .apart-cell").count() == says.shape[1])
    check_stream(page, one, other)
    best = says[0].softmax(-1).amax(-1).tolist()
    cells = page.query_selector_all(".compare-answers tbody td:nth-child(3) .p")
    assert [float(cell.get_attribute("data-p")) for cell in cells] == pytest.approx(best, rel=1e-4)


def test_two_checkpoints_of_a_run(opened: Any) -> None:
    run, given = tiny_run("classification"), {"text": "우리는 자주 웃는다"}
    page = opened(run.name, **given)
    page.select_option("#with-checkpoint", "4")
    until(page, lambda: "· 4" in page.text_content("[data-compare=answers]") or "step-00000004" in page.content())
    (one, _), (other, says) = passed(gf.load(run), given), passed(gf.load(run, checkpoint="4"), given)
    a, b = (trace[f"{FIRST}.weights"][0, 0] for trace in (one, other))
    same = [(i, i) for i in range(len(a))]
    check_cells(page, a, b, same, same)
    check_stream(page, one, other)
    assert "embedding.output" in page.text_content("#compare-verdict")
    cells = page.query_selector_all(".compare-answers tbody td:nth-child(3) .p")
    assert [float(cell.get_attribute("data-p")) for cell in cells] == pytest.approx(
        says[0].softmax(-1).tolist(), rel=1e-4
    )
    assert "with_checkpoint=4" in page.url


def test_pre_norm_against_post_norm(opened: Any) -> None:
    runs, given = [tiny_run("classification", order) for order in ("pre", "post")], {"text": "우리는 자주 웃는다"}
    page = opened(runs[0].name, **given, **{"with": runs[1].name, "at": "encoder.0.self_attention.head1"})
    one, other = (passed(gf.load(run), given)[0] for run in runs)
    a, b = (trace[f"{FIRST}.weights"][0, 1] for trace in (one, other))
    same = [(i, i) for i in range(len(a))]
    check_cells(page, a, b, same, same)
    check_stream(page, one, other)
    assert page.text_content("#compare-verdict")
    assert "share no axes" in page.text_content("[data-compare=distance]")


@pytest.mark.parametrize(
    ("model", "kind"), [("ko-en", "none"), ("ko-en", "rotary"), ("ko-en", "alibi"), ("writer-en", "none")]
)
def test_the_same_weights_with_another_kind_of_position(opened: Any, model: str, kind: str) -> None:
    text, loaded = POSITIONS[model], gf.load(model)
    page = opened(model, text=text)
    page.select_option("#with-position", kind)
    page.wait_for_selector(f"[data-position={kind}]")
    assert page.input_value("#with-text") == text and f"with_position={kind}" in page.url
    other_model = gf.build(loaded.config.model, position=kind)
    other_model.load_state_dict(loaded.model.state_dict())
    other = dataclasses.replace(loaded, model=other_model.eval())
    (one, _), (two, _) = (passed(each, {"text": text}) for each in (loaded, other))
    name = page.eval_on_selector("canvas[data-map='compare.a']", "one => one.closest('section').textContent")
    name = f"{CROSS if 'Cross' in name else FIRST.replace('encoder', loaded.config.model.family)}.weights"
    causal = name.startswith("decoder") and "self" in name
    check_map(page, "a", one[name][0, 0], 1.0, causal)
    check_map(page, "b", two[name][0, 0], 1.0, causal)
    if one[name].shape == two[name].shape:
        difference = two[name][0, 0] - one[name][0, 0]
        most = float(page.get_attribute(".signed-legend", "data-most"))
        assert most == pytest.approx(float(difference.abs().max()), rel=1e-5)
    for row in page.query_selector_all("[data-relative]"):
        a, b = (trace[row.get_attribute("data-apart")][0] for trace in (one, two))
        if a.shape == b.shape:
            assert float(row.get_attribute("data-relative")) == pytest.approx(apart(a, b), rel=1e-4, abs=1e-6)
    page.reload()
    page.wait_for_selector(f"[data-position={kind}]")
    page.select_option("#with-position", "")
    page.wait_for_selector(f"[data-position={kind}]", state="detached")


def altered(name: str) -> Any:
    """A handler that turns a bit of the exponent of a tensor's first number over."""

    def alter(route: Any) -> None:
        answer = route.fetch()
        body, length = bytearray(answer.body()), int.from_bytes(answer.body()[:8], "little")
        begin = json.loads(body[8 : 8 + length])[name]["data_offsets"][0]
        body[8 + length + begin + 3] ^= 0x40
        route.fulfill(response=answer, body=bytes(body))

    return alter


def test_one_altered_byte_is_seen(opened: Any) -> None:
    page = opened(text=TEXT, with_text=HOME)
    traces = [passed(gf.load("ko-en"), {"text": text})[0] for text in (TEXT, HOME)]
    a, b = (trace[f"{CROSS}.weights"][0, 0] for trace in traces)
    same = [(i, i) for i in range(3)], [(i, i) for i in range(4)]
    check_cells(page, a, b, *same)
    for name in ("a", "b", "difference"):
        page.route("**/api/compare", altered(name))
        with page.expect_response("**/api/compare"):
            page.reload()
        page.wait_for_selector(f"canvas[data-map='compare.{name}']")
        with pytest.raises(AssertionError):
            check_cells(page, a, b, *same)
        page.unroute("**/api/compare")


def test_what_an_interference_changes_and_the_same_on_both_sides(opened: Any) -> None:
    off = f"zero~{CROSS}.heads~h1"
    page = opened(text=TEXT, edits=off)
    assert page.input_value("#with-text") == TEXT  # the right is the same sentence without the changes
    loaded = gf.load("ko-en")
    (one, said), (other, says) = (
        passed(loaded, {"text": TEXT}, edits) for edits in ({f"{CROSS}.heads": gf.zero(head=1)}, None)
    )
    check_stream(page, one, other)
    moved = float(((said[0].softmax(-1) - says[0].softmax(-1)).abs().sum(-1) / 2).mean())
    assert float(page.get_attribute("#compare-moved", "data-moved")) == pytest.approx(moved, rel=1e-4)
    assert f"{CROSS}.heads" in page.text_content("#compare-verdict")
    page.focus("[data-with=changes]")
    page.keyboard.press("Space")
    until(page, lambda: f"with_edits={off}" in unquote(page.url))


def test_two_packaged_models_of_opposite_directions(opened: Any) -> None:
    """The other direction reads what the first one wrote; nothing is claimed of what cannot be subtracted."""
    page = opened(text=TEXT, **{"with": "en-ko"})
    there, back = gf.load("ko-en"), gf.load("en-ko")
    said = read(there, {"text": TEXT}).shown["target"]
    assert page.input_value("#with-text") == said
    assert page.text_content("[data-answer=right]") == read(back, {"text": said}).shown["target"]
    trace, _ = passed(back, {"text": said})
    check_map(page, "b", trace[f"{CROSS}.weights"][0, 0], 1.0)
    page.fill("#with-text", TEXT)  # Korean: words that it has never read
    page.press("#with-text", "Enter")
    page.wait_for_selector(".compare-note")
    assert ", ".join(back.unseen([TEXT])[0]) in page.text_content(".compare-note")


def test_an_imported_bert_against_a_classifier(opened: Any) -> None:
    folder, run = foreign("bert"), tiny_run("classification")
    page = opened(folder.name, text="the cat", with_text="우리는 웃는다", **{"with": run.name})
    (one, _), (other, says) = (
        passed(gf.load(folder), {"text": "the cat"}),
        passed(gf.load(run), {"text": "우리는 웃는다"}),
    )
    assert "different ways" in page.text_content("[data-compare=answers]")
    label = gf.load(run).labels[int(says[0].argmax())]
    assert page.text_content("[data-answer=right]") == label
    check_map(page, "a", one[f"{FIRST}.weights"][0, 0], 1.0)
    check_map(page, "b", other[f"{FIRST}.weights"][0, 0], 1.0)
    whys = {row.get_attribute("data-why") for row in page.query_selector_all("[data-why]")}
    assert whys and whys <= {"width", "rows", "only_a", "only_b"}


def test_images_of_two_grids_have_maps_but_no_difference(opened: Any) -> None:
    page = opened("digits", wait="#no-difference", **{"with": "clothes"})
    for key, name in (("a", "digits"), ("b", "clothes")):
        trace, _ = passed(gf.load(name), {"example": 0})
        check_map(page, key, trace[f"{FIRST}.weights"][0, 0], 1.0)
    assert "different numbers of parts" in page.text_content("#no-difference")


def test_two_images_of_one_model(opened: Any) -> None:
    page = opened("digits")
    page.click("[data-with-example='3']")
    digits = gf.load("digits")
    (one, said), (other, says) = (passed(digits, {"example": i}) for i in (0, 3))
    moved = float((said.softmax(-1) - says.softmax(-1)).abs().sum() / 2)
    until(page, lambda: abs(float(page.get_attribute("#compare-moved", "data-moved")) - moved) < 1e-4)
    check_stream(page, one, other)
    assert re.match(r"“(\[CLS\]|patch \d)” → “(\[CLS\]|patch \d)”:", page.text_content("#compare-cell"))


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_what_cannot_be_compared_is_one_line(browser: Any, server: Any, lang: str) -> None:
    """In a page of its own: the browser notes in its console what the server refuses."""
    page = browser.new_page()
    page.goto(f"{server.url}#model=ko-en&view=compare&lang={lang}&text={TEXT}&with_edits=zero~nothing.at.all")
    page.wait_for_selector("#compare-error:not([hidden])")
    assert "nothing.at.all" in page.text_content("#compare-error")
    assert page.locator("[data-compare]").count() == 0
    page.goto(f"{server.url}#model=ko-en&view=compare&lang={lang}&text={TEXT}&with_text={'간다 ' * 400}")
    until(page, lambda: "nothing" not in page.text_content("#compare-error"))
    line = page.text_content("#compare-error")
    assert line and "\n" not in line and page.locator("#with-text").is_visible()
    page.close()


def test_a_cell_of_the_difference_stands_in_the_address(opened: Any) -> None:
    page = opened(text=TEXT, with_text=HOME)
    cell_by_keys(page, 1, 1)
    page.keyboard.press("Enter")
    until(page, lambda: "cell=1,1" in page.url)
    value = page.get_attribute("#compare-cell", "data-value")
    page.reload()
    page.wait_for_selector("#compare-cell")
    assert page.get_attribute("#compare-cell", "data-value") == value
