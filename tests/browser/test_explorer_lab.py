"""The laboratory of the explorer in a real browser: every shown number is computed again by `gf`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
import torch

import glassformer as gf
from explorer_client import tiny_run
from glassformer.decoding import Beams, Sampling, beam_search, sample
from glassformer.explorer.decode import SearchRequest
from glassformer.explorer.inputs import read
from glassformer.explorer.serve import start
from in_browser import NEEDED, quiet_page, until

pytestmark = NEEDED
TEXT = "나는 학교에 간다"


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    running = start([tiny_run("translation")], browser=False)
    yield running
    running.stop()


@pytest.fixture(params=[1280, 390])
def opened(request: pytest.FixtureRequest, browser: Any, server: Any) -> Iterator[Any]:
    """Opens a view of ko-en."""
    with quiet_page(browser, request.param) as page:

        def open_view(view: str, model: str = "ko-en", more: str = "") -> Any:
            page.goto(f"{server.url}#model={model}&text={TEXT.replace(' ', '+')}&view={view}&lang=en{more}")
            page.wait_for_selector("html[data-ready=yes]")
            return page

        yield open_view


def question(**more: Any) -> SearchRequest:
    return SearchRequest.of(gf.load("ko-en"), {"input": {"text": TEXT}, **more})


def number(page: Any, selector: str, name: str) -> float:
    return float(page.get_attribute(selector, name))


def test_the_lens_shows_what_each_layer_would_answer(opened: Any) -> None:
    page = opened("lens")
    page.wait_for_selector("[data-lens='1,2']")
    loaded = gf.load("ko-en")
    given, model = read(loaded, {"text": TEXT}), loaded.model
    with torch.no_grad(), gf.record(model) as trace:
        given.run(model, given.inputs)
        x = trace["decoder.blocks.0.output"]
        norm = model.decoder.final_norm
        shares = model.head(x if norm is None else norm(x), None, model.embedding.weight)[0, 2].softmax(-1)
    assert number(page, "[data-lens='1,2']", "data-p") == pytest.approx(float(shares.max()), rel=1e-5)
    page.click("[data-lens='1,2']")
    best = loaded.vocabularies.target.piece(int(shares.argmax()))
    assert page.text_content(".lens-cell-open .bars li:first-child .piece") == best
    assert page.text_content(".lens-cell-open .bars li:first-child .term-value") == f"{float(shares.max()):.3f}"


def test_the_cells_of_the_lens_have_one_height_and_all_of_them_are_seen(opened: Any) -> None:
    page = opened("lens", "writer-en")  # of four layers, where the answer is found in other layers for other letters
    page.wait_for_selector(".lens-cell.found")
    assert page.locator(".lens-cell:not(.found)").count()
    heights = page.eval_on_selector_all(".lens-cell", "cells => cells.map(cell => Math.round(cell.offsetHeight))")
    assert max(heights) - min(heights) <= 1
    assert page.eval_on_selector(".lens .scroll", "one => one.scrollHeight - one.clientHeight") == 0


def test_the_bars_follow_the_filters(opened: Any) -> None:
    page = opened("decoding", more="&lab=temperature:2;top_k:3")
    page.wait_for_selector("[data-bar]")
    one = question()
    with torch.inference_mode():
        decodable, checked, start_, _ = one.begun()
        logits = decodable.step(start_.tokens, start_.state)
        drawn = Sampling(temperature=2.0, top_k=3).filtered(checked.forbid(logits, 0)).softmax(1)[0]
    token = int(drawn.argmax())
    assert number(page, f"[data-bar='{token}']", "data-drawn") == pytest.approx(float(drawn[token]), rel=1e-5)
    assert page.locator("[data-bar]:not(.gone)").count() == 3
    page.focus("#set-top_k")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")  # 1
    until(page, lambda: page.locator("[data-bar]:not(.gone)").count() == 1)
    assert "top_k:1" in unquote(page.url)
    page.click(f"[data-bar='{token}']")
    page.wait_for_selector(".written .token")
    assert page.text_content(".written .token") == loaded_piece(token)


def loaded_piece(token: int) -> str:
    return gf.load("ko-en").vocabularies.target.piece(token)


def test_samples_are_drawn_by_their_seeds(opened: Any) -> None:
    page = opened("decoding")
    page.wait_for_selector("[data-bar]")
    page.click("#draw-samples")
    drawn_so_far = page.locator(".lab-samples .sample")
    until(page, lambda: sum(int(each.get_attribute("data-count")) for each in drawn_so_far.all()) == 16)
    shown = {
        each.query_selector(".sample-text").text_content(): each
        for each in page.query_selector_all(".lab-samples .sample")
    }
    one = question()
    texts = []
    for seed in range(16):
        ((drawn,),) = sample(one.loaded.model, one.source, limits=one.limits, sampling=Sampling(), seed=seed)
        texts.append(one.text(drawn.tokens))
    assert {text: int(each.get_attribute("data-count")) for text, each in shown.items()} == {
        text: texts.count(text) for text in texts
    }


def test_the_tree_is_that_of_the_search_and_a_pruned_branch_lives_on(opened: Any) -> None:
    page = opened("decoding", more="&lab=width:2;alpha:1")
    page.wait_for_selector(".lab-tree .sample")
    one = question()
    (best,) = beam_search(one.loaded.model, one.source, limits=one.limits, beams=Beams(width=2, alpha=1.0), n_best=2)
    assert number(page, ".lab-tree .sample", "data-score") == pytest.approx(best[0].score, rel=1e-5)
    before = page.locator(".tree-node").count()
    page.locator(".tree-node.pruned").first.click()
    page.wait_for_selector(".lab-tree .sample.revived, .tree-node.revived ~ .tree-node.revived")
    until(page, lambda: page.locator(".tree-node").count() > before)
