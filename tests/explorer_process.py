"""`glassformer explore` as a process of its own, first of its session as at a terminal, and questions to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import warm

PATIENCE = 120  # seconds until a test gives up
Address = tuple[str, int]


class Explorer:
    """One process; `address` waits until it answers. `left`: what was said and not read when it was killed."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path | None) -> None:
        self.left = ("", "")
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=folder,
            env=environment,
        )

    def address(self) -> Address:
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
def explorer(
    *words: str,
    start: Sequence[str] | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Iterator[Explorer]:
    usual = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "GLASSFORMER_LANG": "en", "OMP_NUM_THREADS": "1"}
    command = [*(start or warm.command()), "explore", "--no-browser", *words]
    made = Explorer(command, environment or usual, folder)
    try:
        yield made
    finally:
        made.process.kill()
        made.left = made.process.communicate()


def ask(address: Address, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Status and answer, as JSON where it is."""
    sent = None if body is None else json.dumps(body)
    with closing(http.client.HTTPConnection(*address, timeout=PATIENCE)) as asked:
        asked.request("POST" if sent else "GET", path, sent, {"content-type": "application/json", **headers})
        answer = asked.getresponse()
        found = answer.read()
        plain = (answer.headers["content-type"] or "").startswith("application/json")
        return answer.status, json.loads(found) if plain else found
