"""The models that the explorer is proved on: every task in both norm orders, imported, of the package, of the demo."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import glassformer as gf
from explorer_client import CASES, INPUTS, foreign, tiny_run
from explorer_truth import Truth
from glassformer.explorer.serve import start
from once import once

FOREIGN = {"bert": {"text": "the cat"}, "gpt2": {"text": "the cat sees"}, "bart": {"text": "the cat sees"}}
OWN = {"ko-en": {"text": "나는 학교에 간다"}}
NAMES = [f"tiny-{kind}" + ("" if order == "pre" else "-post") for kind, order in CASES]
DEMO = {"demo": {"text": "나는 학교에 간다", "target": "I go to school"}}
MODELS = [*NAMES, *FOREIGN, *OWN, *DEMO]


def given(name: str) -> dict[str, Any]:
    """What each is asked; of images and series the first example, as the page does."""
    if name in NAMES:
        asked = INPUTS[CASES[NAMES.index(name)][0]]
        return asked if "text" in asked else {"example": 0}
    return (FOREIGN | OWN | DEMO)[name]


def folder(name: str) -> str | Path:
    if name in NAMES:
        return tiny_run(*CASES[NAMES.index(name)])
    if name in DEMO:
        return once("demo", demo_run)
    return foreign(name) if name in FOREIGN else name


def demo_run(path: Path) -> None:
    """What `make demo` trains, after two steps."""
    gf.train("ko-en", out=path, overrides={"train.steps": 2})


def shelf_name(name: str) -> str:
    return f"explorer-{name}" if name in FOREIGN else name


@contextmanager
def served(names: list[str]) -> Iterator[Any]:
    running = start([folder(name) for name in names if name not in OWN], browser=False, port=0)
    yield running
    running.stop()


def truth(name: str) -> Truth:
    return Truth(folder(name), given(name))


def opened(page: Any, url: str, name: str, **fields: str) -> Any:
    """The page on a model, once the model has answered."""
    asked = {"model": shelf_name(name), "lang": "en", **fields}
    asked |= {key: value for key, value in given(name).items() if key in ("text", "target")}
    page.goto("about:blank")
    page.goto(f"{url}#{urlencode(asked)}")
    page.wait_for_selector("#figure .sheet > *")
    return page
