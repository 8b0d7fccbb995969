from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from glassformer.data import prepared as module
from glassformer.data.prepared import clear, every_prepared, home, identity, prepared
from glassformer.data.watching import watched
from glassformer.errors import FileError, GlassformerWarning
from glassformer.files import write_bytes
from small_disk import no_file_larger_than

KEY = {"of": "a test"}


def made(draft: Path) -> None:
    write_bytes(draft / "numbers", bytes(range(100)))


@pytest.mark.usefixtures("own_cache")
def test_a_folder_is_made_once_and_found_again() -> None:
    calls: list[Path] = []

    def make(draft: Path) -> None:
        calls.append(draft)
        made(draft)

    folder = prepared("texts", KEY, make)
    assert prepared("texts", KEY, make) == folder
    assert prepared("texts", {"of": "another"}, make) != folder
    assert len(calls) == 2
    assert (folder / "numbers").read_bytes() == bytes(range(100))


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another process would: it has checked nothing yet."""
    monkeypatch.setattr(module, "_CHECKED", set())


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("harm", ["cut", "changed", "gone", "more", "about"])
def test_a_damaged_folder_is_refused_in_a_line_and_made_again(harm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = prepared("texts", KEY, made)
    numbers = folder / "numbers"
    match harm:
        case "cut":
            numbers.write_bytes(numbers.read_bytes()[:-1])
        case "changed":
            numbers.write_bytes(b"\xff" + numbers.read_bytes()[1:])
        case "gone":
            numbers.unlink()
        case "more":
            (folder / "stranger").write_bytes(b"x")
        case "about":
            (folder / "about.json").write_text("{")
    forget(monkeypatch)
    with pytest.warns(GlassformerWarning, match=rf"{folder.name} in the cache is damaged; it is made again"):
        assert prepared("texts", KEY, made) == folder
    assert numbers.read_bytes() == bytes(range(100))
    assert not (folder / "stranger").exists()


@pytest.mark.usefixtures("own_cache")
def test_a_full_disk_is_one_line_and_leaves_nothing_under_the_final_name() -> None:
    def large(draft: Path) -> None:
        write_bytes(draft / "small", b"x")
        write_bytes(draft / "large", bytes(5000))

    with no_file_larger_than(1000), pytest.raises(FileError, match="cannot be written: File too large; make room"):
        prepared("texts", KEY, large)
    assert [(each.whole, each.bytes) for each in every_prepared()] == [(False, 1)]  # what was finished is kept
    assert (prepared("texts", KEY, large) / "large").stat().st_size == 5000
    assert [each.whole for each in every_prepared()] == [True]


SLOWLY = """
import sys, time
from pathlib import Path
from glassformer.data.prepared import prepared
from glassformer.data.watching import watched

def make(draft):
    with Path(sys.argv[1]).open("a") as file:
        file.write("made\\n")
    time.sleep(2.0)
    (draft / "numbers").write_bytes(b"1")

print("ready", flush=True)
sys.stdin.readline()
with watched(lambda doing, done, total: print(doing)):
    prepared("texts", {"of": "a test"}, make)
"""


@pytest.mark.slow
def test_of_two_processes_one_works_and_the_other_waits(own_cache: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "GLASSFORMER_CACHE": str(own_cache)}
    command, pipes = [sys.executable, "-c", SLOWLY, str(log)], {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    both = [subprocess.Popen(command, text=True, env=environment, **pipes) for _ in range(2)]  # type: ignore[call-overload]
    assert [one.stdout.readline() for one in both] == ["ready\n"] * 2
    for one in both:
        one.stdin.write("go\n")
        one.stdin.flush()
    said = sorted(one.communicate(timeout=60)[0] for one in both)
    assert [one.returncode for one in both] == [0, 0]
    assert (said, log.read_text()) == (["", "waiting\n"], "made\n")


def test_who_waits_says_so(own_cache: Path) -> None:
    said: list[str] = []

    def told(doing: str, done: int, total: int | None) -> None:
        said.append(doing)
        os.close(held.pop())  # the other one is ready

    home().mkdir(parents=True)
    name = f"texts-{module.mark_of(KEY)}.lock"
    held = [os.open(home() / name, os.O_RDWR | os.O_CREAT)]
    module.fcntl.flock(held[0], module.fcntl.LOCK_EX)
    with watched(told):
        prepared("texts", KEY, made)
    assert said == ["waiting"]


@pytest.mark.usefixtures("own_cache")
def test_the_cache_is_listed_and_cleared_and_a_draft_in_work_is_left_alone() -> None:
    folder = prepared("texts", KEY, made)
    (home() / ".tmp-tokens-1").mkdir()
    (home() / ".tmp-tokens-1" / "part").write_bytes(b"abc")
    assert [(each.kind, each.whole) for each in every_prepared()] == [("tokens", False), ("texts", True)]
    held = os.open(home() / "tokens-1.lock", os.O_RDWR | os.O_CREAT)
    module.fcntl.flock(held, module.fcntl.LOCK_EX)
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert clear() == size
    assert [each.kind for each in every_prepared()] == ["tokens"]
    os.close(held)
    assert clear() == 3
    assert every_prepared() == []


def test_a_file_is_known_by_its_content_and_its_time(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(bytes(200_000))
    before = identity(path)
    assert identity(path) == before
    about = path.stat()
    path.write_bytes(bytes(199_999) + b"\x01")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert {key for key, value in identity(path).items() if value != before[key]} == {"samples"}
    path.unlink()
    with pytest.raises(FileError, match=re.escape(f"{path}")):
        identity(path)
