"""Gradients in a real browser: each number is computed again by torch.autograd from the same checkpoint."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
import torch
from scipy.stats import spearmanr
from torch import Tensor

import glassformer as gf
from explorer_client import foreign, tiny_run
from glassformer.explorer.inputs import read
from glassformer.explorer.serve import start
from glassformer.loading import Loaded
from in_browser import NEEDED, quiet_page, until

pytestmark = NEEDED
SENTENCE = "나는 학교에 간다"
OWN = {
    "tiny-translation-post": lambda: tiny_run("translation", "post"),
    "tiny-language_model": lambda: tiny_run("language_model"),
    "tiny-forecasting": lambda: tiny_run("forecasting"),
    "explorer-bert": lambda: foreign("bert"),
    "explorer-bert classifier": lambda: foreign("bert classifier"),
    "explorer-bert body": lambda: foreign("bert body"),
}
PAPER, BLUE, BROWN = (246, 247, 250), (28, 76, 172), (178, 74, 34)  # of a heat map in light colours


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    running = start([make() for make in OWN.values()], browser=False)
    yield running
    running.stop()


@pytest.fixture(params=[1280, 390])
def opened(request: pytest.FixtureRequest, browser: Any, server: Any) -> Iterator[Any]:
    """Opens the view of a model."""
    with quiet_page(browser, request.param, color_scheme="light") as page:

        def open_view(model: str, more: str = "", lang: str = "en") -> Any:
            page.goto(f"{server.url}#model={quote(model)}&view=gradients&lang={lang}{more}")
            page.wait_for_selector("#asked", timeout=30_000)
            return page

        yield open_view


def model_of(name: str) -> Loaded:
    return gf.load(OWN[name]() if name in OWN else name)


class Slopes:
    """By hand: the output of a pass, its derivative by what enters each stack, and where the heads looked."""

    def __init__(self, loaded: Loaded, given: dict[str, Any], edits: Any = None) -> None:
        self.loaded, self.given, self.inputs = loaded, read(loaded, given), {}
        self.stacks = loaded.config.model.family.split("-")
        leaves = {f"{stack}.input": self.leaf(stack) for stack in self.stacks}
        with torch.enable_grad(), gf.edit(loaded.model, leaves | (edits or {})), gf.record(loaded.model) as self.trace:
            self.output = self.given.run(loaded.model, self.given.inputs)[0]

    def leaf(self, stack: str) -> Any:
        def begin(x: Tensor) -> Tensor:
            self.inputs[stack] = x.detach().clone().requires_grad_()
            return self.inputs[stack]

        return begin

    def pieces(self, stack: str) -> Any:
        target = self.given.target
        return target if stack == "decoder" and target is not None else self.given.source

    def of(self, value: Tensor) -> dict[str, tuple[list[float], list[float]]]:
        """Stack → for each token ‖∂‖ and ∂ · x."""
        found = torch.autograd.grad(value, [self.inputs[stack] for stack in self.stacks], retain_graph=True)
        return {
            stack: (slope[0].pow(2).sum(-1).sqrt().tolist(), (slope * self.inputs[stack])[0].sum(-1).tolist())
            for stack, slope in zip(self.stacks, found, strict=True)
        }

    def looked(self, stack: str, rows: list[int]) -> list[list[float]]:
        """By layer: the mean of the heads and of these rows."""
        kind = "self_attention" if stack == self.stacks[-1] else "cross_attention"
        maps = [x[0] for name, x in self.trace.tensors.items() if name.endswith(f"{kind}.weights")]
        last = self.stacks[-1]
        count = self.loaded.config.model.decoder_layers if last == "decoder" else len(maps)
        return [x[:, rows].mean((0, 1)).tolist() for x in maps[-count:]]


def quoted(sentence: str) -> list[str]:
    """What stands in quotation marks, English or Korean."""
    return re.findall("[“‘](.+?)[”’]", sentence)


def numbers(page: Any, stack: str, key: str) -> list[float]:
    return [
        float(each)
        for each in page.eval_on_selector_all(
            f"[data-side={stack}] tbody tr", f"rows => rows.map((row) => row.dataset.{key})"
        )
    ]


def is_shown(page: Any, slopes: Slopes, value: Tensor, rows: list[int], seen: int | None = None) -> None:
    """Every side of the page holds these gradients, this attention and its agreement in ranks."""
    until(page, lambda: float(page.get_attribute("#asked", "data-value")) == pytest.approx(value.item(), abs=1e-5))
    for stack, (norm, product) in slopes.of(value).items():
        until_row = seen if stack == "decoder" else None
        norm, product = norm[:until_row], product[:until_row]
        assert numbers(page, stack, "norm") == pytest.approx(norm, rel=1e-3, abs=1e-7)
        assert numbers(page, stack, "product") == pytest.approx(product, rel=1e-3, abs=1e-6)
        for layer, all_looked in enumerate(slopes.looked(stack, rows)):
            looked = all_looked[:until_row]
            cells = page.query_selector_all(f"[data-side={stack}] [data-attention][data-layer='{layer}']")
            assert [float(one.get_attribute("data-attention")) for one in cells] == pytest.approx(looked, abs=1e-5)
            rho = page.get_attribute(f"[data-side={stack}] [data-rho=norm][data-layer='{layer}']", "data-value")
            if layer == len(slopes.looked(stack, rows)) - 1:
                patches = bool(slopes.given.tensors)
                pieces = [
                    f"patch {p}" if patches and p.isdecimal() else p
                    for p in (one.piece for one in slopes.pieces(stack))
                ]
                both = [pieces[looked.index(max(looked))], pieces[norm.index(max(norm))]]
                assert quoted(page.text_content(f"[data-side={stack}] .most-looked")) == both
            if len(looked) > 2:
                assert float(rho) == pytest.approx(spearmanr(looked, norm).statistic, abs=1e-6)
            else:
                assert rho == ""


def test_both_sides_of_a_translation(opened: Any) -> None:
    page = opened("ko-en", f"&text={SENTENCE}")
    slopes = Slopes(model_of("ko-en"), {"text": SENTENCE})
    logs = slopes.output.log_softmax(-1)
    last = len(logs) - 2  # before the end
    is_shown(page, slopes, logs[last].max(), [last], last + 1)
    page.click("[data-outputs=rows] [data-row='1']")
    is_shown(page, slopes, logs[1].max(), [1], 2)
    page.focus("[data-outputs=choices] button")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    second = int(logs[1].topk(2).indices[1])
    is_shown(page, slopes, logs[1, second], [1], 2)
    assert page.evaluate("document.activeElement.dataset.choice") == str(second)
    assert f"grad=1%3A{second}" in page.url


def test_another_text_has_its_own_answer(opened: Any) -> None:
    page = opened("ko-en", "&text=너는 왜 이 책을 읽었니%3F&grad=5")
    page.wait_for_selector("[data-outputs=rows] [data-row='5'][aria-pressed=true]")
    page.fill("#text", SENTENCE)
    page.keyboard.press("Enter")  # its answer has fewer tokens
    slopes = Slopes(model_of("ko-en"), {"text": SENTENCE})
    logs = slopes.output.log_softmax(-1)
    assert len(logs) == 5
    is_shown(page, slopes, logs[3].max(), [3], 4)


def test_a_translator_with_its_norms_behind(opened: Any) -> None:
    text = "우리는 자주 웃는다"
    page = opened("tiny-translation-post", f"&text={text}&grad=0:7", "ko")
    slopes = Slopes(model_of("tiny-translation-post"), {"text": text})
    is_shown(page, slopes, slopes.output[0].log_softmax(-1)[7], [0], 1)


def test_a_language_model_is_asked_about_its_last_token(opened: Any) -> None:
    text = "the old man sees the"
    page = opened("tiny-language_model", f"&text={text}")
    slopes = Slopes(model_of("tiny-language_model"), {"text": text})
    logs = slopes.output.log_softmax(-1)
    last = len(logs) - 1
    is_shown(page, slopes, logs[last].max(), [last])
    page.click("[data-outputs=rows] [data-row='2']")
    is_shown(page, slopes, logs[2].max(), [2], 3)


def test_the_gap_of_an_imported_bert(opened: Any) -> None:
    text = "the [MASK] is here"
    page = opened("explorer-bert", f"&text={text}")
    slopes = Slopes(model_of("explorer-bert"), {"text": text})
    (gap,) = slopes.given.masked
    is_shown(page, slopes, slopes.output[gap].log_softmax(-1).max(), [gap])
    assert page.locator("[data-outputs=rows] button").count() == 1


@pytest.mark.parametrize("model", ["sentiment-ko", "explorer-bert classifier"])
def test_a_classifier_and_another_of_its_classes(opened: Any, model: str) -> None:
    text = "이 영화 정말 재미있다" if model == "sentiment-ko" else "the old man is here"
    page = opened(model, f"&text={text}", "ko")
    slopes = Slopes(model_of(model), {"text": text})
    logs = slopes.output.log_softmax(-1)
    is_shown(page, slopes, logs.max(), [0])
    other = int(logs.argmin())
    page.click(f"[data-outputs=choices] [data-choice='{other}']")
    is_shown(page, slopes, logs[other], [0])


def test_an_image_is_overlaid_by_its_patches(opened: Any) -> None:
    page = opened("digits", "&example=3")
    slopes = Slopes(model_of("digits"), {"example": 3})
    logs = slopes.output.log_softmax(-1)
    is_shown(page, slopes, logs.max(), [0])
    ((norm, product),) = slopes.of(logs.max()).values()
    names = page.locator(".gradient-table tbody th").all_text_contents()
    assert names == ["[CLS]", *(f"patch {i}" for i in range(1, len(norm)))]
    for key, values in (("norm", norm), ("product", product), ("attention-1", slopes.looked("encoder", [0])[1])):
        assert pixels(page, key) == pytest.approx(heat(values[1:]), abs=1)  # the first is the class token


def pixels(page: Any, key: str) -> list[int]:
    return page.eval_on_selector(
        f"[data-patches={key}]",
        "one => [...one.getContext('2d').getImageData(0, 0, one.width, one.height).data].filter((_, i) => i % 4 < 3)",
    )


def heat(values: list[float]) -> list[int]:
    """The colours of a heat map: from paper to blue, or for negative numbers to brown."""
    most = max(abs(value) for value in values)
    mixed = [(abs(value) / most, BLUE if value > 0 else BROWN) for value in values]
    return [round(a + (b - a) * share) for share, end in mixed for a, b in zip(PAPER, end, strict=True)]


@pytest.mark.parametrize("model", ["forecaster", "tiny-forecasting"])
def test_a_series_shows_its_patches_along_the_axis(opened: Any, model: str) -> None:
    page = opened(model, "&grad=0:2")
    slopes = Slopes(model_of(model), {"example": 0})
    every = [*range(len(slopes.given.source))]
    is_shown(page, slopes, slopes.output[2], every)
    ((norm, product),) = slopes.of(slopes.output[2]).values()
    for key, values in (("norm", norm), ("product", product)):
        bands = page.query_selector_all(f"[data-band={key}] rect")
        assert [float(one.get_attribute("data-value")) for one in bands] == pytest.approx(values, rel=1e-3, abs=1e-6)
        widths = [float(one.get_attribute("width")) for one in bands]
        assert sum(widths) == pytest.approx(1000, abs=1) and len(set(map(round, widths[:-1]))) <= 2


def test_the_gradient_is_that_of_the_changed_pass(opened: Any) -> None:
    page = opened("digits", "&edits=zero~encoder.blocks.0.self_attention.heads")
    off = {"encoder.blocks.0.self_attention.heads": gf.zero()}
    slopes = Slopes(model_of("digits"), {"example": 0}, off)
    changed, plain = (
        each.output.log_softmax(-1).max() for each in (slopes, Slopes(model_of("digits"), {"example": 0}))
    )
    is_shown(page, slopes, changed, [0])
    assert plain.item() != pytest.approx(changed.item(), 1e-3)
    page.click("#to-interfere")
    page.wait_for_selector("#moved")


def test_there_is_no_such_view_of_a_body_without_a_head(browser: Any, server: Any) -> None:
    with quiet_page(browser) as page:
        page.goto(f"{server.url}#model={quote('explorer-bert body')}&view=gradients&lang=en&text=the old man")
        page.wait_for_selector("html[data-ready=yes]")
        page.wait_for_selector("#tab-parameters")
        assert page.locator("#tab-gradients").count() == 0
