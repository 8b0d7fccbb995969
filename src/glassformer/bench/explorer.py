"""How fast the explorer is in a real browser: from Enter to drawn, click after click, and a model of GPT-2's size.

Models with random weights are saved as runs in a temporary folder, and asked as a person asks them.
"""

from __future__ import annotations

import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from glassformer.bench.timing import summary
from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig, TextConfig
from glassformer.config.values import Choice
from glassformer.errors import ConfigError
from glassformer.models.build import build
from glassformer.models.presets import PRESETS
from glassformer.runs import Run
from glassformer.text import Vocabularies, train
from glassformer.training.checkpoint import save_folder
from glassformer.words import say

ROUNDS = 15
CLICKS, EDGE = 400, 50  # the last EDGE clicks against the first
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu"]
LIMITS = {"drawn": 0.3, "slower": 1.5, "first_layer": 3.0, "click": 0.1}  # what is aimed at, on two cores

# A turn ends when the page has been laid out and the next frame begins; Enter counts from the key itself.
ENTER = """text => new Promise(done => {
    const [box, panel] = [document.querySelector('#text'), document.querySelector('.input')];
    let begun = 0, busy = false;
    const watch = new MutationObserver(() => {
        if (panel.getAttribute('aria-busy') === 'true') busy = true;
        else if (busy) {
            watch.disconnect();
            requestAnimationFrame(() => setTimeout(() => done((performance.now() - begun) / 1000)));
        }
    });
    watch.observe(panel, {attributes: true, attributeFilter: ['aria-busy']});
    box.value = text;
    begun = performance.now();
    box.form.requestSubmit();
})"""
CLICK = """([selectors, count]) => (async () => {
    const seconds = [];
    for (let at = 0; at < count; at += 1) {
        const selector = selectors[at % selectors.length];
        const all = [...document.querySelectorAll(selector)];
        const one = all[Math.floor(at / selectors.length) % Math.max(1, all.length)];
        if (!one) throw new Error(selector);
        const begun = performance.now();
        one.dispatchEvent(new MouseEvent('click', {bubbles: true}));
        void document.body.offsetHeight;
        await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
        seconds.push((performance.now() - begun) / 1000);
    }
    return seconds;
})()"""
HEAD, LAYER, WHOLE = ".head-cell", "#figure .box.tab", ".crumb:first-child"
ROUND = [HEAD, LAYER, "#tab-steps", "[data-step=on]", WHOLE, "#tab-heads", HEAD, "#language"]
LOOKS = [HEAD, LAYER, HEAD, WHOLE]


class Setting(NamedTuple):
    """A model of words, and how many of them it reads."""

    name: str
    config: ModelConfig
    words: int


def settings() -> list[Setting]:
    small = ModelConfig(
        family="decoder",
        vocab_size=1000,
        max_len=128,
        d_model=192,
        n_heads=12,
        d_ff=768,
        n_decoder_layers=12,
        norm_order="pre",
        tie_embeddings="all",
        head=Choice("language_model"),
    )
    return [Setting("12x12", small, 64), Setting("gpt2", PRESETS["gpt2"](), 512)]


def run() -> dict[str, Any]:
    """Seconds of every sort; the models take turns with nothing, they are measured one after the other."""
    browser = need_browser()
    with tempfile.TemporaryDirectory() as folder:
        small, large = (saved(setting, Path(folder)) for setting in settings())
        with explored([small, large], browser) as (page, url):
            return {"small": _small(page, url, small.name), "large": _large(page, url, large.name)}


def need_browser() -> str:
    """The browser; raises in one line if it is missing, or what drives it."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if find_spec("playwright") is None or found is None:
        raise ConfigError("needs_browser")
    return found


def saved(setting: Setting, folder: Path) -> Path:
    """A run with random weights and a vocabulary of numbered words."""
    assert setting.config.vocab_size is not None
    tokenizer = train("words", [" ".join(words(setting.config.vocab_size - 8))], None)
    config = ModelConfig(**{**vars(setting.config), "vocab_size": tokenizer.vocab_size})
    recipe = RunConfig(name=setting.name, task=Choice("language_model"), model=config, text=TextConfig())
    made = Run.create(folder / setting.name, recipe, lambda run: Vocabularies(tokenizer, tokenizer).save(run.folder))
    save_folder(made.checkpoint(1), {"model.safetensors": build(config, seed=0).state_dict()}, {})
    return made.folder


def words(count: int, first: int = 0) -> list[str]:
    return [f"w{at}" for at in range(first, first + count)]


@contextmanager
def explored(folders: list[Path], browser: str) -> Iterator[tuple[Any, str]]:
    """A page, and the address of an explorer with these models."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver, serving(folders) as url:
        opened = driver.chromium.launch(executable_path=browser, args=FLAGS)
        page = opened.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        yield page, url
        opened.close()


@contextmanager
def serving(folders: list[Path]) -> Iterator[str]:
    """The command itself, in a process of its own; its address, once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "glassformer", "explore", *map(str, folders), "--port", str(port), "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        while server.poll() is None and not _answers(port):
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait()


def _answers(port: int) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


def _open(page: Any, url: str, model: str, count: int) -> None:
    page.goto("about:blank")
    page.goto(f"{url}#model={model}&view=heads&lang=en&text={'+'.join(words(count))}")
    page.wait_for_selector(".head-cell")
    _rest(page)


def _entered(page: Any, count: int, rounds: int) -> list[float]:
    """Seconds from Enter to drawn, for another text each time."""
    seconds = []
    for first in range(rounds):
        seconds.append(page.evaluate(ENTER, " ".join(words(count, first + 1))))
        _rest(page)
    return seconds


def _rest(page: Any) -> None:
    """Until the maps that come after the first layer have been drawn too."""
    page.wait_for_function(
        "() => [...document.querySelectorAll('.head-row')].every(row => row.querySelector('canvas'))"
    )


def _small(page: Any, url: str, model: str) -> dict[str, Any]:
    count = settings()[0].words
    _open(page, url, model, count)
    _entered(page, count, 3)
    drawn = _entered(page, count, ROUNDS)
    clicks = page.evaluate(CLICK, [ROUND, CLICKS])
    first, last = statistics.median(clicks[:EDGE]), statistics.median(clicks[-EDGE:])
    return {"tokens": count, "drawn": summary(drawn), "clicks": summary(clicks), "first": first, "last": last}


def _large(page: Any, url: str, model: str) -> dict[str, Any]:
    count = settings()[1].words
    _open(page, url, model, count)
    first = _entered(page, count, 3)
    clicks = page.evaluate(CLICK, [LOOKS, 40])
    return {"tokens": count, "first_layer": statistics.median(first), "clicks": summary(clicks)}


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """What was measured, and what is aimed at."""
    small, large = numbers["small"], numbers["large"]
    rows = {
        "drawn": (small["drawn"]["median"], "s"),
        "slower": (small["last"] / small["first"], "×"),
        "first_layer": (large["first_layer"], "s"),
        "click": (large["clicks"]["median"], "s"),
    }
    lines = [[say(f"columns.{key}", lang) for key in ("what", "median", "aim")]]
    for key, (value, unit) in rows.items():
        tokens = small["tokens"] if key in ("drawn", "slower") else large["tokens"]
        what = say(f"bench.explorer_{key}", lang, tokens=tokens, clicks=CLICKS, edge=EDGE)
        lines.append([what, f"{value:.2f} {unit}", f"≤ {LIMITS[key]:g} {unit}"])
    return lines
