"""`glassformer explore` as a process: how it ends, which port it takes, and what it says at the prompt."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import pytest

from explorer_client import INPUTS, copied, tiny_run
from explorer_process import PATIENCE, ask, explorer
from glassformer.explorer.serve import PORT
from glassformer.words import say

pytestmark = pytest.mark.slow
ENDS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
LONG_PASS = """
import sys, time, torch
import glassformer.explorer.app as app
def run(loaded, body):
    print("a pass begins", file=sys.stderr, flush=True)
    x, begun = torch.rand(512, 512), time.monotonic()
    while time.monotonic() < begun + 3600:
        x = (x @ x).softmax(-1)
app.run = run
from glassformer.cli.app import main
main(sys.argv[1:])
"""
ENDED = (0, say("explore.ended", "en") + "\n", "")


# --- the end ---


@ENDS
def test_it_ends_at_once_and_says_so(number: signal.Signals) -> None:
    with explorer("--port", "0", str(tiny_run("classification"))) as one:
        assert ask(one.address(), "/healthz") == (200, {"status": "ok"})
        os.killpg(one.process.pid, number)
        assert one.ended() == ENDED


@ENDS
def test_neither_a_pass_of_an_hour_nor_those_who_wait_for_it_hold_it_back(number: signal.Signals) -> None:
    run = tiny_run("classification")
    body = {"model": run.name, "input": INPUTS["classification"]}
    with explorer("--port", "0", str(run), start=[sys.executable, "-c", LONG_PASS]) as one:
        address, said = one.address(), list[Any]()

        def wait() -> None:
            try:
                said.append(ask(address, "/api/trace", body)[0])
            except (http.client.HTTPException, OSError):
                said.append("cut")

        threads = [Thread(target=wait) for _ in range(10)]
        for thread in threads:
            thread.start()
        assert one.process.stderr is not None and one.process.stderr.readline() == "a pass begins\n"
        while not said:  # one computes, eight wait, and the tenth is sent away
            sleep(0.01)
        assert ask(address, "/healthz")[0] == 200
        os.killpg(one.process.pid, number)
        assert one.ended() == ENDED
        for thread in threads:
            thread.join(PATIENCE)
        assert said == [503, *["cut"] * 9]


# --- ports ---


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_port_that_is_taken_is_one_line(taken: int) -> None:
    with explorer("--port", str(taken)) as one:
        assert one.ended() == (2, "", say("errors.explorer_port_taken", "en", port=taken) + "\n")


@pytest.mark.parametrize("port", ["99999", "-1"])
def test_a_port_that_no_machine_has_is_one_line(port: str) -> None:
    with explorer("--port", port) as one:
        assert one.ended() == (2, "", say("errors.explorer_port", "en", port=port) + "\n")


def test_a_port_that_is_no_number_is_one_line() -> None:
    with explorer("--port", "abc") as one:
        code, out, error = one.ended()
    assert (code, out, error.count("\n")) == (2, "", 1) and "--port" in error and "abc" in error


def test_without_a_wish_the_first_free_port_is_taken() -> None:
    run = str(tiny_run("classification"))
    with explorer(run) as one, explorer(run) as other:
        ports = one.address()[1], other.address()[1]
        assert ports[0] != ports[1] and min(ports) >= PORT
        assert [ask(("127.0.0.1", port), "/healthz")[0] for port in ports] == [200, 200]


# --- models ---


def test_a_model_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with explorer("--port", "0", str(tmp_path / "nowhere")) as one:
        code, out, error = one.ended()
    assert (code, out, error.count("\n")) == (1, "", 1) and "nowhere" in error


@pytest.mark.parametrize("lang", ["ko", "en"])
def test_a_run_that_is_deleted_while_it_is_open_stays_in_memory(lang: str, tmp_path: Path) -> None:
    run = copied(tiny_run("classification"), tmp_path)
    body = {"model": run.name, "input": INPUTS["classification"]}
    with explorer("--port", "0", str(run)) as one:
        address = one.address()
        for path in sorted(run.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        run.rmdir()
        assert ask(address, "/api/trace", body)[0] == 200  # it was opened at the start
        status, answer = ask(address, f"/api/trace?lang={lang}", body | {"checkpoint": "4"})
        assert status in (404, 422) and "\n" not in answer["error"]
        assert ask(address, f"/api/runs/{run.name}/events?lang={lang}")[0] in (404, 422)
        assert [each for each in ask(address, "/api/models")[1]["models"] if "error" in each] == []
