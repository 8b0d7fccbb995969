"""What the server refuses is one line in the page, in its language; and several tabs at one server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

import glassformer as gf
from explorer_client import copied, tiny_run
from glassformer.explorer import guard, passes, shelf
from glassformer.explorer.inputs import read
from glassformer.explorer.serve import Running, start
from glassformer.words import LANGUAGES, say
from in_browser import NEEDED, quiet_page, until

pytestmark = NEEDED
TEXT = "나는 학교에 간다"


@pytest.fixture
def server() -> Iterator[Running]:
    running = start([tiny_run("translation")], browser=False, port=0)
    yield running
    running.stop()


@contextmanager
def nothing(running: Running, patch: pytest.MonkeyPatch) -> Iterator[None]:
    yield


@contextmanager
def held(running: Running, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Somebody else's pass is under way."""
    app: Any = running.server.config.app
    with app.state.shelf.find("ko-en").use():
        patch.setattr(shelf, "PATIENCE", 0.01)
        yield


@contextmanager
def small(running: Running, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setattr(passes, "MOST_BYTES", 100)
    yield


@contextmanager
def narrow(running: Running, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setattr(guard, "LARGEST_BODY", 10)
    yield


@contextmanager
def gone(running: Running, patch: pytest.MonkeyPatch) -> Iterator[None]:
    running.stop()
    yield


LONG = "고양이가 쥐를 잡았다 " * 900
CASES: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "long": (nothing, "errors.explorer_too_long", {"length": 2702, "most": 128}),
    "empty": (nothing, "errors.empty_text", {}),
    "busy": (held, "explorer_faults.busy", {}),
    "answer": (small, "errors.explorer_too_much", {"megabytes": 0, "most": 0}),
    "body": (narrow, "explorer_faults.too_large", {}),
    "gone": (gone, "explorer.unreachable", {}),
}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("case", CASES)
def test_what_is_refused_is_one_line_in_the_page(
    case: str, lang: str, browser: Any, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    happens, key, values = CASES[case]
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()  # a browser writes every refused request into its console
    page.goto(f"{server.url}#model=ko-en&text={TEXT.replace(' ', '+')}&view=heads&lang={lang}")
    page.wait_for_selector("html[data-ready=yes]", timeout=30_000)
    with happens(server, monkeypatch):
        page.fill("form textarea, form input[type=text]", {"empty": "", "long": LONG}.get(case, "고양이가 쥐를 잡았다"))
        page.keyboard.press("Enter")
        wanted = say(key, lang, **values)
        until(page, lambda: page.text_content("section.input .error") == wanted)
        assert page.is_visible("section.input .error")
    context.close()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_run_that_was_deleted_is_one_line_and_the_other_models_work(lang: str, browser: Any, tmp_path: Path) -> None:
    """No number of another model stays under its name."""
    run = copied(tiny_run("translation"), tmp_path)
    running = start([run], browser=False, port=0)
    app: Any = running.server.config.app
    app.state.shelf.find(run.name).opened.clear()  # as when others of its checkpoints were looked at
    shutil.rmtree(run)
    with quiet_page(browser) as page:
        page.goto(f"{running.url}#model={run.name}&text=우리는&view=heads&lang={lang}")
        page.wait_for_selector("html[data-ready=yes]")
        page.wait_for_selector("section.input .error:visible")
        line = page.text_content("section.input .error")
        assert run.name in line and "\n" not in line
        assert page.locator("#figure .box, .head-cell, form:visible").count() == 0
        page.select_option("#model", "ko-en")
        until(page, lambda: page.text_content("#answer") == "→I go to school")
        page.wait_for_selector(".head-cell")
        assert page.is_hidden("section.input .error")
        page.select_option("#model", run.name)
        page.wait_for_selector("section.input .error:visible")
        assert page.locator("#figure .box, .head-cell").count() == 0 and page.text_content("#answer") == ""
    running.stop()


def test_three_tabs_at_one_server_and_a_change_of_the_model(browser: Any, server: Running) -> None:
    """Each tab keeps its model; what the third shows after the change is what `gf` computes."""
    with quiet_page(browser) as one, quiet_page(browser) as two, quiet_page(browser) as three:
        for page, model in ((one, "ko-en"), (two, "masked-ko"), (three, "tiny-translation")):
            page.goto(f"{server.url}#model={model}&text={TEXT.replace(' ', '+')}&view=lens&lang=en")
        for page in (one, two, three):
            page.wait_for_selector("[data-lens='1,2']", timeout=30_000)
        three.evaluate("location.hash = location.hash.replace('tiny-translation', 'ko-en')")
        p = _share(gf.load("ko-en"))
        for page in (one, three):
            until(page, lambda page=page: abs(_shown(page) - p) < 1e-5)
        assert "masked-ko" in two.evaluate("location.hash") and abs(_shown(two) - p) > 1e-5


def _shown(page: Any) -> float:
    return float(page.get_attribute("[data-lens='1,2']", "data-p"))


def _share(loaded: Any) -> float:
    """The likeliest token's share after the first layer of the decoder, at the third place."""
    given, model = read(loaded, {"text": TEXT}), loaded.model
    with torch.no_grad(), gf.record(model) as trace:
        given.run(model, given.inputs)
        x, norm = trace["decoder.blocks.0.output"], model.decoder.final_norm
        return float(model.head(x if norm is None else norm(x), None, model.embedding.weight)[0, 2].softmax(-1).max())
