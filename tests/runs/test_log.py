from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.errors import FileError
from glassformer.runs.log import Log
from small_disk import no_file_larger_than


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    assert log.read() == []
    log.append({"step": 1, "loss": 2.5})
    log.append({"step": 2, "name": "한"})
    log.sync()
    assert log.read() == [{"step": 1, "loss": 2.5}, {"step": 2, "name": "한"}]
    assert log.path.read_text(encoding="utf-8").splitlines()[1] == '{"step": 2, "name": "한"}'


def test_no_number_is_null(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    log.append({"step": 1, "loss": float("nan"), "more": [float("inf"), {"x": -1.5}]})
    assert log.path.read_text() == '{"step": 1, "loss": null, "more": [null, {"x": -1.5}]}\n'


def test_a_half_written_line_is_no_line(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    log.append({"step": 1})
    for broken in (b'{"step": 2, "lo', b"[1]\n", b'{"loss": 2}\n', b"\xff\n"):
        log.path.write_bytes(b'{"step": 1}\n' + broken)
        assert log.read() == [{"step": 1}]


def test_what_comes_after_a_step_is_cut(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    for step in (1, 2, 2, 3):
        log.append({"step": step})
    with log.path.open("a") as file:
        file.write('{"step": 4, "lo')
    log.cut(2)
    assert log.path.read_text() == '{"step": 1}\n{"step": 2}\n{"step": 2}\n'


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    with no_file_larger_than(100), pytest.raises(FileError, match=r"log\.jsonl cannot be written: File too large"):
        for step in range(100):
            log.append({"step": step})
    assert log.read()[0] == {"step": 0}
