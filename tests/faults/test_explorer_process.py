"""`glassformer explore` as a process: how it ends, which port it takes, and what it says at the prompt."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from threading import Thread
from time import sleep
from typing import Any

import pytest

import warm
from explorer_client import INPUTS, tiny_run
from glassformer.words import say

PATIENCE = 120  # seconds until a test gives up
LONG_PASS = """
import sys, time
import glassformer.explorer.app as app
def run(loaded, body):
    print("a pass begins", file=sys.stderr, flush=True)
    x = __import__("torch").rand(512, 512)
    begun = time.monotonic()
    while time.monotonic() < begun + 3600:
        x = x @ x
app.run = run
from glassformer.cli.app import main
main(sys.argv[1:])
"""


class Explorer:
    """The command, as first of a session of its own, as a shell would start it at a terminal."""

    def __init__(self, start: list[str], *words: str) -> None:
        self.process = subprocess.Popen(
            [*start, "explore", "--no-browser", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "GLASSFORMER_LANG": "en", "COLUMNS": "200"},
        )

    def address(self) -> tuple[str, int]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://(127\.0\.0\.1):(\d+)/", line)
        assert found, (line, self.process.communicate(timeout=PATIENCE))
        return found[1], int(found[2])

    def ended(self) -> tuple[int, str, str]:
        """Exit code, and what is left to read of both outputs."""
        out, error = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, error


@contextmanager
def explorer(*words: str, start: list[str] | None = None) -> Iterator[Explorer]:
    made = Explorer(start or warm.command(), *words)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.communicate()


def ask(address: tuple[str, int], path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    sent = None if body is None else json.dumps(body)
    with closing(http.client.HTTPConnection(*address, timeout=PATIENCE)) as asked:
        asked.request("POST" if sent else "GET", path, sent, {"content-type": "application/json", **headers})
        answer = asked.getresponse()
        return answer.status, json.loads(answer.read())


# --- the end ---


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_it_ends_at_once_and_says_so(number: signal.Signals) -> None:
    with explorer("--port", "0", str(tiny_run("classification"))) as one:
        assert ask(one.address(), "/healthz") == (200, {"status": "ok"})
        os.killpg(one.process.pid, number)
        assert one.ended() == (0, say("explore.ended", "en") + "\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_neither_a_pass_of_an_hour_nor_those_who_wait_for_it_hold_it_back(number: signal.Signals) -> None:
    run = tiny_run("classification")
    body = {"model": run.name, "input": INPUTS["classification"]}
    with explorer("--port", "0", str(run), start=[sys.executable, "-c", LONG_PASS]) as one:
        address, waiting = one.address(), list[Any]()

        def wait() -> None:
            try:
                waiting.append(ask(address, "/api/trace", body))
            except (http.client.HTTPException, OSError):
                waiting.append("cut")

        threads = [Thread(target=wait) for _ in range(10)]
        for thread in threads:
            thread.start()
        assert one.process.stderr is not None and one.process.stderr.readline() == "a pass begins\n"
        while not waiting:  # one is refused: one computes, and eight wait
            sleep(0.01)
        assert waiting[0][0] == 503
        assert ask(address, "/healthz")[0] == 200 and ask(address, "/api/models")[0] == 200
        os.killpg(one.process.pid, number)
        assert one.ended() == (0, say("explore.ended", "en") + "\n", "")
        for thread in threads:
            thread.join(PATIENCE)
        assert waiting[1:] == ["cut"] * 9
