"""The models that the explorer is proved on: every task in both norm orders, imported ones, the package's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from explorer_client import CASES, INPUTS, foreign, tiny_run
from explorer_truth import Truth
from glassformer.explorer.serve import start

FOREIGN = {"bert": {"text": "the cat"}, "gpt2": {"text": "the cat sees"}, "bart": {"text": "the cat sees"}}
OWN = {"ko-en": {"text": "나는 학교에 간다"}}
NAMES = [f"tiny-{kind}" + ("" if order == "pre" else "-post") for kind, order in CASES]
MODELS = [*NAMES, *FOREIGN, *OWN]


def given(name: str) -> dict[str, Any]:
    """What each is asked; of images and series the first example, as the page does."""
    if name in NAMES:
        asked = INPUTS[CASES[NAMES.index(name)][0]]
        return asked if "text" in asked else {"example": 0}
    return FOREIGN.get(name) or OWN[name]


def folder(name: str) -> str | Path:
    if name in NAMES:
        return tiny_run(*CASES[NAMES.index(name)])
    return foreign(name) if name in FOREIGN else name


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
    if "text" in given(name):
        asked["text"] = given(name)["text"]
    page.goto("about:blank")
    page.goto(f"{url}#{urlencode(asked)}")
    page.wait_for_selector("#figure .sheet > *")
    return page
