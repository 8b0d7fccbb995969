"""Interfering in a real browser: every number on the page is computed again by `gf` from the same checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

import glassformer as gf
from explorer_models import MODELS, served, truth
from explorer_models import opened as on_page
from glassformer.explorer.inputs import read
from glassformer.loading import Loaded
from in_browser import NEEDED, quiet_page, until

pytestmark = NEEDED
TEXT = "나는 학교에 간다"
CROSS = "decoder.blocks.2.cross_attention"


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    return gf.load("ko-en")


def answer(loaded: Loaded, edits: Any = None, given: Any = None) -> Tensor:
    inputs = read(loaded, given or {"text": TEXT})
    with torch.no_grad(), gf.edit(loaded.model, edits or {}):
        return inputs.run(loaded.model, inputs.inputs)[0].double()


def moved(one: Tensor, other: Tensor) -> Tensor:
    return (one.softmax(-1) - other.softmax(-1)).abs().sum(-1) / 2  # t


def opened(page: Any, url: str, address: str) -> None:
    page.goto(f"{url}#model=ko-en&text={TEXT}&view=interfere&lang=en{address}")
    page.wait_for_selector("#moved", timeout=30_000)


def shown(page: Any) -> float:
    return float(page.get_attribute("#moved", "data-moved"))


def settled(page: Any, wanted: float) -> None:
    page.wait_for_function(
        "wanted => Math.abs(Number(document.querySelector('#moved').dataset.moved) - wanted) < 1e-4", arg=wanted
    )


def test_a_head_is_switched_off_and_back_and_stands_in_the_address(page: Any, url: str, loaded: Loaded) -> None:
    opened(page, url, "")
    assert shown(page) == 0
    page.click(f"[data-head-of='{CROSS}'][data-head='1']")
    apart = moved(answer(loaded), answer(loaded, {f"{CROSS}.heads": gf.zero(head=1)}))
    settled(page, float(apart.mean()))
    rows = page.eval_on_selector_all(
        ".outcome-table .moved", "cells => cells.map((cell) => Number(cell.dataset.moved))"
    )
    assert rows == pytest.approx(apart.tolist(), abs=1e-4)
    assert f"zero~{CROSS}.heads~h1" in page.evaluate("location.hash")
    page.click("#undo")
    settled(page, 0.0)
    page.click("#redo")
    settled(page, float(apart.mean()))
    page.keyboard.press("Control+z")
    settled(page, 0.0)


def test_the_map_of_importance_is_that_of_gf(page: Any, url: str, loaded: Loaded) -> None:
    opened(page, url, "")
    page.wait_for_function("() => [...document.querySelectorAll('.switch-head')].every((cell) => cell.dataset.moved)")
    plain = answer(loaded)
    for name in ("encoder.blocks.0.self_attention", CROSS):
        for head in range(4):
            apart = moved(plain, answer(loaded, {f"{name}.heads": gf.zero(head=head)}))
            cell = page.locator(f"[data-head-of='{name}'][data-head='{head}']")
            assert float(cell.get_attribute("data-moved")) == pytest.approx(float(apart.mean()), abs=1e-4)
    page.select_option("#for", "1")
    apart = moved(plain, answer(loaded, {f"{CROSS}.heads": gf.zero(head=0)}))
    one = page.locator(f"[data-head-of='{CROSS}'][data-head='0']")
    assert float(one.get_attribute("data-moved")) == pytest.approx(float(apart[1]), abs=1e-4)


@pytest.mark.parametrize(
    ("written", "edits"),
    [
        (f"scale~{CROSS}.heads~h2~x2.5", {f"{CROSS}.heads": gf.scale(2.5, head=2)}),
        ("zero~encoder.positions.encoding", {"encoder.positions.encoding": gf.zero()}),
        ("zero~encoder.blocks.1.feed_forward.output", {"encoder.blocks.1.feed_forward.output": gf.zero()}),
    ],
)
def test_an_address_restores_what_is_changed(page: Any, url: str, loaded: Loaded, written: str, edits: Any) -> None:
    opened(page, url, f"&edits={written}")
    settled(page, float(moved(answer(loaded), answer(loaded, edits)).mean()))


class Kept:
    """What one tensor was, to stand for another."""

    def keep(self, x: Tensor) -> Tensor:
        self.x = x
        return x

    def give(self, _: Tensor) -> Tensor:
        return self.x


def instead(of: str, by: str) -> dict[str, Any]:
    kept = Kept()
    return {by: kept.keep, of: kept.give}


def hidden(x: Tensor) -> Tensor:
    """Scores, of which nobody looks at the second token."""
    return torch.cat([x[..., :1], torch.full_like(x[..., 1:2], float("-inf")), x[..., 2:]], -1)


SWITCHES = [  # what is clicked, and the same by hand
    ("skip decoder.blocks.1.output", lambda: instead("decoder.blocks.1.output", by="decoder.blocks.0.output")),
    ("zero decoder.blocks.0.feed_forward.output", lambda: {"decoder.blocks.0.feed_forward.output": gf.zero()}),
    (
        "residual encoder.blocks.2.after_self_attention",
        lambda: instead("encoder.blocks.2.after_self_attention", by="encoder.blocks.2.self_attention.output"),
    ),
    (
        "residual decoder.blocks.1.output",
        lambda: instead("decoder.blocks.1.output", by="decoder.blocks.1.feed_forward.output"),
    ),
    ("zero decoder.positions.encoding", lambda: {"decoder.positions.encoding": gf.zero()}),
]


@pytest.mark.parametrize(("switch", "edits"), SWITCHES)
def test_layers_residuals_networks_and_positions_are_switched_off(
    page: Any, url: str, loaded: Loaded, switch: str, edits: Any
) -> None:
    opened(page, url, "")
    page.click(f"[data-edit='{switch}']")
    apart = moved(answer(loaded), answer(loaded, edits()))
    assert float(apart.mean()) > 1e-3
    settled(page, float(apart.mean()))
    assert page.get_attribute(f"[data-edit='{switch}']", "aria-checked") == "false"
    page.click("#reset")
    settled(page, 0.0)


def test_a_hidden_token_is_looked_at_by_no_head(page: Any, url: str, loaded: Loaded) -> None:
    opened(page, url, "")
    page.click(".hide-tokens [data-token='source:1']")
    every = ["encoder.blocks.*.self_attention.scores", "decoder.blocks.*.cross_attention.scores"]
    settled(page, float(moved(answer(loaded), answer(loaded, dict.fromkeys(every, hidden))).mean()))
    assert page.get_attribute(".hide-tokens [data-token='source:1']", "aria-pressed") == "true"
    page.click("#undo")  # in both stacks, and one change all the same
    settled(page, 0.0)
    assert page.is_disabled("#undo")


def test_a_cell_is_drawn_and_a_head_is_scaled(page: Any, url: str, loaded: Loaded) -> None:
    opened(page, url, "&at=decoder.2.cross_attention.head0")
    page.click("[data-tool=draw]")
    body = page.locator(f".paint .map-body:has([data-map='{CROSS}.weights'])")
    body.focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)

    def drawn(x: Tensor) -> Tensor:
        changed = x.clone()
        changed[:, 0, 2] = torch.eye(x.shape[-1])[0]
        return changed

    edits: dict[str, Any] = {f"{CROSS}.weights": drawn}
    settled(page, float(moved(answer(loaded), answer(loaded, edits)).mean()))
    page.focus("#scale")
    page.keyboard.press("End")
    edits[f"{CROSS}.heads"] = gf.scale(4.0, head=0)
    settled(page, float(moved(answer(loaded), answer(loaded, edits)).mean()))


def test_a_forbidden_cell_has_the_weight_0(page: Any, url: str, loaded: Loaded) -> None:
    opened(page, url, "&at=decoder.2.cross_attention.head0")
    canvas = page.locator(f".paint canvas[data-map='{CROSS}.weights']")
    canvas.scroll_into_view_if_needed()
    box, length = canvas.bounding_box(), read(loaded, {"text": TEXT}).inputs[0].shape[1]
    canvas.click(position={"x": box["width"] * 1.5 / length, "y": box["height"] * 0.03})

    def without(x: Tensor) -> Tensor:
        hidden = x.clone()
        hidden[:, 0, 0, 1] = float("-inf")
        return hidden

    apart = moved(answer(loaded), answer(loaded, {f"{CROSS}.scores": without}))
    settled(page, float(apart.mean()))
    assert "forbid" in page.evaluate("location.hash")


def test_the_translation_that_the_model_writes_now(page: Any, url: str, loaded: Loaded) -> None:
    opened(page, url, "&edits=zero~decoder.blocks.*.cross_attention.heads")
    page.wait_for_function("() => !['…', ''].includes(document.querySelector('#after-text').textContent)")
    now = page.text_content("#after-text")
    assert page.text_content("#before-text") == read(loaded, {"text": TEXT}).shown["target"] != now
    inputs = read(loaded, {"text": TEXT, "target": now})
    with torch.no_grad(), gf.edit(loaded.model, {"decoder.blocks.*.cross_attention.heads": gf.zero()}):
        chosen = loaded.model(*inputs.inputs)[0].argmax(-1)
    assert inputs.inputs[1][0, 1:].tolist() == chosen[:-1].tolist()


@pytest.fixture(scope="module")
def everything() -> Iterator[Any]:
    with served(MODELS) as running:
        yield running


def apart(loaded: Loaded, before: Tensor, after: Tensor) -> float:
    """How far an answer has moved, on average over its rows: probability, the forecast, or classes and boxes."""
    kind, one, other = loaded.config.model.head.kind, before.double(), after.double()
    if kind == "regression":
        return float((one - other).abs().mean())
    if kind == "objects":
        boxes = (one[:, -4:] - other[:, -4:]).abs().mean(-1)
        return float((moved(one[:, :-4], other[:, :-4]) + boxes).mean())
    if one.shape[-1] == 1:
        return float((one.sigmoid() - other.sigmoid()).abs())
    return float(moved(one, other).mean())


@pytest.mark.parametrize("name", MODELS)
def test_a_head_of_every_family_is_switched_off(page: Any, everything: Any, name: str) -> None:
    """The page measures its two runs, the server every head: both are what `gf` gives."""
    known = truth(name)
    attention = [one.removesuffix(".weights") for one in known.tensors if one.endswith(".weights")][-1]
    with torch.no_grad(), gf.edit(known.loaded.model, {f"{attention}.heads": gf.zero(head=1)}):
        after = known.given.run(known.loaded.model, known.given.inputs)[0]
    wanted = apart(known.loaded, known.output, after)
    on_page(page, everything.url, name, view="interfere", edits=f"zero~{attention}.heads~h1")
    page.wait_for_selector("#moved", timeout=30_000)
    assert wanted > 0
    until(page, lambda: shown(page) == pytest.approx(wanted, rel=1e-3, abs=2e-6))
    cell = page.locator(f"[data-head-of='{attention}'][data-head='1']")
    until(page, lambda: float(cell.get_attribute("data-moved") or "nan") == pytest.approx(wanted, rel=1e-3, abs=2e-6))


def test_a_picture_is_interfered_with_as_well(page: Any, url: str) -> None:
    page.goto(f"{url}#model=digits&view=interfere&lang=ko&edits=zero~encoder.blocks.0.self_attention.heads")
    page.wait_for_selector("#moved", timeout=30_000)
    digits, off = gf.load("digits"), {"encoder.blocks.0.self_attention.heads": gf.zero()}
    given = {"example": 0}
    settled(page, float(moved(answer(digits, None, given)[None], answer(digits, off, given)[None]).mean()))


def test_what_is_changed_is_said_in_words(page: Any, url: str) -> None:
    opened(
        page,
        url,
        f"&edits=forbid~decoder.blocks.*.cross_attention~c1!forbid~{CROSS}~h0~r1~c2!scale~{CROSS}.heads~h2~x2",
    )
    assert page.locator(".in-force code").all_text_contents() == [
        "forbidden · Decoder · all layers · Cross-attention · ▁학교에",
        "forbidden · Decoder · Layer 3 · Cross-attention · Head 1 · I → ▁간다",
        "scaled × 2.00 · Decoder · Layer 3 · Cross-attention · Head 3",
    ]
    asked = page.locator(".hide-tokens > div > .quiet").all_text_contents()
    assert asked == ["Hide in the encoder's input:", "Hide in the decoder's input:"]


def test_classes_are_one_answer_and_have_no_rows_to_choose(page: Any, url: str) -> None:
    page.goto(f"{url}#model=digits&view=interfere&lang=en")
    page.wait_for_selector(".outcome-table")
    assert page.locator(".outcome-table thead th").all_text_contents() == ["Row", "Before", "Now"]
    assert page.is_hidden(".for") and page.locator(".hide-tokens > div > .quiet").all_text_contents() == ["Hide:"]
    names = page.locator(".hide-tokens .token").all_text_contents()
    assert names == ["[CLS]", *(f"patch {i}" for i in range(1, 5))]  # a number would be a class here


def test_on_a_telephone_the_answer_is_seen_whole(browser: Any, url: str) -> None:
    with quiet_page(browser, 390) as page:
        opened(page, url, "")
        assert page.eval_on_selector(".outcome .scroll", "one => one.scrollWidth - one.clientWidth") <= 0


@pytest.mark.parametrize(
    ("model", "told"), [("ko-en", "before the changes (1)"), ("sentiment-ko", "with the changes (1)")]
)
def test_in_every_view_the_answer_says_that_something_is_changed(page: Any, url: str, model: str, told: str) -> None:
    page.goto(f"{url}#model={model}&text={TEXT}&view=heads&lang=en&edits=zero~encoder.blocks.0.self_attention.heads")
    page.wait_for_selector("#changed", timeout=30_000)
    assert page.text_content("#changed") == told
    page.click("#changed")
    page.click("#reset")
    page.wait_for_selector("#changed", state="detached")
