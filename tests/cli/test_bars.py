from __future__ import annotations

import pytest

from glassformer.cli.bars import bar


def test_nothing_is_drawn_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("reading") as progress:
        progress(1, 2)
        progress(2, 2)
    assert capsys.readouterr() == ("", "")
