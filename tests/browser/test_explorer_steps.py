"""The step player in a real browser: every scene of every family shows the numbers that `gf.record` finds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from explorer_models import MODELS, opened, served, truth
from explorer_truth import DRAWN, Truth, pixels, printed, reach, same_pixels
from in_browser import NEEDED, until

pytestmark = NEEDED
STAGE = """stage => {
    const texts = (root, selector) => [...root.querySelectorAll(selector)].map(one => one.textContent);
    const pairs = (root, each, ...parts) => [...root.querySelectorAll(each)].map(one => texts(one, parts.join()));
    const facts = [...stage.querySelectorAll('[data-fact]')].map(one => [one.dataset.fact, texts(one, 'dd')[0]]);
    return {
        ...stage.dataset, facts: Object.fromEntries(facts), heads: texts(stage, '.head-picker button').length,
        strips: [...stage.querySelectorAll('.strip')].map(one => ({...one.dataset, numbers: texts(one, '.number')})),
        row: pairs(stage, '.row-numbers [data-column]', '.term-label', '.term-value'),
        choices: pairs(stage, '.choices li', '.term-label', '.term-value'), pieces: texts(stage, '.piece-card'),
        patches: stage.querySelectorAll('.board-cell, .board-outside .token, .bracket').length,
        objects: [...stage.querySelectorAll('.object')].map(
            one => [Number(one.dataset.p), ...one.dataset.box.split(' ').map(Number)]),
        numbers: texts(stage, '.forecast-values b'),
        count: document.querySelector('.player-count').textContent, canvases: (DRAWN)(stage),
    };
}""".replace("DRAWN", DRAWN)
ALWAYS = {
    "text",
    "embedding",
    "position",
    "qkv",
    "scores",
    "weights",
    "heads",
    "concat",
    "residual",
    "norm",
    "network",
    "choice",
}
WALK = """async () => {
    const [stage, on] = [document.querySelector('.stage'), document.querySelector('[data-step=on]')];
    const seen = [];
    for (;;) {
        const late = () => stage.dataset.kind === 'norm' && !stage.querySelector('[data-strip$=".scale"]');
        if (!seen.some(one => one.heads > 1)) stage.querySelector('.head-picker button:nth-child(2)')?.click();
        while (late()) await new Promise(done => setTimeout(done, 10));
        seen.push((STAGE)(stage));
        if (on.disabled) return seen;
        on.click();
    }
}""".replace("STAGE", STAGE)


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with served(MODELS) as running:
        yield running


def rows(truth: Truth) -> dict[str, int]:
    """The followed row of each side: the second, if there is one."""
    sides = {"source": truth.given.source, "target": truth.given.target or ()}
    return {side: min(1, max(0, len(tokens) - 1)) for side, tokens in sides.items()}


def stage(page: Any) -> dict[str, Any]:
    """The step that is shown now."""
    return page.evaluate(f"() => ({STAGE})(document.querySelector('.stage'))")


def check(stage: dict[str, Any], truth: Truth) -> dict[str, Any]:
    """Everything in a stage against the truth; returns the stage, with the maps and strips that were compared."""
    weights = dict(truth.loaded.model.named_parameters())
    known = [one for one in pixels(stage["canvases"]) if one["name"] in truth.tensors]
    whole = None
    if stage["kind"] == "residual" and len(stage["strips"]) == 3:
        before, more = (truth.matrix(one["strip"])[int(one["row"])] for one in stage["strips"][:2])
        whole = reach(before, more, before + more)
        for one in stage["strips"]:
            if one["strip"].endswith(".sum"):
                assert one["numbers"] == [printed(float(x)) for x in (before + more)[:8]]
    for one in known:
        same_pixels(one, truth, most=whole if one["row"] is not None else None)
    for one in stage["strips"]:
        if one.get("strip") in truth.tensors:
            x = truth.matrix(one["strip"], int(one["head"]) if "head" in one else None)[int(one["row"])]
        elif one.get("strip", "").rpartition(".")[2] in ("scale", "shift"):
            path, _, which = one["strip"].rpartition(".")
            x = weights[f"{path}.{'weight' if which == 'scale' else 'bias'}"].detach()
        else:
            continue
        assert one["numbers"] == [printed(float(number)) for number in x[:8]], one
    return {**stage, "drawn": known}


def check_row(stage: dict[str, Any], truth: Truth, row: int, head: int) -> None:
    """The followed row of scores or weights, in numbers."""
    (name,) = {one["name"] for one in stage["drawn"]}
    wanted = truth.matrix(name, head)[row]
    assert [value for _, value in stage["row"]] == [printed(float(x)) for x in wanted]


def check_choice(stage: dict[str, Any], truth: Truth, row: int) -> None:
    """The likeliest answers are those of the softmax."""
    kind = truth.loaded.config.model.head.kind
    shown = [value for _, value in stage["choices"]]
    if kind == "language_model":
        shares = truth.output[row].softmax(-1)
        assert shown == [printed(float(x)) for x in shares.topk(len(shown)).values]
        assert stage["choices"][0][0] == truth.loaded.vocabularies.target.piece(int(shares.argmax()))
    elif kind == "classifier":
        single = (
            torch.cat([-truth.output, truth.output]).sigmoid() if len(truth.output) == 1 else truth.output.softmax(-1)
        )
        assert shown == [printed(float(x)) for x in single.sort(descending=True).values]
    elif kind == "regression":
        assert stage["numbers"] == [printed(x, 2) for x in truth.given.restore(truth.output)]
    else:
        shares = truth.output[:, :-4].softmax(-1)  # the classes, then nothing; a box follows
        wanted = torch.cat([shares.max(-1).values[:, None], truth.output[:, -4:]], -1)
        asked = wanted[-1:] if truth.loaded.task == "prompted_objects" else wanted  # a prompt is answered at its end
        assert stage["objects"] == [pytest.approx(one, rel=1e-4) for one in asked.tolist()]


def check_norm(stage: dict[str, Any], truth: Truth, row: int) -> None:
    """Mean and deviation of what the norm read."""
    path = next(one["strip"] for one in stage["strips"] if one.get("strip", "").endswith(".scale")).removesuffix(
        ".scale"
    )
    x, norm = truth.read[path][row].double(), truth.loaded.model.get_submodule(path)
    deviation = (x.var(correction=0) + norm.eps).sqrt()
    assert stage["facts"] == {"mean": printed(float(x.mean()), 4), "deviation": printed(float(deviation), 4)}


@pytest.mark.parametrize("name", MODELS)
def test_every_step_shows_what_was_computed(page: Any, server: Any, name: str) -> None:
    known = truth(name)
    follow = rows(known)
    opened(page, server.url, name, row=f"{follow['source']},{follow['target']}")
    stages, head = page.evaluate(WALK), 0
    assert [one["count"] for one in stages] == [f"{at + 1} / {len(stages)}" for at in range(len(stages))]
    for shown in stages:
        found = check(shown, known)
        head = 1 if head or found["heads"] > 1 else 0
        if found["kind"] in ("qkv", "scores", "mask", "weights", "heads"):
            assert {one["head"] for one in found["drawn"]} == {head}
        target = known.given.target is not None and found["scene"].startswith(("decoder", "head"))
        row = follow["target" if target else "source"]
        match found["kind"]:
            case "scores" | "weights":
                check_row(found, known, row, head)
            case "norm":
                check_norm(found, known, row)
            case "choice":
                check_choice(found, known, row)
            case "pieces":
                pieces = known.given.target if "target" in found["scene"] else known.given.source
                queries = known.loaded.task == "object_queries"
                names = [
                    f"{f'query {i + 1}#{i}' if queries else one.piece}{'' if one.id is None else one.id}"
                    for i, one in enumerate(pieces)
                ]
                patches = known.given.tensors and "target" not in found["scene"]
                assert found["pieces"] == ([] if patches else names)
                assert found["patches"] == (len(pieces) if patches else 0)
            case "text":
                continue
            case _:
                assert found["drawn"], found["scene"]
    assert {one["kind"] for one in stages} >= ALWAYS


def flipped(body: bytes, truth: Truth, name: str, where: int, bit: int) -> bytes:
    """The payload with one bit of one byte of a tensor turned over."""
    length = int.from_bytes(body[:8], "little")
    begin = json.loads(body[8 : 8 + length])[name]["data_offsets"][0] + 8 + length
    changed = bytearray(body)
    changed[begin + where] ^= bit
    assert len(truth.tensors) > 10
    return bytes(changed)


ALTERED = [  # a tensor, the scene that shows it, and which bit of which byte
    ("encoder.blocks.0.self_attention.weights", "encoder.0.self_attention.weights", 1, 0x20),
    ("encoder.blocks.0.self_attention.scores", "encoder.0.self_attention.scores", 3, 0x10),
    ("encoder.blocks.0.self_attention.q", "encoder.0.self_attention.q", 7, 0x01),
    ("encoder.blocks.0.after_self_attention", "encoder.0.after_self_attention", 2, 0x80),
    ("decoder.blocks.0.self_attention.scores.mask", "decoder.0.self_attention.mask", 1, 0x01),
]


@pytest.mark.parametrize(("name", "at", "where", "bit"), ALTERED)
def test_one_altered_byte_is_seen(page: Any, server: Any, name: str, at: str, where: int, bit: int) -> None:
    known, broken = truth("tiny-translation"), []
    opened(page, server.url, "tiny-translation", at=at)
    assert check(stage(page), known)["drawn"]

    def alter(route: Any) -> None:
        answer = route.fetch()
        broken.append(flipped(answer.body(), known, name, where, bit))
        route.fulfill(response=answer, body=broken[-1])

    page.route("**/api/trace", alter)
    page.click("#go")
    until(page, lambda: page.get_attribute(".input", "aria-busy") == "false" and bool(broken))
    with pytest.raises(AssertionError):
        check(stage(page), known)
    page.unroute("**/api/trace")
    page.click("#go")
    until(page, lambda: page.get_attribute(".input", "aria-busy") == "false")
    assert check(stage(page), known)["drawn"]


def test_the_slider_and_the_keys_lead_to_the_same_step(page: Any, server: Any) -> None:
    opened(page, server.url, "ko-en")
    page.focus(".player-slider")
    page.keyboard.press("End")
    assert page.get_attribute(".stage", "data-kind") == "choice"
    page.click(".stage h2")
    page.keyboard.press("ArrowLeft")
    assert page.get_attribute(".stage", "data-kind") == "logits"
    page.keyboard.press("ArrowRight")
    assert "at=head.choice" in page.url
    page.click("[data-depth=deep]")
    page.wait_for_selector(".lesson-text :is(p, ul)")
