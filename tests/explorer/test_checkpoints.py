from __future__ import annotations

import json
import shutil
from pathlib import Path

from explorer_client import client, copied, foreign, tiny_run, traced


def test_only_new_points_are_sent(tmp_path: Path) -> None:
    run = copied(tiny_run("translation"), tmp_path)
    server = client(run)
    first = server.get(f"/api/runs/{run.name}/events").json()
    lines = (run / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(first["events"]) == len(lines) == first["next"]
    assert first["events"][0]["loss"] == json.loads(lines[0])["loss"]
    assert server.get(f"/api/runs/{run.name}/events?after={first['next']}").json()["events"] == []
    with (run / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write('{"kind": "train", "step": 999, "loss": 0.5}\n{"kind": "tr')  # still writing
    second = server.get(f"/api/runs/{run.name}/events?after={first['next']}").json()
    assert [event["step"] for event in second["events"]] == [999]
    assert second["next"] == first["next"] + 1


def test_a_log_that_became_shorter_is_sent_anew(tmp_path: Path) -> None:
    run = copied(tiny_run("translation"), tmp_path)
    found = client(run).get(f"/api/runs/{run.name}/events?after=100000").json()
    assert found["first"] == 0 and found["events"]


def test_every_checkpoint_that_is_named_can_be_looked_into() -> None:
    run = tiny_run("translation")
    server = client(run)
    steps = server.get(f"/api/runs/{run.name}/events").json()["checkpoints"]
    assert steps
    for step in steps:
        assert traced(server, run.name, {"text": "우리는 자주 웃는다"}, checkpoint=str(step)).about["checkpoint"]


def test_what_cannot_be_asked() -> None:
    folder = foreign("gpt2")
    server = client(folder)
    assert "is no run" in server.get(f"/api/runs/{folder.name}/events?lang=en").json()["error"]
    assert server.get("/api/runs/nobody/events").status_code == 404
    assert server.get(f"/api/runs/{folder.name}/events?after=-1").status_code == 422


def test_a_run_that_was_deleted_is_one_line(tmp_path: Path) -> None:
    run = copied(tiny_run("translation"), tmp_path)
    server = client(run)
    shutil.rmtree(run)
    answer = server.get(f"/api/runs/{run.name}/events?lang=en")
    assert answer.status_code == 404 and "is no longer there" in answer.json()["error"]
