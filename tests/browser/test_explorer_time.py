"""The time machine in a real browser: answers, maps and curves are computed or read again from the same checkpoints."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import glassformer as gf
from explorer_client import copied, foreign, tiny_run
from glassformer.explorer.inputs import read
from glassformer.explorer.serve import start
from glassformer.loading import Loaded, trained_folders
from in_browser import NEEDED, quiet_page, until

pytestmark = NEEDED
MODEL, TEXT, KNOWN = "ko-en-growing", "나는 학교에 간다", "우리는 자주 웃는다"
STEPS = (50, 200, 300, 600, 3000)
CROSS = "decoder.blocks.1.cross_attention.weights"
PAPER, INK = np.array([246, 247, 250]), np.array([28, 76, 172])  # the light palette


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    running = start([tiny_run("translation", "post"), tiny_run("forecasting"), foreign("gpt2")], browser=False)
    yield running
    running.stop()


@pytest.fixture(params=[1280, 390])
def opened(request: pytest.FixtureRequest, browser: Any, server: Any) -> Iterator[Any]:
    """Opens the time machine."""
    with quiet_page(browser, request.param) as page:

        def open_view(model: str = MODEL, text: str = TEXT, more: str = "") -> Any:
            page.goto(f"{server.url}#model={model}&text={text.replace(' ', '+')}&view=time&lang=en{more}")
            page.wait_for_selector("html[data-ready=yes]")
            page.wait_for_selector(".curve-checkpoint", state="attached")  # the log has arrived
            return page

        yield open_view


def at(step: int, model: str | Path = MODEL) -> Loaded:
    return gf.load(model, checkpoint=str(step))


def said_by(loaded: Loaded, text: str) -> str:
    """The greedy translation, as the page shows it."""
    return gf.translate(loaded, text, beam=1)


def shown(page: Any, step: int) -> str:
    """The answer at a checkpoint, once it is there."""
    page.wait_for_selector(f"#time-answer[data-step='{step}'] strong, #time-answer[data-step='{step}'] .quiet")
    return str(page.text_content("#time-answer")).removeprefix("→")


def listed(page: Any, steps: tuple[int, ...]) -> list[str]:
    """The answers of the list, once they are all there."""
    for step in steps:
        until(page, lambda step=step: page.text_content(f"[data-answer='{step}'] .time-said") not in ("", "…"))
    return [str(page.text_content(f"[data-answer='{step}'] .time-said")) for step in steps]


def weights(loaded: Loaded, target: str | None = None, name: str = CROSS) -> np.ndarray[Any, Any]:
    """All heads of an attention, as they travel."""
    given = read(loaded, {"text": TEXT} | ({} if target is None else {"target": target}))
    with torch.no_grad(), gf.record(loaded.model) as trace:
        given.run(loaded.model, given.inputs)
    return trace[name][0].half().float().numpy()  # h t s


def pixels(page: Any, selector: str) -> np.ndarray[Any, Any]:
    copied_out = """canvas => {
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
        copy.drawImage(canvas, 0, 0);
        return [canvas.height, canvas.width, ...copy.getImageData(0, 0, canvas.width, canvas.height).data];
    }"""
    rows, columns, *values = page.eval_on_selector(selector, copied_out)
    return np.array(values).reshape(rows, columns, 4)[..., :3]


def coloured(shares: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    part = np.floor(shares * 255 + 0.5)[..., None] / 255
    return np.floor(PAPER + (INK - PAPER) * part + 0.5)


# --- answers and maps ---


def test_every_checkpoint_says_its_own_translation(opened: Any) -> None:
    page = opened()
    answers = [said_by(at(step), TEXT) for step in STEPS]
    assert len(set(answers)) > 3 and answers[-1] == "I go to school"
    assert listed(page, STEPS) == answers
    page.focus("#time-slider")
    page.keyboard.press("Home")
    for step, answer in zip(STEPS, answers, strict=True):
        assert shown(page, step) == answer
        assert str(page.text_content("#answer")).removeprefix("→") == answer
        assert f"checkpoint={step}" in page.url
        assert page.get_attribute("#time-slider", "aria-valuetext") == f"step {step:,}"
        page.keyboard.press("ArrowRight")
    page.click("[data-answer='300']")
    assert shown(page, 300) == answers[2]
    page.click("[data-time=back]")
    assert shown(page, 200) == answers[1]
    page.keyboard.press("ArrowLeft")  # wherever the focus is, as in the other views
    assert shown(page, 50) == answers[0]


def test_an_address_opens_at_its_checkpoint(opened: Any) -> None:
    page = opened(more="&checkpoint=200&at=encoder.0.self_attention.head2")
    assert shown(page, 200) == said_by(at(200), TEXT)
    until(page, lambda: page.input_value("#time-slider") == "1")  # once the checkpoints have come
    assert page.get_attribute(".time-map[aria-current=true]", "data-small") == "200"
    assert page.get_attribute(".time-large canvas", "data-map") == "encoder.blocks.0.self_attention.weights"
    assert page.get_attribute(".time-large canvas", "data-head") == "2"


def test_the_maps_are_those_of_the_traces(opened: Any) -> None:
    page = opened(more="&checkpoint=300&at=decoder.1.cross_attention.head1")
    last = said_by(at(STEPS[-1]), TEXT)
    page.wait_for_selector(f".time-large canvas[data-map='{CROSS}'][data-head='1']")
    assert shown(page, 300)
    assert np.abs(pixels(page, ".time-large canvas") - coloured(weights(at(300))[1])).max() <= 1
    for step in STEPS:
        page.wait_for_selector(f"[data-small='{step}'] canvas[data-map='{CROSS}']")
        assert np.abs(pixels(page, f"[data-small='{step}'] canvas") - coloured(weights(at(step), last)[1])).max() <= 1
    page.click("[data-pick-head='3']")
    until(page, lambda: page.get_attribute("[data-small='50'] canvas", "data-head") == "3")
    assert np.abs(pixels(page, "[data-small='50'] canvas") - coloured(weights(at(50), last)[3])).max() <= 1
    page.click("[data-small='50']")
    assert shown(page, 50)
    until(page, lambda: pixels(page, ".time-large canvas").shape[0] == weights(at(50)).shape[1])
    assert np.abs(pixels(page, ".time-large canvas") - coloured(weights(at(50))[3])).max() <= 1


@pytest.mark.parametrize("order", ["post"])
def test_another_order_of_norms(opened: Any, order: str) -> None:
    run = tiny_run("translation", order)
    page = opened(run.name, KNOWN)
    answers = [said_by(at(step, run), KNOWN) or "∅" for step in (4, 6, 8)]
    assert listed(page, (4, 6, 8)) == answers
    assert "finished" in page.text_content(".time-state")


def test_a_forecast_over_time(opened: Any) -> None:
    run = tiny_run("forecasting")
    page = opened(run.name)
    told = []
    for step in (4, 6, 8):
        loaded = at(step, run)
        given = read(loaded, {"example": 0})
        with torch.no_grad():
            numbers = given.restore(given.run(loaded.model, given.inputs)[0])  # type: ignore[misc]
        told.append("  ".join(f"{one:.2f}" for one in numbers[:6]))
    assert [answer.removesuffix("…") for answer in listed(page, (4, 6, 8))] == told
    page.click("[data-time=back]")
    assert shown(page, 6).removesuffix("…") == told[1]


def test_a_model_without_a_past_has_no_time_machine(browser: Any, server: Any) -> None:
    with quiet_page(browser) as page:
        for model in (foreign("gpt2").name, "ko-en"):
            page.goto(f"{server.url}#model={model}&view=time&lang=en")
            page.reload()
            page.wait_for_selector("#tab-steps[aria-selected=true]")
            assert page.locator("#tab-time").count() == 0


def test_no_answer_of_another_checkpoint_is_ever_shown(browser: Any, server: Any) -> None:
    with quiet_page(browser) as page:
        held: list[Any] = []

        def hold(route: Any) -> None:
            body = route.request.post_data_json
            if body.get("checkpoint") == "50" and "wanted" not in body:
                held.append(route)
            else:
                route.continue_()

        page.route("**/api/trace", hold)
        page.goto(f"{server.url}#model={MODEL}&text={TEXT.replace(' ', '+')}&view=time&lang=en&checkpoint=3000")
        assert shown(page, 3000) == "I go to school"
        page.click("[data-answer='50']")
        until(page, lambda: bool(held))
        assert page.text_content("#time-answer") == "→…" and page.text_content("#answer") == ""
        page.click("[data-answer='200']")
        assert shown(page, 200) == said_by(at(200), TEXT)
        held[0].continue_()  # too late: nobody waits for it
        listed(page, STEPS)
        assert shown(page, 200) == said_by(at(200), TEXT)


def test_a_large_model_is_asked_only_when_told_to(browser: Any, server: Any) -> None:
    with quiet_page(browser) as page:
        asked: list[Any] = []
        page.on("request", lambda one: asked.append(one.post_data_json) if one.url.endswith("/api/trace") else None)

        def enlarge(route: Any) -> None:
            answer = route.fetch()
            models = [one | {"parameters": 5_000_000} for one in answer.json()["models"]]
            route.fulfill(response=answer, json={"models": models})

        page.route("**/api/models", enlarge)
        page.goto(f"{server.url}#model={MODEL}&text={TEXT.replace(' ', '+')}&view=time&lang=en")
        assert shown(page, 3000) and len(asked) == 1
        assert [page.text_content(f"[data-answer='{step}'] .time-said") for step in STEPS] == ["…"] * len(STEPS)
        page.click("#time-ask")
        assert listed(page, STEPS) == [said_by(at(step), TEXT) for step in STEPS]
        assert page.locator("#time-ask").is_hidden()


def test_play_goes_from_the_first_to_the_last(browser: Any, server: Any) -> None:
    with quiet_page(browser) as page:
        page.clock.install()
        page.goto(f"{server.url}#model={MODEL}&text={TEXT.replace(' ', '+')}&view=time&lang=en")
        assert shown(page, 3000)
        page.click("#time-play")
        for step in STEPS:
            assert shown(page, step) == said_by(at(step), TEXT)
            page.clock.run_for(1300)
        assert page.get_attribute("#time-play", "aria-pressed") == "false"
        page.click("#time-play")
        assert shown(page, 50)
        page.click("#time-play")
        assert page.get_attribute("#time-play", "aria-label") == "Play from here"


# --- curves ---


def logged(folder: Path, kind: str) -> list[tuple[int, float]]:
    lines = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return [(one["step"], one["loss"]) for one in records if one["kind"] == kind]


class Drawn:
    """The chart as it is drawn, with the scales that its axes have."""

    def __init__(self, page: Any, log: bool = False) -> None:
        def numbers(name: str) -> list[float]:
            return [float(one) for one in page.get_attribute(".curve-svg", name).split(",")]

        self.page, self.log = page, log
        self.left, self.right, self.top, self.bottom = numbers("data-frame")
        self.losses, (_, self.last) = numbers("data-losses"), numbers("data-steps")

    def x(self, step: float) -> float:
        return self.left + (self.right - self.left) * step / self.last

    def y(self, loss: float) -> float:
        low, high, here = (math.log(one) if self.log else one for one in (*self.losses, loss))
        return self.bottom - (self.bottom - self.top) * (here - low) / (high - low)

    def path(self, selector: str) -> list[tuple[float, float]]:
        drawn = re.findall(r"(-?[\d.]+) (-?[\d.]+)", self.page.get_attribute(selector, "d"))
        return [(float(x), float(y)) for x, y in drawn]

    def expected(self, points: list[tuple[int, float]]) -> tuple[list[Any], list[Any] | None]:
        """The line, and the outline of its band, if there are more points than columns of pixels."""
        if len(points) <= math.floor(self.right - self.left):
            return [(self.x(step), self.y(loss)) for step, loss in points], None
        columns: dict[int, list[float]] = {}
        for step, loss in points:
            columns.setdefault(math.floor(self.x(step) + 0.5), []).append(loss)
        line = [(x, self.y(sum(all_) / len(all_))) for x, all_ in columns.items()]
        low = [(x, self.y(min(all_))) for x, all_ in columns.items()]
        return line, [*low, *((x, self.y(max(all_))) for x, all_ in reversed(columns.items()))]


@pytest.mark.parametrize("log", [False, True])
def test_the_curves_are_the_points_of_the_log(opened: Any, log: bool) -> None:
    page, folder = opened(), trained_folders()[MODEL]
    if log:
        page.click("#time-log")
        assert "lab=log%3A1" in page.url
    drawn = Drawn(page, log)
    training, validation = logged(folder, "train"), logged(folder, "evaluation")
    assert len(training) == 300 and len(validation) == 30
    every = [loss for _, loss in training + validation]
    assert drawn.losses == pytest.approx([min(every) if log else 0, max(every)]) and drawn.last == 3000
    for kind, points in (("training", training), ("validation", validation)):
        line, outline = drawn.expected(points)
        assert np.array(drawn.path(f"[data-curve={kind}]")) == pytest.approx(np.array(line), abs=0.006)
        assert page.locator(f".curve-band.{kind}").count() == (outline is not None)
        if outline is not None:
            assert np.array(drawn.path(f".curve-band.{kind}")) == pytest.approx(np.array(outline), abs=0.006)
    marks = page.eval_on_selector_all(".curve-checkpoint", "all => all.map((one) => Number(one.getAttribute('x1')))")
    assert marks == pytest.approx([drawn.x(step) for step in STEPS])


def test_a_point_is_read_by_keys_and_a_click_goes_to_a_checkpoint(opened: Any) -> None:
    page, folder = opened(more="&checkpoint=300"), trained_folders()[MODEL]
    page.wait_for_selector(".curve-now[data-step='300']", state="attached")
    until(page, lambda: page.locator(".curve-checkpoint").count() == len(STEPS))
    drawn, training = Drawn(page), dict(logged(folder, "train"))
    assert float(page.get_attribute(".curve-now", "x1")) == pytest.approx(drawn.x(300))
    assert f"training {training[300]:.4f} (300)" in page.text_content("#curve-readout")
    page.focus(".curve")
    page.keyboard.press("ArrowRight")
    assert f"training {training[310]:.4f} (310)" in page.text_content("#curve-readout")
    page.keyboard.press("End")
    assert f"training {training[3000]:.4f} (3,000)" in page.text_content("#curve-readout")
    assert f"validation {dict(logged(folder, 'evaluation'))[3000]:.4f} (3,000)" in page.text_content("#curve-readout")
    page.locator(".curve").click(position={"x": drawn.x(900), "y": 100})
    assert shown(page, 600) == said_by(at(600), TEXT)


# --- a run that goes on ---


@pytest.fixture
def going(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Any]]:
    """A run that is being trained, and a server for it alone."""
    monkeypatch.setattr("glassformer.loading.trained.TRAINED", tmp_path / "none")
    run = copied(tiny_run("translation"), tmp_path)
    stands(run, "running")
    running = start([run], browser=False)
    yield run, running
    running.stop()


def stands(run: Path, state: str) -> None:
    status = json.loads((run / "status.json").read_text(encoding="utf-8"))
    (run / "status.json").write_text(json.dumps(status | {"state": state}), encoding="utf-8")


def grow(run: Path, step: int, loss: float) -> None:
    """As training does it: a checkpoint under another name, then renamed; then the lines of the log."""
    shutil.copytree(run / "checkpoints" / "step-00000008", run / "checkpoints" / "draft")
    (run / "checkpoints" / "draft").rename(run / "checkpoints" / f"step-{step:08d}")
    with (run / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps({"kind": "train", "step": step, "loss": loss}) + "\n")


def test_a_long_log_is_drawn_as_what_it_is(browser: Any, going: Any) -> None:
    run, running = going
    noise = torch.rand(12_000, generator=torch.Generator().manual_seed(0)).tolist()
    lines = [json.dumps({"kind": "train", "step": i + 1, "loss": loss + 1}) for i, loss in enumerate(noise)]
    (run / "log.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    stands(run, "finished")
    with quiet_page(browser) as page:
        page.goto(f"{running.url}#model={run.name}&view=time&lang=en")
        page.wait_for_selector(".curve-svg[data-steps='0,12000']")
        drawn = Drawn(page)
        line, outline = drawn.expected(logged(run, "train"))
        assert np.array(drawn.path("[data-curve=training]")) == pytest.approx(np.array(line), abs=0.006)
        assert outline and np.array(drawn.path(".curve-band")) == pytest.approx(np.array(outline), abs=0.006)
        assert "nothing is smoothed" in page.text_content(".curve-legend")
        page.focus(".curve")
        page.keyboard.press("End")
        assert f"training {noise[-1] + 1:.4f} (12,000)" in page.text_content("#curve-readout")


class Live:
    """A page on a run that goes on, whose clock is ours."""

    def __init__(self, page: Any, run: Path, url: str) -> None:
        self.page, self.run, self.asked = page, run, []
        page.on("request", lambda request: self.asked.append(request.url) if "/events" in request.url else None)
        page.clock.install()
        page.goto(f"{url}#model={run.name}&text={KNOWN.replace(' ', '+')}&view=time&lang=en")
        page.wait_for_selector(".time-state[data-state=running]")
        listed(page, (4, 6, 8))

    def later(self) -> None:
        self.page.clock.run_for(60_000)

    def is_quiet(self) -> None:
        """Nothing more is asked, however late it gets; the next checkpoint is still answered."""
        before = len(self.asked)
        self.later()
        self.page.evaluate("fetch('/healthz').then((answer) => answer.json())")
        assert len(self.asked) == before


def test_a_run_that_goes_on_grows_on_the_page(browser: Any, going: Any) -> None:
    run, running = going
    with quiet_page(browser) as page:
        live = Live(page, run, running.url)
        lines = len((run / "log.jsonl").read_text(encoding="utf-8").splitlines())
        before = len(Drawn(page).path("[data-curve=training]"))
        assert before == len(logged(run, "train"))
        grow(run, 10, 0.125)
        live.later()
        page.wait_for_selector("[data-answer='10']")
        assert live.asked[0].endswith("after=0") and f"after={lines}" in live.asked[-2]
        assert all(not url.endswith("after=0") for url in live.asked[1:])
        assert page.get_attribute("#time-slider", "max") == "3"
        drawn = Drawn(page)
        path = drawn.path("[data-curve=training]")
        assert len(path) == before + 1 and drawn.last == 10
        assert path[-1] == pytest.approx((drawn.x(10), drawn.y(0.125)), abs=0.006)
        assert listed(page, (10,)) == [said_by(at(10, run), KNOWN) or "∅"]
        assert "step 10 so far" in page.text_content(".time-state")
        stands(run, "finished")
        live.later()
        page.wait_for_selector(".time-state[data-state=finished]")
        assert page.text_content(".time-state") == "The run is finished, at step 10."
        live.is_quiet()


def test_a_page_that_nobody_sees_asks_nothing(browser: Any, going: Any) -> None:
    run, running = going
    with quiet_page(browser) as page:
        live = Live(page, run, running.url)
        hide = """hidden => {
            Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
            document.dispatchEvent(new Event('visibilitychange'));
        }"""
        page.evaluate(hide, True)
        live.is_quiet()
        before = len(live.asked)
        grow(run, 10, 0.25)
        page.evaluate(hide, False)
        page.wait_for_selector("[data-answer='10']")
        assert len(live.asked) > before
        page.click("#tab-heads")
        page.wait_for_selector(".heads-view")
        live.is_quiet()


def test_a_run_that_is_deleted_is_one_line(browser: Any, going: Any) -> None:
    run, running = going
    context = browser.new_context()
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    live = Live(page, run, running.url)
    shutil.rmtree(run)
    live.later()
    page.wait_for_selector("#time-error:not([hidden])")
    told = page.text_content("#time-error")
    assert told.startswith(f"the run {run.name} is no longer there") and "\n" not in told
    assert page.locator(".time-state").is_hidden()
    assert page.locator("[data-answer]").count() == 3 and page.locator("[data-curve=training]").count() == 1
    live.is_quiet()
    assert all("404" in text for text in said)  # what the browser itself says of the answer
    context.close()
