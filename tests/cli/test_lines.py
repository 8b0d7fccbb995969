from __future__ import annotations

import io
import sys

import pytest

from glassformer.cli.lines import AT_ONCE, answered, read
from glassformer.errors import ConfigError, InputError


def upper(lines: list[str]) -> list[str]:
    if "" in lines:
        raise InputError("empty_text")
    return [line.upper() for line in lines]


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_arguments_are_answered_some_at_a_time() -> None:
    texts = [str(i) for i in range(2 * AT_ONCE + 1)]
    found = list(answered(texts, upper))
    assert [len(some) for some in found] == [AT_ONCE, AT_ONCE, 1]
    assert [pair for some in found for pair in some] == [(text, text) for text in texts]


def test_without_arguments_the_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, "\ufeffa\r\n가\nb".encode())
    assert list(answered(None, upper)) == [[("a", "A"), ("가", "가")], [("b", "B")]]


def test_a_line_that_is_refused_is_named_and_those_before_it_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"a\nb\n\nc\n")
    found = answered(None, upper)
    assert [next(found), next(found)] == [[("a", "A")], [("b", "B")]]
    with pytest.raises(InputError, match="line 3: the text is empty: there is no token in it"):
        next(found)


def test_what_is_wrong_with_all_lines_is_of_no_line() -> None:
    def refuse(lines: list[str]) -> list[str]:
        raise ConfigError("not_positive", key="temperature", value=0)

    with pytest.raises(ConfigError, match=r"^temperature=0"):
        list(answered(["a"], refuse))


def test_what_is_no_text_is_named() -> None:
    with pytest.raises(InputError, match=r"line 2 of the input is not UTF-8 \(byte 3 of the line\)"):
        list(read(io.BytesIO(b"ab\nab\xff\n")))


def test_a_line_without_end_is_refused_before_it_is_all_in_memory() -> None:
    endless = io.BytesIO(b"ok\n" + b"a" * 10_000_000)
    found = read(endless)
    assert next(found) == ["ok"]
    with pytest.raises(InputError, match="line 2 of the input is longer than 1000000 bytes"):
        next(found)
    assert endless.tell() < 2_000_000
