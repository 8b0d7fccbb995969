"""What is too much for the explorer's server, and a run that is still being written: one line, in both languages."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from explorer_client import INPUTS, client, copied, tiny_run
from glassformer.errors import GlassformerWarning
from glassformer.explorer import passes
from glassformer.explorer.app import LIMITS
from glassformer.words import LANGUAGES, say

PAIR = {"text": "우리는 자주 웃는다"}
SIDE = LIMITS["image_side"]
TOO_MUCH: dict[str, tuple[str, dict[str, Any], str, dict[str, Any]]] = {
    "text": (
        "translation",
        PAIR | {"target": "우리는 " * 3000},
        "explorer_too_long",
        {"length": 3001, "most": 64},
    ),
    "source": ("translation", {"text": "우리는 " * 3000}, "explorer_too_long", {"length": 3001, "most": 64}),
    "image": (
        "image_classification",
        {"pixels": [[0.0] * (SIDE + 1)] * 2},
        "explorer_image",
        {"shape": (1, 2, SIDE + 1), "largest": SIDE},
    ),
    "answer": ("translation", PAIR, "explorer_too_much", {"megabytes": 0, "most": 0}),
}


@pytest.fixture(scope="module")
def asked() -> TestClient:
    return client(tiny_run("translation"), tiny_run("image_classification"))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("what", TOO_MUCH)
def test_too_much_is_one_line(asked: TestClient, what: str, lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task, given, key, values = TOO_MUCH[what]
    if what == "answer":
        monkeypatch.setattr(passes, "MOST_BYTES", 100)
    answer = asked.post(f"/api/trace?lang={lang}", json={"model": f"tiny-{task}", "input": given})
    assert answer.status_code == 422
    assert answer.json() == {"error": say(f"errors.{key}", lang, **values), "kind": "input"}


def test_a_checkpoint_that_is_half_there_is_not_offered_and_the_others_answer(tmp_path: Path) -> None:
    """As after a copy that was broken off, or on a disk that is slower than the page."""
    run = copied(tiny_run("classification"), tmp_path)
    newest = sorted((run / "checkpoints").glob("step-*"))[-1]
    (half,) = newest.glob("model*.safetensors")
    half.write_bytes(half.read_bytes()[:1000])
    shutil.copytree(newest, newest.with_name("step-00000099"), ignore=shutil.ignore_patterns("*.safetensors"))
    shutil.copytree(newest, newest.with_name("step-00000100.writing"))
    asked = client(run)
    with pytest.warns(GlassformerWarning, match="step-00000006 is used instead"):
        (entry,) = asked.get("/api/models").json()["models"]
    assert entry["checkpoint"] == "step-00000006" and entry["checkpoints"] == ["4", "6"]
    body = {"model": run.name, "input": INPUTS["classification"]}
    for checkpoint, status in {"": 200, "4": 200, "6": 200, "8": 422, "best": 422, "99": 422}.items():
        answer = asked.post("/api/trace?lang=en", json=body | {"checkpoint": checkpoint})
        assert answer.status_code == status
        assert status == 200 or "\n" not in answer.json()["error"]


@pytest.mark.parametrize(("name", "statuses"), [("best.json", [404, 404, 200]), ("log.jsonl", [200, 200, 200])])
def test_a_file_that_is_half_written_is_one_line(name: str, statuses: list[int], tmp_path: Path) -> None:
    """Only the last line of a log can be: other files are written whole or not at all, unless a copy breaks off."""
    run = copied(tiny_run("classification"), tmp_path)
    text = (run / name).read_text(encoding="utf-8")
    (run / name).write_text(text[: len(text) // 2 + 3], encoding="utf-8")
    asked = client(run)
    body = {"model": run.name, "input": INPUTS["classification"]}
    answers = [asked.post("/api/trace", json=body), asked.get(f"/api/runs/{run.name}/events"), asked.get("/api/models")]
    assert [answer.status_code for answer in answers] == statuses
    assert not [answer for answer in answers[:2] if answer.status_code == 404 and "\n" in answer.json()["error"]]
