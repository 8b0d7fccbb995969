"""The page as one file: it asks for nothing, allows nothing else, and holds what the server answers."""

from __future__ import annotations

import re
import shutil
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from explorer_client import INPUTS, client, copied, foreign, tiny_run
from glassformer.explorer import export
from glassformer.explorer.shelf import Shelf
from saved_page import SavedPage

pytestmark = pytest.mark.slow
HOSTILE = "우리는 </script><script>alert(1)</script> <!-- 웃는다"


def saved(kind: str, order: str = "pre", **more: Any) -> tuple[SavedPage, Any, dict[str, Any]]:
    """The file, the server, and the beginning of each question to it."""
    run = tiny_run(kind, order)
    asked, question = client(run), {"model": run.name, "input": INPUTS[kind]}
    answer = asked.post("/api/export", json=question | more, headers={"accept-language": "ko"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return SavedPage(answer.text), asked, question


@pytest.mark.parametrize(("kind", "order"), [*((kind, "pre") for kind in INPUTS), ("translation", "post")])
def test_the_pass_is_that_of_the_server(kind: str, order: str) -> None:
    page, asked, question = saved(kind, order)
    trace = asked.post("/api/trace", json=question)
    assert page.content("/api/trace", {"edits": []}) == trace.content
    assert page.index["question"] == question | {"checkpoint": ""}
    listed = asked.get("/api/models", headers={"accept-language": "ko"}).json()
    assert page.answer("/api/models", {}) == listed


def test_only_what_stands_in_it_may_run() -> None:
    page, _, _ = saved("translation")
    (policy,) = re.findall(r'http-equiv="content-security-policy" content="(.*?)"', page.text)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page.text, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page.text, re.DOTALL)
    hashes = [b64encode(sha256(each.encode()).digest()).decode() for each in (script, style)]
    policy = policy.replace("&#39;", "'")
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    assert not re.search(r'(?:src|href|action)="(?!data:)', page.text)
    assert "@import" not in style and "url(" not in style


def test_a_text_cannot_leave_its_block() -> None:
    run = tiny_run("classification")
    question = {"model": run.name, "input": {"text": HOSTILE}, "address": "#x=</script><script>alert(2)</script>"}
    page = SavedPage(client(run).post("/api/export", json=question).text)
    assert "alert(" not in page.text.replace("\\u003cscript>alert(", "")
    assert page.index["question"]["input"]["text"] == HOSTILE
    assert page.text.count("</script>") == len(page.index["answers"]) + 2


def test_interference_is_saved_with_the_pass_before() -> None:
    edits = [{"kind": "zero", "name": "decoder.blocks.0.cross_attention.heads", "head": 0}]
    page, asked, question = saved("translation", edits=edits)
    for one in (edits, []):
        assert (
            page.content("/api/trace", {"edits": one})
            == asked.post("/api/trace", json=question | {"edits": one}).content
        )
    after = asked.post("/api/rewritten", json=question | {"edits": edits}).json()
    assert page.answer("/api/rewritten", {"edits": edits}) == after


def test_layers_can_be_left_out() -> None:
    page, asked, question = saved("translation", layers=[0])
    assert page.index["layers"] == [0]
    assert (
        page.content("/api/trace", {"edits": []}) == asked.post("/api/trace", json=question | {"layers": [0]}).content
    )


def test_what_the_page_has_asked_is_answered_again() -> None:
    more = [
        {"path": "/api/decode", "body": {"kind": "next", "temperature": 2, "top_k": 3}},
        {"path": "/api/unknown", "body": {}},
        {"path": "/api/lens", "body": {"edits": []}},
        {"path": "/api/lens", "body": {"edits": [{"kind": "zero", "name": "nothing"}]}},
    ]
    page, asked, question = saved("translation", asked=more)
    found = asked.post("/api/decode", json=question | more[0]["body"]).json()
    assert page.answer("/api/decode", more[0]["body"]) == found
    assert page.bodies("/api/lens") == [{"edits": []}]  # once, and none that the model refuses
    assert page.bodies("/api/unknown") == []


def test_the_address_is_that_of_the_screen_or_says_what_is_run() -> None:
    page, _, _ = saved("translation", address="#view=heads&at=encoder.0")
    assert page.index["address"] == "#view=heads&at=encoder.0"
    page, _, _ = saved("image_classification")
    assert page.index["address"] == f"#model={page.index['question']['model']}&example=1&lang=ko"


@pytest.mark.parametrize(
    ("lang", "line"),
    [("en", "the page would have 1 MB, and at most 0 MB are saved; keep fewer layers"), ("ko", "층을 줄이거나")],
)
def test_a_page_that_nobody_can_send_is_refused(lang: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "MOST_BYTES", 10_000)
    run = tiny_run("translation")
    question = {"model": run.name, "input": INPUTS["translation"]}
    answer = client(run).post("/api/export", json=question, headers={"accept-language": lang})
    assert answer.status_code == 422 and line in answer.json()["error"]


@pytest.mark.parametrize(
    "wrong", [{"asked": [{"body": {}}]}, {"asked": [{"path": "/", "more": 1}]}, {"follow": [-1]}, {"address": 3}]
)
def test_a_wrong_question_is_one_line(wrong: dict[str, Any]) -> None:
    run = tiny_run("translation")
    answer = client(run).post("/api/export", json={"model": run.name, "input": INPUTS["translation"]} | wrong)
    assert answer.status_code == 422 and "\n" not in answer.json()["error"]


@pytest.mark.parametrize("name", ["bert", "gpt2", "marian"])
def test_an_imported_model(name: str) -> None:
    folder = foreign(name)
    asked, question = client(folder), {"model": folder.name, "input": {"text": "a b c"}}
    answer = asked.post("/api/export", json=question)
    assert answer.status_code == 200, answer.text
    trace = asked.post("/api/trace", json=question)
    assert SavedPage(answer.text).content("/api/trace", {"edits": []}) == trace.content


def test_the_command_names_the_folder_as_it_was_named_and_no_path_from_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = copied(tiny_run("classification"), tmp_path)
    monkeypatch.chdir(tmp_path)
    near, far = Shelf([run.name], packaged=False), Shelf([run], packaged=False)
    assert export.command(near.find(run.name)) == f"glassformer explore {run.name}"
    assert export.command(far.find(run.name)) == f"glassformer explore {run.name}"
    inside = Path(shutil.copytree(run, tmp_path / "my runs" / "demo"))
    shelf = Shelf([inside.relative_to(tmp_path)], packaged=False)
    assert export.command(shelf.find("demo")) == "glassformer explore 'my runs/demo'"
    assert export.command(Shelf().find("ko-en")) == "glassformer explore ko-en"
