"""Thirty-two clients at the explorer's server at once: no error, and a memory that does not grow.

The server is a process of its own, with all models of the package; its resident memory is read from /proc. It answers
everything once and then works as long as it is measured for: caches are full by then. The allocator may keep two pools
instead of one for each thread, so that what grows is the program. For a whole minute, and what it measured:

    pytest tests/faults/test_explorer_load.py -m fuzz -s
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from threading import Thread
from time import monotonic
from typing import Any

import pytest

from explorer_process import PATIENCE, Address, ask, explorer

CLIENTS, SECONDS, SECONDS_OF_FUZZ = 32, 3.0, 60.0
MOST_GROWTH = 0.1  # of the memory after as much work again; texts of new lengths still find new places in it
WORDS = [
    "나는",
    "학교에",
    "간다",
    "고양이가",
    "쥐를",
    "잡았다",
    "우리",
    "어머니께서는",
    "매일",
    "시장에서",
    "꽃을",
    "사신다",
]
PAGES = ("/", "/healthz", "/static/main.js", "/static/style.css", "/api/words/ko", "/api/models", "/api/lesson/warmup")
START = [sys.executable, "-m", "glassformer"]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(sys.path),
    "GLASSFORMER_LANG": "en",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory of a process is read from /proc"),
]


def questions(random: Random) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Every kind of request once, with a text of another length each time."""
    text = {"text": " ".join(random.choices(WORDS, k=random.randint(2, 8)))}
    picture, past = {"example": random.randint(0, 1)}, {"example": 0}
    yield random.choice(PAGES), None
    for model in ("ko-en", "masked-ko", "sentiment-ko", "writer-ko"):
        yield "/api/trace", {"model": model, "input": text}
        yield "/api/tokenize", {"model": model, **text}
    for model, given in {"digits": picture, "clothes": picture, "prices": past, "forecaster": past}.items():
        yield "/api/trace", {"model": model, "input": given}
        yield "/api/gradients", {"model": model, "input": given}
    yield "/api/sweep", {"model": "ko-en", "input": text}
    yield "/api/sweep", {"model": "digits", "input": picture}
    edits = [{"name": "encoder.blocks.0.self_attention.heads", "kind": "zero", "head": random.randint(0, 3)}]
    yield "/api/rewritten", {"model": "en-ko", "input": text, "edits": edits}
    yield "/api/lens", {"model": "writer-ko", "input": text}
    yield "/api/count", {"model": "ko-en", "set": {"layers": random.randint(1, 12)}}
    why = {"name": "encoder.blocks.1.self_attention.weights", "index": [0, 0, 0]}
    yield "/api/why", {"model": "ko-en", "input": text, **why}
    yield "/api/decode", {"model": "ko-en", "input": text, "kind": "beam", "width": 4, "max_len": 24}
    yield "/api/decode", {"model": "writer-ko", "input": text, "kind": "sample", "n": 4, "max_len": 24}
    yield "/api/trace", {"model": "nobody", "input": text}


class Client(Thread):
    """Asks until the time is over: how often each status came, and what was no answer at all."""

    def __init__(self, address: Address, seed: int, until: float) -> None:
        super().__init__()
        self.address, self.random, self.until = address, Random(seed), until
        self.went, self.failures = Counter[int](), list[str]()

    def run(self) -> None:
        connection = HTTPConnection(*self.address, timeout=PATIENCE)
        while monotonic() < self.until and not self.failures:
            path, body = self.random.choice([*questions(self.random)])
            try:
                self._ask(connection, path, body)
            except Exception as error:  # whatever it is, it belongs into the report
                self.failures.append(f"{path}: {error!r}")
        connection.close()

    def _ask(self, connection: HTTPConnection, path: str, body: dict[str, Any] | None) -> None:
        headers = {"content-type": "application/json"}
        connection.request("POST" if body else "GET", path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        found = answer.read()
        self.went[answer.status] += 1
        wanted = (404,) if body and body["model"] == "nobody" else (200, 503) if body else (200,)
        if answer.status not in wanted:
            self.failures.append(f"{path} {body}: {answer.status} {found[:300]!r}")
        if path == "/api/decode" and answer.status == 200:
            last = json.loads(found.splitlines()[-1])
            if "error" in last:
                self.failures.append(f"{path} {body}: {last}")


def load(address: Address, seconds: float, seed: int) -> tuple[Counter[int], list[str]]:
    clients = [Client(address, seed + i, monotonic() + seconds) for i in range(CLIENTS)]
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    went = sum((each.went for each in clients), Counter[int]())
    return went, [failure for each in clients for failure in each.failures]


def memory(process: int) -> int:
    """Resident bytes."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("seconds", [SECONDS, pytest.param(SECONDS_OF_FUZZ, marks=pytest.mark.fuzz)])
def test_many_clients_meet_no_error_and_the_memory_stays(seconds: float) -> None:
    with explorer("--port", "0", start=START, environment=ENVIRONMENT) as one:
        address, process = one.address(), one.process.pid
        sizes = {"begun": memory(process)}
        for path, body in questions(Random(0)):
            assert ask(address, path, body)[0] == (404 if body and body["model"] == "nobody" else 200), path
        sizes["opened"] = memory(process)
        load(address, seconds, 100)
        sizes["warm"] = memory(process)
        went, failures = load(address, seconds, 200)
        sizes["end"] = memory(process)
    sys.stdout.write(f"\n{dict(went)} MB: { {key: round(size / 1e6, 1) for key, size in sizes.items()} }\n")
    assert (failures, one.left) == ([], ("", ""))
    assert went[200] > 10 * seconds
    assert seconds < SECONDS_OF_FUZZ or sizes["end"] < sizes["warm"] * (1 + MOST_GROWTH)


def test_many_who_are_the_first_to_ask_are_all_answered() -> None:
    """What is imported, opened and read at the first request is asked for by all of them at once."""
    paths = [*PAGES, "/api/lesson/warmup", "/api/lesson/layer_norm?lang=ko"] * 3
    with explorer("--port", "0", start=START, environment=ENVIRONMENT) as one:
        address, said = one.address(), Counter[int]()

        def first(path: str) -> None:
            said[ask(address, path)[0]] += 1

        threads = [Thread(target=first, args=(path,)) for path in paths]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert (said, one.left) == ({200: len(paths)}, ("", ""))
