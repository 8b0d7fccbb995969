from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from explorer_client import INPUTS, client, copied, foreign, tiny_run
from glassformer.errors import ConfigError, FileError, GlassformerError, InputError
from glassformer.explorer import shelf as shelf_module
from glassformer.explorer.shelf import Busy, Shelf
from glassformer.loading import trained_folders


def test_the_models_of_the_package_follow_those_that_were_named(tmp_path: Path) -> None:
    run = tiny_run("classification")
    other = copied(run, tmp_path)
    names = [one.name for one in Shelf([run, other, "digits"])]
    assert names[:3] == [run.name, f"{run.name}-2", "digits"]
    assert set(names[3:]) == set(trained_folders()) - {"digits"}


def test_a_model_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nowhere"):
        Shelf([tmp_path / "nowhere"])


def test_a_damaged_model_is_refused_before_the_server_starts(tmp_path: Path) -> None:
    run = copied(tiny_run("classification"), tmp_path)
    for path in run.rglob("*.safetensors"):
        path.write_bytes(b"x")
    with pytest.raises(GlassformerError):
        Shelf([run]).open_named()


def test_a_request_never_opens_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is sent as a name, a checkpoint or a lesson: `load` only ever sees folders named at the start."""
    run = tiny_run("classification")
    opened: list[Any] = []
    real = shelf_module.load

    def watched(folder: Path, **more: Any) -> Any:
        opened.append((folder, more["checkpoint"]))
        return real(folder, **more)

    monkeypatch.setattr(shelf_module, "load", watched)
    asked, given = client(run), INPUTS["classification"]
    for name in (str(run), f"{run}/", "../x", "/etc/passwd", ".", "", "~", "digits", "a\x00b", "https://127.0.0.1/x"):
        answer = asked.post("/api/trace", json={"model": name, "input": given})
        assert (answer.status_code, answer.json()["kind"]) == (404, "no_model")
    for checkpoint in ("../best", str(run), "step-00000008", "last", "٨", "9" * 5000, "best\x00", {"a": 1}, True, 7):
        answer = asked.post("/api/trace", json={"model": run.name, "input": given, "checkpoint": checkpoint})
        assert (answer.status_code, answer.json()["kind"]) == (422, "input")
    assert opened == []
    assert asked.post("/api/trace", json={"model": run.name, "input": given}).status_code == 200
    assert opened == [(run, "auto")]


@pytest.mark.parametrize("path", ["..%2fapp.py", "../app.py", "%2e%2e/app.py", "//etc/passwd", "..%5capp.py", "%00"])
def test_no_file_beside_the_page_is_served(path: str) -> None:
    answer = client().get(f"/static/{path}")
    assert answer.status_code == 404 and answer.json()["kind"] == "not_found"


def test_a_link_inside_static_is_never_followed() -> None:
    """`StaticFiles` refuses what lies elsewhere, and we ship no links."""
    from glassformer.explorer.app import STATIC

    assert [path for path in STATIC.rglob("*") if path.is_symlink()] == []


def test_checkpoints_by_name() -> None:
    offered = Shelf([tiny_run("classification")], packaged=False).find(tiny_run("classification").name)
    assert offered.checkpoints() == ["best", "4", "6", "8"]
    with offered.use("6") as loaded:
        assert loaded.checkpoint.name == "step-00000006"
    with pytest.raises(ConfigError, match="checkpoint"), offered.use("5"):
        pass
    imported = Shelf([foreign("bert")], packaged=False).find("explorer-bert")
    assert imported.checkpoints() == []


def test_few_checkpoints_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf_module, "OPEN_AT_ONCE", 2)
    offered = Shelf([tiny_run("classification")], packaged=False).find(tiny_run("classification").name)
    for name in ("4", "6", "4", "8"):
        with offered.use(name):
            pass
    assert [*offered.opened] == ["4", "8"]


def test_an_unknown_model_gets_a_hint() -> None:
    with pytest.raises(InputError, match="ko-en"):
        Shelf().find("koen")


def test_the_queue_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf_module, "WAITING", 2)
    offered = Shelf([tiny_run("classification")], packaged=False).find(tiny_run("classification").name)
    going, done = threading.Event(), []

    def wait() -> None:
        with offered.use():
            done.append(1)

    with offered.use():
        threads = [threading.Thread(target=wait) for _ in range(2)]
        for thread in threads:
            thread.start()
        while offered.waiting < 2:
            going.wait(0.001)
        with pytest.raises(Busy), offered.use():
            pass
    for thread in threads:
        thread.join(20)
    assert len(done) == 2 and offered.waiting == 0


def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf_module, "PATIENCE", 0.01)
    run = tiny_run("classification")
    asked = client(run)
    shelf = asked.app.state.shelf  # type: ignore[attr-defined]
    with shelf.find(run.name).use():
        answer = asked.post("/api/trace", json={"model": run.name, "input": INPUTS["classification"]})
    assert (answer.status_code, answer.json()["kind"]) == (503, "busy") and answer.headers["retry-after"] == "2"
    answer = asked.post("/api/trace", json={"model": run.name, "input": INPUTS["classification"]})
    assert answer.status_code == 200


def test_a_run_that_was_deleted_is_one_line_and_the_others_stay(tmp_path: Path) -> None:
    run = copied(tiny_run("classification"), tmp_path)
    asked = client(run, tiny_run("translation"))
    shutil.rmtree(run)
    answer = asked.post("/api/trace?lang=en", json={"model": run.name, "input": INPUTS["classification"]})
    assert answer.status_code == 404 and str(answer.json()["error"]).count("\n") == 0
    gone, there = asked.get("/api/models").json()["models"]
    assert set(gone) == {"name", "error"} and there["task"] == "translation"


def test_a_run_that_has_written_nothing_yet_is_one_line_until_it_has(tmp_path: Path) -> None:
    run = copied(tiny_run("classification"), tmp_path)
    shutil.move(run / "checkpoints", tmp_path / "later")
    asked, body = client(run), {"model": run.name, "input": INPUTS["classification"]}
    answer = asked.post("/api/trace", json=body)
    assert answer.status_code == 404 and str(answer.json()["error"]).count("\n") == 0
    shutil.move(tmp_path / "later", run / "checkpoints")
    assert asked.post("/api/trace", json=body).status_code == 200


def test_an_answer_that_has_begun_is_not_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf_module, "WAITING", 0)
    offered = Shelf([tiny_run("classification")], packaged=False).find(tiny_run("classification").name)
    with pytest.raises(Busy), offered.use():
        pass
    with offered.use(begun=True) as loaded:
        assert loaded.task == "classification"


def test_the_list_of_models_waits_for_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf_module, "PATIENCE", 0.01)
    run = tiny_run("classification")
    asked = client(run)
    offered = asked.app.state.shelf.find(run.name)  # type: ignore[attr-defined]
    with offered.use():
        answer = asked.get("/api/models?lang=en")  # it must be opened first, and somebody may be opening it
        assert answer.status_code == 200
        offered.opened.clear()
        assert (asked.get("/api/models").status_code, asked.get("/api/models").json()["kind"]) == (503, "busy")
