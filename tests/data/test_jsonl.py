from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.data.jsonl import read_jsonl
from glassformer.errors import FileError


def write(folder: Path, text: str) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def test_keys_by_name(tmp_path: Path) -> None:
    path = write(
        tmp_path, '{"source": "가", "target": "a", "more": 1}\n{"ko": "나", "en": "b", "source": "다", "target": "c"}\n'
    )
    assert list(read_jsonl(path)) == [("가", "a"), ("다", "c")]


def test_other_keys_and_escapes_in_nfc(tmp_path: Path) -> None:
    path = write(tmp_path, r'{"ko": "\u1112\u1161\u11ab", "en": "a\nb"}')
    assert list(read_jsonl(path, "ko", "en")) == [("한", "a\nb")]


def test_empty_lines_and_texts_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, '{"source": "a", "target": "b"}\n\n{"source": "", "target": "c"}\n')
    assert read_jsonl(path).skipped == (2, 3)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{broken", r"line 2 is not JSON \(.*\); write one object per line"),
        ("[" * 100_000, "line 2 is not JSON"),
        ('{"source": ' + "1" * 5000 + ', "target": "b"}', "line 2 is not JSON"),
        ('["a", "b"]', r"line 2 is \['a', 'b'\], not an object; write"),
        ('"a"', "line 2 is 'a', not an object"),
        ('{"source": "a"}', "line 2 has no key 'target'; there are: source"),
        ('{"source": "a", "target": 3}', "line 2 has 3 under 'target'; use a text in quotes"),
        ('{"source": null, "target": "b"}', "line 2 has None under 'source'"),
        (r'{"source": "\ud800", "target": "b"}', r"line 2 has '\\ud800' under 'source'"),
    ],
)
def test_a_bad_line_is_named(line: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, '{"source": "a", "target": "b"}\n' + line + "\n")
    with pytest.raises(FileError, match=message) as failure:
        read_jsonl(path)
    assert "2번째 줄" in failure.value.in_language("ko")


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is empty"):
        read_jsonl(write(tmp_path, ""))
