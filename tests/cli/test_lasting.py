from __future__ import annotations

import os
import sys
from pathlib import Path

from glassformer.cli.lasting import Lasting, lasting


def test_a_stream_that_is_there_is_written_to(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="utf-8") as file:
        stream = Lasting(file)
        assert stream.write("가") == 1 and not stream.isatty() and stream.encoding == "utf-8"
        assert stream.fileno() == file.fileno()
        stream.flush()
        assert (tmp_path / "out").read_text(encoding="utf-8") == "가"


def test_a_stream_that_is_gone_takes_everything_and_says_nothing() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w", encoding="utf-8") as file:
        os.close(reader)
        stream = Lasting(file)
        for _ in range(3):
            stream.write("x" * 100_000)  # more than a buffer
            stream.flush()


def test_print_is_lasting_only_while_it_lasts() -> None:
    before = sys.stdout, sys.stderr
    with lasting():
        assert isinstance(sys.stdout, Lasting) and isinstance(sys.stderr, Lasting)
    assert (sys.stdout, sys.stderr) == before
