"""The map of parameters in a real browser: every count, sum and plan is that of `gf.count` and `gf.plan`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest

import glassformer as gf
from explorer_client import foreign, tiny_run
from glassformer.explorer.serve import start
from in_browser import NEEDED, quiet_page, until

pytestmark = NEEDED
KO_EN = gf.load("ko-en").config.model


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    runs = [tiny_run("classification", "post"), tiny_run("image_classification"), tiny_run("forecasting")]
    running = start([*runs, foreign("bert"), foreign("llama")], browser=False)
    yield running
    running.stop()


@pytest.fixture(params=[1280, 390])
def opened(request: pytest.FixtureRequest, browser: Any, server: Any) -> Iterator[Any]:
    """Opens the view of a model."""
    with quiet_page(browser, request.param) as page:

        def open_view(model: str = "ko-en", more: str = "", lang: str = "en") -> Any:
            page.goto(f"{server.url}#model={model}&view=parameters&lang={lang}{more}")
            page.wait_for_selector("[data-fact=parameters]", timeout=30_000)
            page.wait_for_selector(".tile")
            return page

        yield open_view


def fact(page: Any, name: str, key: str = "data-value") -> int:
    return int(page.get_attribute(f"[data-fact={name}]", key))


def settled(page: Any, parameters: int) -> None:
    until(page, lambda: fact(page, "parameters") == parameters)


def is_shown(page: Any, config: Any, pass_: dict[str, int], device: str, **keys: Any) -> None:
    """Counts, FLOPs, memory and what takes the room are those of the library for these sizes."""
    ledger = gf.count(config, run=gf.Pass(**pass_), **keys)
    plan = gf.plan(config, tokens="1B", device=device, job=gf.Job(**pass_), **keys)
    settled(page, ledger.total.parameters)
    until(page, lambda: fact(page, "memory") == plan.memory_bytes)
    assert fact(page, "forward") == sum(cost.forward for cost in ledger.costs.values())
    assert fact(page, "backward") == sum(cost.backward for cost in ledger.costs.values())
    assert page.get_attribute(".fits", "data-fits") == str(plan.fits).lower()
    items = {each.get_attribute("data-item"): each for each in page.query_selector_all("[data-item]")}
    assert {name: int(each.get_attribute("data-bytes")) for name, each in items.items()} == {
        item.name: item.bytes for item in plan.memory if item.counted
    }


def tiles(page: Any) -> dict[str, int]:
    return {
        each.get_attribute("data-part"): int(each.get_attribute("data-parameters"))
        for each in page.query_selector_all(".tile")
    }


def test_the_model_as_it_is(opened: Any) -> None:
    page = opened()
    assert fact(page, "parameters") == sum(each.numel() for each in gf.load("ko-en").model.parameters())
    is_shown(page, KO_EN, {"batch": 8, "length": 128}, "t4")
    ledger = gf.count(KO_EN)
    assert tiles(page) == {name: ledger.part(name).parameters for name in ("embedding", "encoder", "decoder")}
    assert f"{ledger.part('encoder').parameters:,}" in page.text_content("[data-row=encoder] .ledger-count")
    assert "shares the numbers of embedding" in page.text_content("[data-row=head]")


def test_an_address_that_says_nothing_is_the_model_as_it_is(opened: Any) -> None:
    page = opened(more="&sizes=colour:3;d_model:0;n_heads:many;batch:2&part=encoder.blocks.9.colour")
    is_shown(page, KO_EN, {"batch": 2, "length": 128}, "t4")
    assert page.is_hidden("#refused")
    assert page.text_content("[data-crumb][aria-current]") == "Encoder"


def test_what_is_pointed_at_is_highlighted_in_the_figure(opened: Any) -> None:
    page = opened(more="&part=decoder.blocks.1")
    page.hover(".tile[data-part='decoder.blocks.1.cross_attention'] > rect")
    page.wait_for_selector(".figure [data-at^='decoder.'][data-at$='cross_attention'].hot")
    page.focus(".tile[data-part='decoder.blocks.1.feed_forward']")
    page.wait_for_selector(".figure [data-at^='decoder.'][data-at$='feed_forward'].hot")


def test_the_area_of_a_part_is_its_share(opened: Any) -> None:
    page = opened(more="&part=decoder.blocks.1")
    areas = {
        part: page.eval_on_selector(
            f".tile[data-part='{part}'] > rect", "one => one.width.baseVal.value * one.height.baseVal.value"
        )
        for part in tiles(page)
    }
    ledger = gf.count(KO_EN)
    for part, area in areas.items():
        share = ledger.part(part).parameters / ledger.part("decoder.blocks.1").parameters
        assert area / sum(areas.values()) == pytest.approx(share, rel=1e-3)
    assert len(areas) == 6


def test_sizes_move_by_key_and_by_number_and_stand_in_the_address(opened: Any) -> None:
    page = opened()
    before = fact(page, "parameters")
    page.focus("#size-d_model")
    page.keyboard.press("ArrowRight")  # 160
    settled(page, gf.count(KO_EN, d_model=160).total.parameters)
    page.fill("[data-size-box=layers]", "5")
    page.keyboard.press("Tab")
    page.select_option("#device", "h100")
    is_shown(page, KO_EN, {"batch": 8, "length": 128}, "h100", d_model=160, layers=5)
    assert fact(page, "parameters", "data-before") == before
    change = gf.count(KO_EN, d_model=160, layers=5).total.parameters - before
    assert f"+{change:,}" in page.text_content("[data-fact=parameters] .change")
    assert "sizes=d_model:160;layers:5;device:h100" in unquote(page.url)
    was, now = gf.count(KO_EN).part("encoder").parameters, gf.count(KO_EN, d_model=160, layers=5).part("encoder")
    assert f"+{now.parameters - was:,}" in page.text_content("[data-row=encoder] .change")
    page.click("#as-it-is")
    settled(page, before)
    assert "sizes" not in page.url


def test_what_does_not_fit_together_is_said_and_the_last_count_stays(opened: Any) -> None:
    page = opened(more="&sizes=d_ff:1024")
    wider = gf.count(KO_EN, d_ff=1024).total.parameters
    settled(page, wider)
    page.fill("[data-size-box=n_heads]", "5")
    page.keyboard.press("Tab")
    page.wait_for_selector("#refused:not([hidden])")
    with pytest.raises(gf.GlassformerError) as refused:
        gf.count(KO_EN, n_heads=5)
    assert page.text_content("#refused .refused-line") == refused.value.in_language("en")
    assert fact(page, "parameters") == wider
    page.fill("[data-size-box=n_heads]", "8")
    page.keyboard.press("Tab")
    page.wait_for_selector("#refused", state="hidden")
    is_shown(page, KO_EN, {"batch": 8, "length": 128}, "t4", d_ff=1024, n_heads=8)
    asked = page.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
    assert sum(name.endswith("/api/count") for name in asked) == 4  # as it is, and each of the three others: once


def test_a_step_that_does_not_fit(opened: Any) -> None:
    page = opened(more="&sizes=batch:4096;length:128;d_model:1024;n_heads:16")
    is_shown(page, KO_EN, {"batch": 4096, "length": 128}, "t4", d_model=1024, n_heads=16)
    plan = gf.plan(KO_EN, tokens="1B", device="t4", job=gf.Job(batch=4096, length=128), d_model=1024, n_heads=16)
    assert not plan.fits and [each.text_content() for each in page.query_selector_all(".fits p code")] == [
        *plan.remedies
    ]


def test_one_looks_closer_and_further_away_by_click_and_by_key(opened: Any) -> None:
    page = opened()
    ledger = gf.count(KO_EN)
    page.click(".tile[data-part=encoder] > rect", position={"x": 4, "y": 4})
    until(page, lambda: "encoder.blocks.2" in tiles(page))
    page.focus(".tile[tabindex='0']")
    page.keyboard.press("End")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    until(page, lambda: "encoder.blocks.0.feed_forward" in tiles(page))
    page.keyboard.press("Enter")  # its first part: the focus is there
    page.wait_for_selector("[data-crumb='encoder.blocks.0.self_attention'][aria-current]")
    page.click("[data-row='encoder.blocks.0.self_attention.qkv'] button")
    page.wait_for_selector("[data-crumb='encoder.blocks.0.self_attention.qkv'][aria-current]")
    row = next(each for each in ledger.parts if each.name == "encoder.blocks.0.self_attention.qkv")
    assert tiles(page) == {row.name: row.parameters}
    told = page.text_content(".ledger-card .map-readout")
    assert row.formula in told and f"{row.parameters:,}" in told
    assert [each.text_content() for each in page.query_selector_all(".ledger-formula code")] == [
        row.formula,
        f"= {row.numbers}",
    ]
    page.focus(".tile")
    page.keyboard.press("Escape")
    until(page, lambda: "part=encoder.blocks.0.self_attention" in page.url and "qkv" not in page.url)
    page.go_back()
    page.wait_for_selector("[data-crumb='encoder.blocks.0.self_attention.qkv'][aria-current]")
    page.click("[data-crumb=whole]")
    until(page, lambda: "decoder" in tiles(page))
    assert "part=" not in page.url


@pytest.mark.parametrize(
    ("model", "pass_", "keys"),
    [
        ("explorer-bert", {"batch": 8, "length": 128}, {"d_model": 32, "layers": 3}),
        ("explorer-llama", {"batch": 2, "length": 64}, {"n_heads": 4, "n_kv_heads": 2}),
        ("tiny-classification-post", {"batch": 8, "length": 64}, {"vocab_size": 5000}),
        ("tiny-image_classification", {"batch": 16}, {"d_model": 48, "n_heads": 4}),
        ("tiny-forecasting", {"batch": 8}, {"d_ff": 256}),
    ],
)
def test_every_family_is_counted_in_korean_too(opened: Any, server: Any, model: str, pass_: Any, keys: Any) -> None:
    config = gf.load(foreign(model[9:]) if "explorer" in model else tiny_run(*model[5:].split("-"))).config.model
    plain = gf.count(config).total.parameters
    written = ";".join(f"{key}:{value}" for key, value in (keys | pass_).items())
    page = opened(model, f"&sizes={written}", "ko")
    is_shown(page, config, {"length": 128, **pass_}, "t4", **keys)
    assert fact(page, "parameters", "data-before") == plain
    assert page.locator("#size-vocab_size").count() == (config.vocab_size is not None)
    assert page.locator("#size-length").count() == (config.input.kind == "tokens")
    groups = [name for name in tiles(page) if name in {"encoder", "decoder"}]
    ledger = gf.count(config, **keys)
    assert groups and all(tiles(page)[name] == ledger.part(name).parameters for name in groups)
