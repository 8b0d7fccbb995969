"""The laboratory of the explorer in a real browser: every shown number is computed again by `gf`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
import torch

import glassformer as gf
from explorer_client import tiny_run
from explorer_models import MODELS, served, truth
from explorer_models import opened as on_page
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
    assert "lens:1,2" in unquote(page.url)
    page.reload()
    page.wait_for_selector("[data-lens='1,2'][aria-pressed=true]")
    best = loaded.vocabularies.target.piece(int(shares.argmax()))
    assert page.text_content(".lens-cell-open .bars li:first-child .piece") == best
    assert page.text_content(".lens-cell-open .bars li:first-child .term-value") == f"{float(shares.max()):.3f}"


LENSES = [name for name in MODELS if "forecasting" not in name and "object" not in name]


@pytest.fixture(scope="module")
def everything() -> Iterator[Any]:
    with served(MODELS) as running:
        yield running


@pytest.mark.parametrize("name", LENSES)
def test_every_family_answers_after_every_layer(page: Any, everything: Any, name: str) -> None:
    """What leaves a layer is put in the place of what leaves the last: then the model itself goes on from there."""
    known = truth(name)
    stack = "decoder" if hasattr(known.loaded.model, "decoder") else "encoder"
    count = len(getattr(known.loaded.model, stack).blocks)
    on_page(page, everything.url, name, view="lens")
    page.wait_for_selector("[data-lens]")
    for layer in range(count + 1):
        left = known.tensors[f"{stack}.blocks.{layer - 1}.output" if layer else f"{stack}.input"][None]
        with torch.no_grad(), gf.edit(known.loaded.model, {f"{stack}.blocks.{count - 1}.output": gf.replace(left)}):
            output = known.given.run(known.loaded.model, known.given.inputs)[0]
        rows = output if output.dim() == 2 else output[None]
        rows = torch.cat([torch.zeros_like(rows), rows], 1) if rows.shape[1] == 1 else rows
        first = known.given.masked or ([len(rows) - 1] if known.loaded.task == "language_model" else [0])
        assert page.get_attribute("[data-lens][aria-pressed=true]", "data-lens") == f"{count},{first[0]}"
        for row, share in enumerate(rows.softmax(-1).amax(-1).tolist()):
            assert number(page, f"[data-lens='{layer},{row}']", "data-p") == pytest.approx(share, rel=1e-4), (
                layer,
                row,
            )


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
    page.wait_for_selector(".lab-tree .sample")
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.post_data_json["kind"]) if one.url.endswith("/decode") else None)
    page.click(f"[data-bar='{token}']")
    page.wait_for_selector(".written .token")
    assert page.text_content(".written .token") == loaded_piece(token)
    with torch.inference_mode():
        decodable, checked, start_, _ = question(prefix=[token]).begun()
        after = Sampling(temperature=2.0, top_k=1).filtered(
            checked.forbid(decodable.step(start_.tokens, start_.state), 1)
        )
    following = int(after.argmax())
    page.wait_for_selector(f"[data-bar='{following}']:not(.gone)")
    assert asked == ["next"]  # neither the tree nor the samples are asked again
    page.reload()
    page.wait_for_selector(".written .token")
    assert page.text_content(".written .token") == loaded_piece(token)
    page.fill("#text", "너는 왜 이 책을 읽었니?")
    page.keyboard.press("Enter")  # another text begins anew
    page.wait_for_selector(".written .token", state="detached")


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


class Tree:
    """A beam tree as the page draws it, and what its numbers must be: each branch is run through the model again."""

    NODES = """all => all.map(one => ({id: one.dataset.node, parent: one.dataset.parent, token: Number(one.dataset.id),
        step: Number(one.dataset.step), total: Number(one.dataset.cumulative), fate: one.className,
        shown: one.textContent}))"""

    def __init__(self, page: Any, model: str, text: str) -> None:
        self.page, self.loaded, self.text = page, gf.load(model), text

    def nodes(self) -> dict[str, dict[str, Any]]:
        return {one["id"]: one for one in self.page.eval_on_selector_all(".tree-node", self.NODES)}

    def tokens(self, nodes: dict[str, dict[str, Any]], node: str) -> list[int]:
        one = nodes[node]
        return [*(self.tokens(nodes, one["parent"]) if one["parent"] in nodes else []), one["token"]]

    def log_probability(self, tokens: list[int]) -> float:
        """Σ log p, by one pass over the whole text."""
        loaded, given = self.loaded, read(self.loaded, {"text": self.text})
        if given.target is None:
            begun = given.inputs[0][0].tolist()
            before: tuple[torch.Tensor, ...] = ()
        else:
            begun, before = loaded.target_frame.begun([]), given.inputs[:1]
        with torch.no_grad():
            logs = loaded.model(*before, torch.tensor([[*begun, *tokens]]))[0].log_softmax(-1)
        return sum(float(logs[len(begun) - 1 + at, token]) for at, token in enumerate(tokens))

    def check(self, nodes: dict[str, dict[str, Any]], some: list[str]) -> None:
        for node in some:
            wanted = self.log_probability(self.tokens(nodes, node))
            assert nodes[node]["total"] == pytest.approx(wanted, abs=2e-4), nodes[node]
            assert nodes[node]["shown"].endswith(f"{wanted:.2f}".replace("-", "−")) or abs(wanted) < 0.01


@pytest.mark.parametrize(("model", "text"), [("ko-en", TEXT), ("writer-ko", "옛날에")])
def test_every_branch_of_the_tree_grows_step_by_step_and_can_be_revived(
    browser: Any, server: Any, model: str, text: str
) -> None:
    with quiet_page(browser) as page:
        page.goto(f"{server.url}#model={model}&text={text.replace(' ', '+')}&view=decoding&lang=en&lab=width:2")
        page.wait_for_selector(".lab-tree .sample")
        tree = Tree(page, model, text)
        nodes = tree.nodes()
        tree.check(nodes, [*nodes][:40])
        kept = [one["step"] for one in nodes.values() if "pruned" not in one["fate"]]
        assert {one["parent"] for one in nodes.values() if one["step"] == 1} == {""} and max(kept) == max(
            one["step"] for one in nodes.values()
        )
        last = max(kept)
        back = page.locator(".lab-tree .player .round").first
        for step in range(last - 1, max(0, last - 4), -1):
            back.click()
            assert {one["step"] for one in tree.nodes().values()} == {*range(1, step + 1)}
            assert page.text_content(".lab-tree .player-count") == f"{step} / {last}"
            assert page.locator(".lab-tree .sample").count() == 0
        for _ in range(min(3, last - 1)):
            page.locator(".lab-tree .player .round").last.click()
        assert tree.nodes() == nodes

        chosen = next(node for node, one in nodes.items() if "pruned" in one["fate"])
        page.locator(f".tree-node[data-node='{chosen}']").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector(".lab-tree .sample.revived, .lab-tree .samples .sample >> nth=2")
        until(page, lambda: page.locator(".lab-tree .sample.revived").count() > 0)
        grown = tree.nodes()
        new = [node for node in grown if node not in nodes]
        assert new and grown[new[0]]["parent"] == chosen
        tree.check(grown, new[:40])
        assert "revived:" in unquote(page.url)
        page.reload()  # the address restores it
        until(page, lambda: tree.nodes() == grown)


def test_the_length_penalty_is_moved_by_its_slider(opened: Any) -> None:
    page = opened("decoding", more="&lab=width:3")
    page.wait_for_selector(".lab-tree .sample")
    one = question()
    page.focus("#set-alpha")
    page.keyboard.press("Home")
    for alpha in (0.0, 0.1, 0.2):
        (best,) = beam_search(
            one.loaded.model, one.source, limits=one.limits, beams=Beams(width=3, alpha=alpha), n_best=3
        )
        until(page, lambda best=best: number(page, ".lab-tree .sample", "data-score") == pytest.approx(best[0].score))
        assert page.text_content(".lab-tree .sample .sample-text") == one.text(best[0].tokens)
        page.keyboard.press("ArrowRight")
    assert "alpha:0.3" in unquote(page.url)


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
