"""The page as a file, opened without a server: the numbers are those of `gf`, and what needs the model says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

import glassformer as gf
from explorer_client import tiny_run
from glassformer.explorer.inputs import read
from glassformer.explorer.save import save_page
from in_browser import NEEDED, quiet_page, until

pytestmark = NEEDED
TEXT = "나는 학교에 간다"
HOSTILE = "</script><script>alert(1)</script> 정말 좋다"
GIVEN: dict[str, dict[str, Any]] = {
    "ko-en": {"text": TEXT},
    "digits": {"example": 0},
    "sentiment-ko": {"text": HOSTILE},
}
WHY = {
    "en": "This page was saved without the model; open it with glassformer explore {model}",
    "ko": "모델 없이 저장한 페이지입니다. 모델이 필요한 기능은 다음 명령으로 열면 쓸 수 있습니다: "
    "glassformer explore {model}",
}
Saved = Callable[[str], Path]
WIDTHS = pytest.mark.parametrize("width", [1280, 390])


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """The file of a model of the package; its name is one that an address must escape."""
    folder = tmp_path_factory.mktemp("내 페이지 #1")

    def page(model: str) -> Path:
        path = folder / f"{model}.html"
        return path if path.exists() else gf.explore(model, export=path, text=GIVEN[model].get("text"))

    return page


@contextmanager
def opened(browser: Any, path: Path, state: str = "", width: int = 1280, **options: Any) -> Iterator[Any]:
    """The file in a page that may load that file and nothing else."""
    with quiet_page(browser, width, (path.as_uri(), "blob:"), **options) as page:
        page.goto(f"{path.as_uri()}#{state}")
        page.wait_for_selector("html[data-ready=yes]")
        page.wait_for_selector(".figure-svg, .opened, .one-number")
        yield page


def recorded(model: str) -> tuple[Any, Any]:
    loaded = gf.load(model)
    given = read(loaded, GIVEN[model])
    with torch.no_grad(), gf.record(loaded.model) as trace:
        output = given.run(loaded.model, given.inputs)
    return trace, output


def numbers(page: Any, strip: str) -> list[float]:
    texts = page.locator(f"[data-strip='{strip}'] .number").all_text_contents()
    return [float(text.replace("−", "-")) for text in texts]


@WIDTHS
@pytest.mark.parametrize(
    ("model", "at", "name"),
    [
        ("ko-en", "decoder.1.feed_forward.hidden", "decoder.blocks.1.feed_forward.hidden"),
        ("ko-en", "encoder.2.self_attention.output", "encoder.blocks.2.self_attention.output"),
        ("digits", "encoder.1.feed_forward.output", "encoder.blocks.1.feed_forward.output"),
        ("sentiment-ko", "encoder.0.after_self_attention", "encoder.blocks.0.after_self_attention"),
    ],
)
def test_the_step_player_shows_what_gf_records(
    browser: Any, saved: Saved, model: str, at: str, name: str, width: int
) -> None:
    trace, _ = recorded(model)
    with opened(browser, saved(model), f"view=steps&at={at}&lang=en", width) as page:
        page.wait_for_selector(f"[data-strip='{name}']")
        assert numbers(page, name) == pytest.approx(trace[name][0, 0, :8].tolist(), abs=6e-4)
        page.click("[data-step=on]")
        until(page, lambda: name not in (page.get_attribute(".stage", "data-scene") or ""))


def test_what_a_norm_has_learned_is_in_the_file(browser: Any, saved: Saved) -> None:
    trace, _ = recorded("sentiment-ko")
    block = gf.load("sentiment-ko").model.encoder.blocks[0]
    x = trace["encoder.input"][0, 0] + trace["encoder.blocks.0.self_attention.output"][0, 0]
    norm = "encoder.blocks.0.self_attention_norm"
    with opened(browser, saved("sentiment-ko"), "view=steps&at=encoder.0.after_self_attention&lang=en") as page:
        page.wait_for_selector(f"[data-strip='{norm}.scale']")
        assert float(page.text_content("[data-fact=mean] dd").replace("−", "-")) == pytest.approx(
            float(x.mean()), abs=6e-5
        )
        assert numbers(page, f"{norm}.scale") == pytest.approx(block.self_attention_norm.weight[:8].tolist(), abs=6e-4)


@pytest.mark.parametrize("model", ["ko-en", "digits", "sentiment-ko"])
def test_the_maps_of_all_heads_are_those_of_the_page_with_a_server(
    browser: Any, saved: Saved, url: str, model: str
) -> None:
    state = f"model={model}&view=heads&lang=en&text={GIVEN[model].get('text', '')}"
    with opened(browser, saved(model), state) as page:
        page.wait_for_selector(".head-grid canvas")
        own = drawn(page)
    with quiet_page(browser) as page:
        page.goto(f"{url}#{state}")
        page.wait_for_selector(".head-grid canvas")
        assert own == drawn(page) and len(own) > 4


def drawn(page: Any) -> dict[str, str]:
    """The pixels of every small map."""
    found: dict[str, str] = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.head-grid canvas')].map("
        "(one) => [`${one.dataset.map} ${one.dataset.head}`, one.toDataURL()]))"
    )
    return found


@WIDTHS
def test_one_weight_and_why(browser: Any, saved: Saved, width: int) -> None:
    trace, _ = recorded("ko-en")
    name = "decoder.blocks.1.cross_attention.weights"
    state = "view=heads&at=decoder.1.cross_attention.weights.head2&zoom=5&cell=2,1&lang=ko"
    with opened(browser, saved("ko-en"), state, width) as page:
        shown = float(page.get_attribute(".big-number", "data-value"))
        assert shown == pytest.approx(float(trace[name][0, 2, 2, 1]), abs=1e-3)
        page.wait_for_selector(".reasons .terms li")
        terms = [float(one.get_attribute("data-value")) for one in page.locator(".reasons .term-value").all()]
        assert terms == pytest.approx(trace[name][0, 2, 2].tolist(), abs=1e-6)
        page.locator(".reasons .terms button").nth(1).click()  # further back: the score, whose reasons are there too
        until(page, lambda: "scores" in page.text_content(".one-number .eyebrow"))
        score = trace["decoder.blocks.1.cross_attention.scores"][0, 2, 2, 1]
        assert float(page.get_attribute(".big-number", "data-value")) == pytest.approx(float(score), abs=0.02)
        page.wait_for_selector(".reasons .terms li")


def test_a_number_whose_reasons_were_not_saved_says_so(browser: Any, saved: Saved) -> None:
    state = "at=decoder.1.feed_forward.hidden&zoom=5&cell=3,300&lang=ko"
    with opened(browser, saved("ko-en"), state) as page:
        until(page, lambda: page.text_content(".reasons") == WHY["ko"].format(model="ko-en"))


@WIDTHS
def test_the_lens(browser: Any, saved: Saved, width: int) -> None:
    trace, _ = recorded("ko-en")
    model = gf.load("ko-en").model
    x = model.decoder.final_norm(trace["decoder.blocks.0.output"])
    with torch.no_grad():
        shares = model.head(x, None, model.embedding.weight)[0, 2].softmax(-1)
    with opened(browser, saved("ko-en"), "view=lens&lang=en", width) as page:
        page.wait_for_selector("[data-lens='1,2']")
        shown = float(page.get_attribute("[data-lens='1,2']", "data-p"))
        assert shown == pytest.approx(float(shares.max()), rel=1e-5)


def test_importance_bars_and_tree_are_there(browser: Any, saved: Saved) -> None:
    _, output = recorded("ko-en")
    loaded = gf.load("ko-en")
    with opened(browser, saved("ko-en"), "view=interfere&lang=en") as page:
        until(page, lambda: page.locator(".switch-head[data-moved='']").count() == 0)
        cell = page.locator("[data-head-of='decoder.blocks.2.cross_attention'][data-head='1']")
        given = read(loaded, GIVEN["ko-en"])

        def off(x: torch.Tensor) -> torch.Tensor:
            return torch.cat([x[:, :1], torch.zeros_like(x[:, 1:2]), x[:, 2:]], 1)

        with torch.no_grad(), gf.edit(loaded.model, {"decoder.blocks.2.cross_attention.heads": off}):
            after = given.run(loaded.model, given.inputs)
        moved = (output.softmax(-1) - after.softmax(-1)).abs().sum(-1).mean() / 2
        assert float(cell.get_attribute("data-moved")) == pytest.approx(float(moved), rel=1e-3)
        page.click("#tab-decoding")
        page.wait_for_selector("[data-bar]")
        page.wait_for_selector(".lab-tree .sample")


@pytest.mark.parametrize("view", ["steps", "heads", "interfere", "lens", "decoding"])
@pytest.mark.parametrize("width", [1280, 390])
def test_what_needs_the_model_cannot_be_used_and_says_why(browser: Any, saved: Saved, view: str, width: int) -> None:
    with opened(browser, saved("ko-en"), f"view={view}&lang=en", width) as page:
        page.wait_for_selector(".view > *")
        said = page.locator("#saved-notice")
        assert said.text_content() == WHY["en"].format(model="ko-en")
        assert page.is_disabled("#text") and page.is_disabled("#model")
        controls = page.locator("[data-needs=model]:visible")
        for at in range(controls.count()):
            one = controls.nth(at)
            assert one.evaluate(
                "(one, why) => [one, ...one.querySelectorAll('button, input, select, [tabindex]')]"
                ".filter((each) => each.matches('button, input, select, [tabindex]'))"
                ".every((each) => each.title === why && each.getAttribute('aria-disabled') === 'true')",
                WHY["en"].format(model="ko-en"),
            )
        before = page.url
        page.click("#go", force=True)  # a person can click it
        page.wait_for_selector("#saved-notice.told")
        page.focus("#go")
        page.keyboard.press("Enter")
        assert page.url == before and page.is_hidden(".input .error")


@pytest.mark.parametrize("model", ["ko-en", "digits", "sentiment-ko"])
@pytest.mark.parametrize("view", ["steps", "heads", "interfere", "lens", "decoding"])
def test_whatever_can_be_used_works(browser: Any, saved: Saved, view: str, model: str) -> None:
    """Every control of a view that is not marked as needing the model is used once; none is refused."""
    with opened(browser, saved(model), f"view={view}&lang=ko") as page:
        page.wait_for_selector(".view > *")
        page.evaluate(
            """async () => {
              for (const one of document.querySelectorAll(".view button, .view input, .view select")) {
                if (!one.isConnected || one.closest("[data-needs=model]") || one.disabled) continue;
                one.click();
                await new Promise((next) => setTimeout(next));
              }
            }"""
        )
        assert page.is_hidden(".input .error")
        assert WHY["ko"].format(model=model) not in page.text_content(".views")


def test_both_languages_and_colours(browser: Any, saved: Saved) -> None:
    with opened(browser, saved("ko-en"), "view=steps&lang=en", 390) as page:
        assert page.text_content(".stage h2") == "The text"
        page.click("#language")
        until(page, lambda: page.text_content(".stage h2") == "글")
        assert page.text_content("#saved-notice") == WHY["ko"].format(model="ko-en")
        assert page.get_attribute("#go", "title") == WHY["ko"].format(model="ko-en")
        until(page, lambda: page.text_content(".lesson h3") not in ("", None))
        page.click("#theme")
        until(page, lambda: page.get_attribute("html", "data-theme") == "dark")


def test_a_text_that_would_be_markup_is_a_text(browser: Any, saved: Saved) -> None:
    with opened(browser, saved("sentiment-ko"), "lang=ko") as page:
        assert page.input_value("#text") == HOSTILE
        assert page.text_content(".said-text") == HOSTILE
        assert page.locator("script").count() == page.locator("head script").count()


def test_an_address_of_another_text_shows_what_was_saved(browser: Any, saved: Saved) -> None:
    with opened(browser, saved("ko-en"), "model=digits&text=너는&view=heads&lang=ko") as page:
        assert page.input_value("#text") == TEXT and page.input_value("#model") == "ko-en"
        assert page.get_attribute("#tab-heads", "aria-selected") == "true"
        assert page.is_hidden(".input .error")


def test_an_altered_byte_shows(browser: Any, saved: Saved, tmp_path: Path) -> None:
    """The numbers come out of the file, and out of nothing else: without its trace there is no page."""
    text = saved("digits").read_text(encoding="utf-8")
    start = text.index('id="saved-0">') + len('id="saved-0">') + 400
    path = tmp_path / "altered.html"
    path.write_text(f"{text[:start]}{'A' if text[start] != 'A' else 'B'}{text[start + 1 :]}", encoding="utf-8")
    with quiet_page(browser, 1280, (path.as_uri(),)) as page:
        page.goto(path.as_uri())
        page.wait_for_selector(".input .error:visible")


@WIDTHS
def test_what_is_on_the_screen_is_saved_by_the_button(browser: Any, url: str, tmp_path: Path, width: int) -> None:
    """With its interference, its place and its settings."""
    edit = "zero~decoder.blocks.0.cross_attention.heads~h0"
    more = f"&edits={edit}&lab=temperature:2;top_k:3&row=1,2"
    with quiet_page(browser, width) as page:
        page.goto(f"{url}#model=ko-en&text={TEXT}&view=decoding&lang=ko{more}")
        page.wait_for_selector("[data-bar]")
        bars = [one.get_attribute("data-drawn") for one in page.locator("[data-bar]").all()]
        with page.expect_download() as download:
            page.click("#save")
        assert download.value.suggested_filename == "ko-en.html"
        path = tmp_path / "ko-en.html"
        download.value.save_as(path)
        page.click("#tab-interfere")
        page.wait_for_selector("#moved:not([data-moved=''])")
        moved = page.get_attribute("#moved", "data-moved")
        until(page, lambda: page.text_content("#after-text") != "…")
        after = page.text_content("#after-text")
    with quiet_page(browser, width, (path.as_uri(), "blob:")) as page:
        page.goto(path.as_uri())
        page.wait_for_selector("[data-bar]")
        assert [one.get_attribute("data-drawn") for one in page.locator("[data-bar]").all()] == bars
        page.click("#tab-interfere")
        page.wait_for_selector("#moved:not([data-moved=''])")
        assert page.get_attribute("#moved", "data-moved") == moved
        assert page.text_content("#after-text") == after
        assert edit in page.url and "row=1,2" in page.url


def test_a_layer_that_was_left_out_says_so(browser: Any, tmp_path: Path) -> None:
    path = save_page(["writer-ko"], tmp_path / "page.html", text="옛날에", layers=[0])
    loaded = gf.load("writer-ko")
    given = read(loaded, {"text": "옛날에"})
    with torch.no_grad(), gf.record(loaded.model, "decoder.blocks.0.*") as trace:
        given.run(loaded.model, given.inputs)
    name = "decoder.blocks.0.feed_forward.output"
    with opened(browser, path, "view=steps&at=decoder.0.feed_forward.output&lang=en") as page:
        page.wait_for_selector(f"[data-strip='{name}']")
        assert numbers(page, name) == pytest.approx(trace[name][0, 0, :8].tolist(), abs=6e-4)
        assert page.is_hidden(".input .error")
    with opened(browser, path, "view=steps&at=decoder.2.feed_forward.output&lang=en") as page:
        page.wait_for_selector(".input .error:visible")
        assert page.text_content(".input .error") == WHY["en"].format(model="writer-ko")


def test_a_run_of_ones_own_by_its_name(browser: Any, tmp_path: Path) -> None:
    run = tiny_run("translation", "post")
    with opened(browser, save_page([run], tmp_path / "page.html"), "lang=en", 390) as page:
        assert page.text_content("#saved-notice") == WHY["en"].format(model=run.name)
        assert str(run.parent) not in (tmp_path / "page.html").read_text(encoding="utf-8")
