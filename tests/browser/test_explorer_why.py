"""Why is this number what it is? In a real browser: the number, its operands and the way back, all from `gf.record`."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import pytest
from torch import Tensor

from explorer_models import MODELS, opened, served, truth
from explorer_truth import Truth, printed
from in_browser import NEEDED

pytestmark = NEEDED
ADDED = ("q", "k", "v", "scores", "heads", "logits")  # the number is the sum of its terms
LOOK = """([at, cell]) => {
    const rest = location.hash.replace(/&(at|zoom|cell)=[^&]*/g, '');
    location.hash = `${rest}&at=${encodeURIComponent(at)}&zoom=5&cell=${cell}`;
}"""
ONE = """() => {
    const found = document.querySelector('.one-number');
    const texts = selector => [...found.querySelectorAll(selector)].map(one => one.textContent);
    const values = [...found.querySelectorAll('.term-value')].map(one => Number(one.dataset.value));
    return {name: texts('.eyebrow code')[0], value: Number(found.querySelector('.big-number').dataset.value),
        shown: texts('.big-number')[0], filled: texts('.filled')[0] ?? '', labels: texts('.term-label'), values,
        factors: [...found.querySelectorAll('.terms li')].map(one => one.querySelector('small')?.textContent ?? ''),
        whole: !texts('.not-all').length, source: texts('.reasons > .quiet > code')[0] ?? ''};
}"""


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with served(MODELS) as running:
        yield running


def at_of(name: str, index: list[int]) -> tuple[str, str]:
    """The address of a number: its place, with the head if there is one, and its cell."""
    place = name.replace(".blocks.", ".")
    return (f"{place}.head{index[0]}" if len(index) > 2 else place), ",".join(map(str, [0, *index][-2:]))


def asked(page: Any, name: str, index: list[int]) -> dict[str, Any]:
    """The number opened by its address, and everything that is said about it."""
    at, cell = at_of(name, index)
    with page.expect_response("**/api/why"):
        page.evaluate(LOOK, [at, cell])
    page.wait_for_selector(".reasons > *", state="attached")
    return page.evaluate(ONE)


def numbers(known: Truth) -> Iterator[tuple[str, list[int], float]]:
    """One number, drawn by lot, of a tensor of every sort."""
    draw, seen = random.Random(11), set()
    for name, x in known.tensors.items():
        sort = name.partition(".blocks.")[2].partition(".")[2] or name
        if sort in seen or name.endswith("encoding") or ("norm.output" in name and "blocks" not in name):
            continue
        seen.add(sort)
        index = [draw.randrange(size) for size in x.shape]
        if known.mask(name) is not None:
            index[-1] = min(index[-1], index[-2])
        yield name, index, float(x[tuple(index)])


def operands(known: Truth, name: str, index: list[int]) -> list[float] | None:
    """What a score or a head is made of, worked out here."""
    path, _, tap = name.rpartition(".")
    module: Any = known.loaded.model.get_submodule(path) if tap in ("scores", "heads", "weights") else None
    if module is None:
        return None
    own = index[0] * module.n_kv_heads // module.n_heads
    x: dict[str, Tensor] = {key: known.tensors[f"{path}.{key}"].float() for key in ("q", "k", "v", "weights")}
    if tap == "scores":
        return (x["q"][index[0], index[1]] * x["k"][own, index[2]] * module.scale).tolist()
    shares = x["weights"][index[0], index[1]]
    return shares.tolist() if tap == "weights" else (shares * x["v"][own, :, index[2]]).tolist()


def check_factors(known: Truth, tensor: str, factors: str, value: float) -> None:
    """Both numbers of a product, as they are printed with three digits, come to the operand."""
    if not factors:
        return
    a, b = (float(part.strip("()").replace("−", "-")) for part in factors.split(" · "))
    path, _, tap = tensor.rpartition(".")
    scale = getattr(known.loaded.model.get_submodule(path), "scale", 1.0) if tap == "scores" else 1.0
    assert a * b * scale == pytest.approx(value, abs=6e-4 * (abs(a) + abs(b) + 1)), tensor


@pytest.mark.parametrize("name", MODELS)
def test_every_sort_of_number_says_what_made_it(page: Any, server: Any, name: str) -> None:
    known = truth(name)
    opened(page, server.url, name)
    for tensor, index, value in numbers(known):
        found = asked(page, tensor, index)
        flat = index if len(index) > 1 else [0, *index]
        assert found["name"].endswith(f"{flat[-1]}]") and found["name"].startswith(tensor)
        assert found["value"] == pytest.approx(value, rel=1e-5, abs=1e-6), (
            tensor
        )  # of a map too, though maps are float16
        assert found["shown"] == printed(found["value"], 4)
        assert found["whole"], tensor
        if found["filled"]:
            assert found["filled"].endswith(f"= {printed(value, 4)}") or float(
                found["filled"].rpartition("= ")[2].replace("−", "-")
            ) == pytest.approx(value, rel=1e-3, abs=2e-4), tensor
        made = operands(known, tensor, index)
        if made is not None:
            largest = sorted((x for x in made if x), key=abs)[-24:]
            shown = [x for x in found["values"] if x]
            assert sorted(shown) == pytest.approx(sorted(largest), rel=1e-4, abs=1e-6), tensor
        for factors, made_of in zip(found["factors"], found["values"], strict=True):
            check_factors(known, tensor, factors, made_of)
        if tensor.rpartition(".")[2] in ADDED and len(found["values"]) < 24:
            assert math.fsum(found["values"]) == pytest.approx(value, rel=1e-3, abs=1e-4), tensor
        assert found["source"] == "" or ".py:" in found["source"]


def test_an_operand_is_followed_back_to_the_text(page: Any, server: Any) -> None:
    known = truth("tiny-translation")
    opened(page, server.url, "tiny-translation")
    asked(page, "decoder.blocks.0.cross_attention.weights", [1, 1, 2])
    passed = []
    for _ in range(12):
        found = page.evaluate(ONE)
        name, _, index = found["name"].rstrip("]").partition("[")
        where = tuple(int(part) for part in index.split(","))
        assert found["value"] == pytest.approx(float(known.tensors[name][where]), abs=1e-3), name
        passed.append(name)
        if not page.locator(".terms button").count():
            break
        with page.expect_response("**/api/why"):
            page.locator(".terms button").first.click()
        page.wait_for_selector(".reasons > *", state="attached")
    assert passed[1].endswith(".scores") and passed[2].endswith(".q") and passed[-1].startswith("embedding.output")
    for name in reversed(passed[:-1]):
        page.go_back()
        page.wait_for_function(
            "name => document.querySelector('.one-number .eyebrow code')?.textContent.startsWith(name)", arg=f"{name}["
        )


def test_a_click_on_a_map_and_on_a_strip_opens_that_very_number(page: Any, server: Any) -> None:
    known, name = truth("ko-en"), "encoder.blocks.1.self_attention.scores"
    opened(page, server.url, "ko-en", at="encoder.1.self_attention.scores.head2")
    length = known.tensors[name].shape[-1]
    body = page.locator(f".stage .map-body:has([data-map='{name}'])")
    body.scroll_into_view_if_needed()
    box = body.bounding_box()
    body.click(position={"x": box["width"] * 2.5 / length, "y": box["height"] * 1.5 / length})
    page.wait_for_selector(".reasons > *", state="attached")
    assert page.evaluate(ONE)["name"] == f"{name}[2, 1, 2]"
    assert page.evaluate(ONE)["value"] == pytest.approx(float(known.tensors[name][2, 1, 2]), rel=1e-3, abs=1e-4)
    body.focus()
    for key in ("ArrowDown", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    assert page.evaluate(ONE)["name"] == f"{name}[2, 2, 1]"
    page.click(".row-numbers [data-column='0']")
    assert page.evaluate(ONE)["name"] == f"{name}[2, 0, 0]"
    opened(page, server.url, "ko-en", at="encoder.1.after_self_attention", row="2,0")
    page.click("[data-strip='encoder.blocks.1.after_self_attention'] .number[data-column='5']")
    found = page.evaluate(ONE)
    assert found["name"] == "encoder.blocks.1.after_self_attention[2, 5]"
    assert found["value"] == pytest.approx(
        float(known.tensors["encoder.blocks.1.after_self_attention"][2, 5]), abs=1e-6
    )
