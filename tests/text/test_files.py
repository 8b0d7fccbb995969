from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.errors import FileError
from glassformer.text.files import (
    CONFIG,
    LARGEST_TOKENIZER,
    read_bytes,
    read_config,
    read_table,
    read_text,
    read_vocabulary,
    to_json,
    write,
)


def test_written_and_read_again(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b", {CONFIG: to_json({"kind": "bpe", "word": "학교"})})
    assert read_config(tmp_path / "a" / "b") == {"kind": "bpe", "word": "학교"}
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == [CONFIG]
    assert read_config(tmp_path) == {}


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nothing cannot be read: No such file"):
        read_bytes(tmp_path / "nothing")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(LARGEST_TOKENIZER + 1)
    with pytest.raises(FileError, match="huge has 268435457 bytes, more than a tokenizer may have"):
        read_bytes(tmp_path / "huge")
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    with pytest.raises(FileError, match=r"latin is not UTF-8 text \(byte 3\)"):
        read_text(tmp_path / "latin")


@pytest.mark.parametrize(
    ("text", "why"), [("{", "Expecting property name"), ("[" * 10**5, "recursion"), ("[1]", "it is not a JSON object")]
)
def test_what_is_no_json_object(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / CONFIG).write_text(text)
    with pytest.raises(FileError, match=f"cannot be read as a tokenizer: .*{why}"):
        read_table(tmp_path / CONFIG)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / CONFIG).write_text('{"format": 2}')
    with pytest.raises(FileError, match="has format 2, and this version reads up to 1"):
        read_config(tmp_path)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FileError, match="cannot be written"):
        write(tmp_path / "file", {CONFIG: b"{}"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 0, "b": 0}', "names the id 0 or its piece 'b' twice"),
        ('{"a": 0, "a": 1}', "names the id 1 or its piece 'a' twice"),
        ('{"a": 0, "b": -1}', "gives the piece 'b' the id -1, and ids are whole numbers from 0 to 1"),
        ('{"a": 0, "b": 2}', "gives the piece 'b' the id 2, and ids are whole numbers from 0 to 1"),
        ('{"a": 0, "b": 4194305}', "gives the piece 'b' the id 4194305"),
        ('{"a": true}', "gives the piece 'a' the id True"),
        ('{"a": 0.0}', r"gives the piece 'a' the id 0\.0"),
        ('{"a": null}', "gives the piece 'a' the id None"),
        ('{"a": {"b": 1}}', "gives the piece 'a' the id"),
        (f'{{"a": 1{"0" * 4000}}}', "gives the piece 'a' the id 1000"),
        (f'{{"a": 1{"0" * 5000}}}', "cannot be read as a tokenizer"),
        ("{}", "numbers its pieces up to -1"),
        ("[1]", "it is not a JSON object"),
        ("", "cannot be read as a tokenizer"),
        ('{"a":' * 10**5, "cannot be read as a tokenizer: .*recursion"),
    ],
)
def test_a_list_of_pieces_numbers_each_of_them_once(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(text)
    with pytest.raises(FileError, match=rf"vocab\.json .*{why}") as refused:
        read_vocabulary(tmp_path / "vocab.json")
    assert len(str(refused.value).splitlines()) == 1 and len(str(refused.value)) < 600


def test_a_list_of_pieces(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text('{"b": 1, "학교": 0}', encoding="utf-8")
    assert read_vocabulary(tmp_path / "vocab.json") == {"b": 1, "학교": 0}
    (tmp_path / "vocab.json").write_bytes(b'{"\xff": 0}')
    with pytest.raises(FileError, match="is not UTF-8 text"):
        read_vocabulary(tmp_path / "vocab.json")
