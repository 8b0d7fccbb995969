"""How wide the terminal is, and how texts are wrapped."""

from __future__ import annotations

import os
import pty
from io import StringIO
from pathlib import Path

import pytest

from glassformer.show.width import UNBOUNDED, atoms, longest, room, width, wrap


def test_columns_are_obeyed_also_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    assert room(StringIO()) == 72


@pytest.mark.parametrize("given", ["", "0", "-5", "wide", "²"])
def test_a_pipe_has_no_width(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: str) -> None:
    monkeypatch.setenv("COLUMNS", given)
    assert room(StringIO()) == UNBOUNDED
    with (tmp_path / "out").open("w") as file:
        assert room(file) == UNBOUNDED


def test_a_terminal_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl
    import struct
    import termios

    monkeypatch.delenv("COLUMNS", raising=False)
    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 91, 0, 0))
        with os.fdopen(theirs, "w") as terminal:
            assert room(terminal) == 91
    finally:
        os.close(ours)


def test_width_counts_hangul_twice() -> None:
    assert width("가나\nabc") == 4
    assert longest("나는 학교에 12,345") == 6


def test_lines_are_parted_at_blanks_only() -> None:
    assert wrap("read 2,333,186,457,600 bytes", 12) == ["read", "2,333,186,457,600", "bytes"]
    assert wrap("see runs/first/log.jsonl now", 10) == ["see", "runs/first/log.jsonl", "now"]
    assert wrap("  inset text goes on", 12, hang=2) == ["  inset text", "    goes on"]
    assert wrap("one\ntwo", 80) == ["one", "two"]
    assert wrap("", 10) == [""]


def test_what_is_written_without_blanks_is_parted_between_characters() -> None:
    assert wrap("注意力是您所需要的全部", 8) == ["注意力是", "您所需要", "的全部"]
    assert "".join(atoms("注意力 is all")) == "注意力 is all"
