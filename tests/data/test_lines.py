from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.data import lines as module
from glassformer.data.lines import LONGEST_LINE, blocks, count_lines, read_lines
from glassformer.errors import ConfigError, FileError


def write(folder: Path, content: bytes, name: str = "text.txt") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\ntwo", ["one", "two"]),
        (b"one\r\ntwo\r\n", ["one", "two"]),
        (b"\xef\xbb\xbfone\ntwo\n", ["one", "two"]),
        (b"one\n\xef\xbb\xbftwo\n", ["one", "\ufefftwo"]),
        (b"\n\n", ["", ""]),
        (b"", []),
        ("a\u2028b\x85c\x0bd\x1ce\n".encode(), ["a\u2028b\x85c\x0bd\x1ce"]),
        (b"nul \x00 bell \x07\n", ["nul \x00 bell \x07"]),
        (b"a\rb\n", ["a\rb"]),
        ("하".encode() + b"\n", ["하"]),
    ],
)
def test_lines_end_at_lf_alone_and_keep_every_other_character(
    content: bytes, expected: list[str], tmp_path: Path
) -> None:
    assert list(read_lines(write(tmp_path, content))) == expected


def test_text_comes_in_nfc(tmp_path: Path) -> None:
    content = "\u1112\u1161\u11ab\n\u0301e\u0301\n"  # 한 in three parts; a line that starts with a combining accent
    assert list(read_lines(write(tmp_path, content.encode()))) == ["한", "\u0301é"]


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_packed_files_are_read_through(suffix: str, pack: object, tmp_path: Path) -> None:
    assert callable(pack)
    path = write(tmp_path, pack(b"one\ntwo\n"), f"text.txt{suffix}")
    assert list(read_lines(path)) == ["one", "two"]


@pytest.mark.slow
@given(st.lists(st.text(st.characters(exclude_characters="\n\r\ufeff", exclude_categories=["Cs"]), max_size=20)))
def test_blocks_of_any_size_give_the_same_lines(found: list[str]) -> None:
    import tempfile
    from unicodedata import normalize

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", 7)
        path = write(Path(folder), "".join(f"{line}\n" for line in found).encode())
        assert list(read_lines(path)) == [normalize("NFC", line) for line in found]


@pytest.mark.parametrize("before", [0, 3, 200_000])
def test_what_is_no_utf8_is_named_by_line_and_byte(before: int, tmp_path: Path) -> None:
    path = write(tmp_path, "가나다\n".encode() * before + b"ab\xff\nrest\n")
    with pytest.raises(FileError, match=rf"not UTF-8 in line {before + 1}, byte 3 of that line; convert"):
        list(read_lines(path))


def test_a_character_cut_off_at_the_end_is_no_utf8(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="line 1, byte 2 of that line"):
        list(read_lines(write(tmp_path, b"a" + "가".encode()[:2])))


@pytest.mark.parametrize("end", [b"", b"\n", b"\nmore\n"])
def test_a_line_of_ten_megabytes_is_refused_by_number_and_limit(end: bytes, tmp_path: Path) -> None:
    path = write(tmp_path, b"fine\n" * 2 + b"x" * 10_000_000 + end)
    with pytest.raises(FileError, match=f"line 3 is longer than {LONGEST_LINE} bytes; break the text"):
        list(read_lines(path))


def test_the_longest_line_allowed_is_read_and_one_byte_more_is_not(tmp_path: Path) -> None:
    assert [len(line) for line in read_lines(write(tmp_path, b"x" * LONGEST_LINE + b"\ny\n"))] == [LONGEST_LINE, 1]
    with pytest.raises(FileError, match="line 1 is longer"):
        list(read_lines(write(tmp_path, b"x" * (LONGEST_LINE + 1) + b"\ny\n")))


def test_a_long_line_is_refused_before_the_rest_is_read(tmp_path: Path) -> None:
    seen = 0
    with pytest.MonkeyPatch.context() as patch:

        def counted(path: Path) -> object:
            nonlocal seen
            for block in blocks(path):
                seen += len(block)
                yield block

        patch.setattr(module, "blocks", counted)
        with pytest.raises(FileError, match="is longer"):
            list(read_lines(write(tmp_path, b"x" * 10_000_000)))
    assert seen <= LONGEST_LINE + module.BLOCK


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("text.gz", gzip.compress(b"one\ntwo\n" * 1000)[:-20]),
        ("text.gz", b"no gzip at all"),
        ("text.gz", gzip.compress(b"one\n" * 100)[:15] + b"\x00" * 40),
        ("text.xz", lzma.compress(b"one\ntwo\n" * 1000)[:-20]),
        ("text.xz", b"no xz at all"),
    ],
    ids=["gzip cut", "no gzip", "gzip broken", "xz cut", "no xz"],  # the bytes hold the time, and would name the test
)
def test_a_damaged_packed_file_is_said_to_be_damaged(name: str, content: bytes, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"is damaged or not packed as its name says"):
        list(read_lines(write(tmp_path, content, name)))


def test_a_file_that_is_not_there_or_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file; check the path"):
        list(read_lines(tmp_path / "nothing.txt"))
    with pytest.raises(FileError, match="cannot be read"):
        list(read_lines(tmp_path))


def test_nothing_is_read_before_it_is_asked_for(tmp_path: Path) -> None:
    found = read_lines(write(tmp_path, b"one\n" + b"two\n" * 1_000_000 + b"\xff\n"))
    assert next(found) == "one"


@pytest.mark.parametrize("content", [b"", b"a", b"a\n", b"a\n\nb", b"\xef\xbb\xbfa\r\nb\r\n", b"x\n" * 300_000])
def test_lines_are_counted_as_they_are_read(content: bytes, tmp_path: Path) -> None:
    path = write(tmp_path, content)
    assert count_lines(path) == len(list(read_lines(path)))


def packed_zst(content: bytes) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    packed: bytes = pyarrow.compress(content, codec="zstd", asbytes=True)
    return packed


PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": packed_zst,
}


@pytest.mark.parametrize("packing", PACK)
def test_packed_files_are_read_through_and_damaged_ones_are_one_line(packing: str, tmp_path: Path) -> None:
    content = "".join(f"문장 {i}\n" for i in range(20_000)).encode()
    packed = PACK[packing](content)
    assert list(read_lines(write(tmp_path, packed, f"a{packing.upper()}"))) == content.decode().splitlines()
    for wrong in (packed[: len(packed) // 2], b"not packed at all"):
        with pytest.raises(FileError, match=rf"b\{packing} (is damaged or not packed|cannot be read)"):
            list(read_lines(write(tmp_path, wrong, f"b{packing}")))


@pytest.mark.parametrize("packing", [".zip", ".7z", ".tgz"])
def test_other_packings_are_refused_with_those_that_can_be_read(packing: str, tmp_path: Path) -> None:
    with pytest.raises(
        FileError, match=rf"is packed as \{packing}, which cannot be read; unpack it, or pack it as \.gz"
    ):
        list(read_lines(write(tmp_path, b"x", f"a{packing}")))


def test_zst_needs_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match=r"a\.zst needs a package that is not installed; pip install 'glassformer"):
        list(read_lines(write(tmp_path, b"x", "a.zst")))
