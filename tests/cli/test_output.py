from __future__ import annotations

import json

import pytest
from rich.table import Table
from rich.text import Text

from glassformer.cli.output import print_json, print_rich


def test_json_is_one_document_with_hangul_as_hangul(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": "나는 학교에 간다", "numbers": [1, 2.5, True, None]})
    out = capsys.readouterr().out
    assert "나는 학교에 간다" in out
    assert json.loads(out) == {"text": "나는 학교에 간다", "numbers": [1, 2.5, True, None]}


def test_json_has_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"values": (1.0, float("nan"), [float("inf"), {"x": float("-inf")}])})
    assert json.loads(capsys.readouterr().out) == {"values": [1.0, None, [None, {"x": None}]]}


def test_large_integers_stay_exact(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"parameters": 2**80 + 1})
    assert json.loads(capsys.readouterr().out)["parameters"] == 2**80 + 1


def test_text_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    print_rich("[model] [red]x[/red] [/b] :smile: 3.14", Text("두 번째"))
    assert capsys.readouterr().out == "[model] [red]x[/red] [/b] :smile: 3.14\n두 번째\n"


def test_a_table_into_a_pipe_is_wide_and_without_colours(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    table = Table()
    table.add_column("가" * 30, no_wrap=True)
    table.add_column("b" * 60, no_wrap=True)
    table.add_row(Text("x", style="bold red"), "[y]")
    print_rich(table)
    out = capsys.readouterr().out
    assert "가" * 30 in out
    assert "b" * 60 in out
    assert "[y]" in out
    assert "\x1b" not in out


def test_nothing_is_printed_when_a_part_cannot_be_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken:
        def __rich__(self) -> str:
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        print_rich("first", Broken())
    assert capsys.readouterr().out == ""
