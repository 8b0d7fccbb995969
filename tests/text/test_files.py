from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.errors import FileError
from glassformer.text.files import (
    CONFIG,
    LARGEST_TOKENIZER,
    declared_specials,
    read_bytes,
    read_config,
    read_table,
    read_text,
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
    ("text", "why"), [("{", "Expecting property name"), ("[" * 10**5, "recursion"), ("[1]", "it is no JSON object")]
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


def test_special_tokens_as_hugging_face_declares_them() -> None:
    assert declared_specials({"eos_token": "</s>", "pad_token": {"content": "<p>"}, "unk_token": None}) == {
        "eos": "</s>",
        "pad": "<p>",
    }
