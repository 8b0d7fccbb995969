from __future__ import annotations

import json

import pytest
from rich.cells import cell_len
from rich.text import Text

from glassformer.cli.output import print_json, print_rich
from glassformer.show import Column, Styled, Table


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


def wide() -> Table:
    table = Table(Column("가" * 30), Column("b" * 60), Column("more", drop=1))
    table.add(Styled("x", "bold red"), "[y]", "z " * 90)
    return table


def test_a_table_into_a_pipe_is_as_wide_as_it_wants_and_without_colours(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    print_rich(wide())
    out = capsys.readouterr().out
    assert "가" * 30 in out
    assert "b" * 60 in out
    assert ("z " * 90).strip() in out
    assert "[y]" in out
    assert "\x1b" not in out


def test_a_pipe_obeys_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "135")
    print_rich(wide(), "one " * 60)
    out = capsys.readouterr().out
    assert "b" * 60 in out
    assert "z z" not in out
    assert "more" in out.splitlines()[-3]  # named as left out
    assert max(map(cell_len, out.splitlines())) <= 135


def test_nothing_is_printed_when_a_part_cannot_be_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken:
        def __rich__(self) -> str:
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        print_rich("first", Broken())
    assert capsys.readouterr().out == ""
