"""The explorer's server in this process, asked as the page asks it; and its answers opened."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import safetensors.torch
from starlette.testclient import TestClient
from torch import Tensor

import foreign_models
from glassformer.explorer.app import make_app
from glassformer.explorer.shelf import Shelf
from glassformer.training.begin import begin
from glassformer.training.loop import train
from once import once
from tiny_tasks import TINY, tiny

INPUTS: dict[str, dict[str, Any]] = {
    "translation": {"text": "우리는 자주 웃는다"},
    "classification": {"text": "우리는 자주 웃는다"},
    "masked_language_model": {"text": "우리는 ___ 웃는다"},
    "language_model": {"text": "the"},
    "image_classification": {"example": 1},
    "forecasting": {"example": 0},
    "object_queries": {"example": 2},
    "prompted_objects": {"example": 0, "prompt": {"word": "three"}},
}
ORDERS = ("pre", "post")
CASES = [(kind, order) for kind in INPUTS for order in ORDERS]


def tiny_run(kind: str, order: str = "pre") -> Path:
    """A trained run of a task; never written into."""
    if order == "pre":
        return once(f"tiny-{kind}", lambda path: list(train(begin(tiny(kind), path))))
    model = TINY[kind]["model"] | {"norm_order": order}
    return once(f"tiny-{kind}-{order}", lambda path: list(train(begin(tiny(kind, model=model), path))))


def foreign(name: str) -> Path:
    """A small model of Hugging Face's library in its folder."""

    def make(path: Path) -> None:
        path.mkdir()
        foreign_models.MODELS[name](path)

    return once(f"explorer-{name}", make)


def client(*models: str | Path, packaged: bool = False) -> TestClient:
    """The server, as http://127.0.0.1; what goes wrong inside comes out as an answer, not as an exception."""
    app = make_app(Shelf(models, packaged=packaged))
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=True)


class Traced:
    """An answer of /api/trace: what it is about, and its tensors."""

    def __init__(self, content: bytes) -> None:
        self.tensors: dict[str, Tensor] = safetensors.torch.load(content)
        length = int.from_bytes(content[:8], "little")
        self.about: dict[str, Any] = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["trace"])


def traced(asked: TestClient, model: str, given: dict[str, Any], **more: Any) -> Traced:
    answer = asked.post("/api/trace", json={"model": model, "input": given, **more})
    assert answer.status_code == 200, answer.text
    return Traced(answer.content)


def copied(run: Path, folder: Path) -> Path:
    """A run to be damaged or written into."""
    return Path(shutil.copytree(run, folder / run.name))


def names(found: Sequence[dict[str, Any]], key: str = "name") -> list[Any]:
    return [one[key] for one in found]


Asked = Callable[..., TestClient]
