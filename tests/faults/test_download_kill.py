"""`glassformer data get` as processes: killed anywhere and begun again, interrupted, and two of them at once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from glassformer.data.find import MADE
from published_wmt import wmt_archives
from publisher import Publisher, publishing

BODY = random.Random(2).randbytes(300_000).hex().encode()  # one line of text: 600,000 bytes
ARCHIVES = wmt_archives()

PROGRAM = """
import os, signal, sys
from glassformer.data import building
from glassformer.data.catalogue import DATASETS, Dataset, Split
from glassformer.cli.app import main
from published_wmt import small_row

url, stop, *words = sys.argv[1:]
DATASETS["wmt14-ende"] = small_row("wmt14-ende", url)
DATASETS["big"] = Dataset(
    task="language_model", format="text", languages=("en",), licence="MIT", source="https://example.org",
    address=url + "/{file}", splits={"all": Split(("big.txt",), 600_000)}, verified=False,
)
building.STRIDE = 150
write, calls = building.write_json, 0

def note(path, value):
    global calls
    calls += 1
    if calls == int(stop):
        os.kill(os.getpid(), signal.SIGKILL)
    write(path, value)

building.write_json = note
main(words)
"""

pytestmark = pytest.mark.slow


@pytest.fixture
def host() -> Iterator[Publisher]:
    with publishing() as running:
        running.pages = {f"/{name}": content for name, content in ARCHIVES.items()}
        running.pages["/big.txt"] = BODY
        yield running


def begin(host: Publisher, home: Path, *words: str, stop: int = 0) -> subprocess.Popen[str]:
    hidden = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    environment = hidden | {
        "GLASSFORMER_DATA": str(home),
        "GLASSFORMER_LANG": "en",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-c", PROGRAM, host.url, str(stop), "data", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def part(home: Path, size: int) -> None:
    """Wait until so many bytes have arrived on the disk."""
    for _ in range(6000):
        if any(path.stat().st_size == size for path in home.glob("*/.part-*") if path.suffix != ".json"):
            return
        time.sleep(0.01)
    raise AssertionError(f"{size} bytes never came")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_transfer_that_is_ended_goes_on_where_it_was(number: int, host: Publisher, tmp_path: Path) -> None:
    points = [1, 65_536, 299_999, 599_999]
    before = 0
    for point in points:
        host.faults["/big.txt"] = [("held", point - before)]
        process = begin(host, tmp_path, "get", "big")
        part(tmp_path, point)
        process.send_signal(number)
        code, _, err = finish(process)
        assert code == (-number if number == signal.SIGKILL else 1)
        assert err.count("\n") == (0 if number == signal.SIGKILL else 1) and "Traceback" not in err
        assert not (tmp_path / "big" / "big.txt").exists()
        before = point
    code, out, err = finish(begin(host, tmp_path, "get", "big"))
    assert code == 0, err
    assert (tmp_path / "big" / "big.txt").read_bytes() == BODY
    assert [path.name for path in (tmp_path / "big").iterdir()] == ["big.txt"]
    assert host.sent["/big.txt"] == len(BODY)  # over five processes, no byte twice
    assert [asked for _, asked in host.asked] == [None, *(f"bytes={point}-" for point in points)]
    digest = sha256(BODY).hexdigest()
    assert f"big.txt: nobody here could compare it with what is published; SHA-256 {digest}" in out.replace("\n", " ")


def test_two_at_once_transfer_once_and_the_second_says_that_it_waits(host: Publisher, tmp_path: Path) -> None:
    host.faults["/big.txt"] = [("held", 1000)]
    first = begin(host, tmp_path, "get", "big")
    part(tmp_path, 1000)
    second = begin(host, tmp_path, "get", "big")
    assert second.stderr is not None
    assert "another process is at work on" in second.stderr.readline()
    assert len(host.asked) == 1
    host.ended.set()  # the host hangs up on the first, which asks for the rest
    assert finish(first)[0] == 0 and finish(second)[0] == 0
    assert host.sent["/big.txt"] == len(BODY) and len(host.asked) == 2
    assert (tmp_path / "big" / "big.txt").read_bytes() == BODY


def test_a_killed_holder_leaves_no_lock(host: Publisher, tmp_path: Path) -> None:
    host.faults["/big.txt"] = [("held", 1000)]
    first = begin(host, tmp_path, "get", "big")
    part(tmp_path, 1000)
    second = begin(host, tmp_path, "get", "big")
    assert second.stderr is not None and "another process" in second.stderr.readline()
    first.kill()
    assert finish(first)[0] == -signal.SIGKILL and finish(second)[0] == 0
    assert host.sent["/big.txt"] == len(BODY)


def test_a_build_that_is_killed_anywhere_writes_the_same_bytes(host: Publisher, tmp_path: Path) -> None:
    """Killed at the first, second, … note, by processes one after another that each get a little further."""
    assert finish(begin(host, tmp_path / "once", "get", "wmt14-ende"))[0] == 0
    expected = {path.name: path.read_bytes() for path in (tmp_path / "once" / "wmt14-ende").iterdir()}
    host.sent.clear()
    killed = 0
    for stop in (3, 1, 4, 5, 6, 0):
        code, _, err = finish(begin(host, tmp_path / "often", "get", "wmt14-ende", stop=stop))
        killed += code == -signal.SIGKILL
        assert code in (0, -signal.SIGKILL), err
    assert code == 0 and killed == 5
    found = {path.name: path.read_bytes() for path in (tmp_path / "often" / "wmt14-ende").iterdir()}
    assert json.loads(found.pop(MADE)) == json.loads(expected.pop(MADE))
    assert found == expected
    assert host.sent == {f"/{name}": len(content) for name, content in ARCHIVES.items()}
