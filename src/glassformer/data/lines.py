"""The lines of a text file, plain or packed, one block at a time, in NFC; and JSON lines, an object on each.

Anything wrong with a file raises an error that names the file and the line.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import shlex
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any
from unicodedata import is_normalized, normalize

from glassformer.errors import ConfigError, FileError, Phrase, shown

LONGEST_LINE = 1_000_000  # bytes; a longer line means that the line breaks are lost
BLOCK = 1 << 19  # below LONGEST_LINE, so that lines inside a block need no check
DAMAGED = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error)
OTHER_PACKINGS = (".zip", ".7z", ".rar", ".lz4", ".br", ".z", ".tar", ".tgz")  # none of them holds one text


def _open_zst(path: Path, mode: str) -> Any:
    """Read by Python from 3.14 on, before that by pyarrow."""
    try:
        from compression import zstd  # type: ignore[import-not-found]
    except ImportError:
        try:
            import pyarrow
        except ImportError as error:
            raise ConfigError("needs_package", what=path, package="glassformer[parquet]") from error
        return pyarrow.CompressedInputStream(pyarrow.OSFile(str(path), mode), "zstd")
    return zstd.open(path, mode)


OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open, ".zst": _open_zst}


def read_lines(path: str | Path) -> Iterator[str]:
    """Each line without its end (LF or CR LF), in NFC; a byte order mark is dropped, every other character is kept.

    A block is decoded and normalised at once, which makes a million lines fast: no character combines with a line break
    before it, so NFC of a block is NFC of its lines. Only LF ends a line: U+2028, U+0085 and the other separators of
    `str.splitlines` occur inside sentences, and would break the alignment of two files.
    """
    path = Path(path)
    count, first = 0, True
    for block in _whole_lines(path):
        text = _decoded(block, path, count)
        if first:
            text, first = text.removeprefix("\ufeff"), False
        if not is_normalized("NFC", text):
            text = normalize("NFC", text)
        found = text.split("\n")
        if text.endswith("\n"):
            found.pop()
        if "\r" in text:
            found = [line.removesuffix("\r") for line in found]
        yield from found
        count += len(found)


def count_lines(path: str | Path) -> int:
    """How many lines `read_lines` gives; they are not looked at."""
    count, last = 0, b"\n"
    for piece in blocks(Path(path)):
        count, last = count + piece.count(b"\n"), piece
    return count + (not last.endswith(b"\n"))


def blocks(path: Path) -> Iterator[bytes]:
    """The content of a file, unpacked, in pieces."""
    try:
        with _opened(path) as file:
            while piece := file.read(BLOCK):
                yield piece
    except DAMAGED as error:
        raise FileError("data_damaged", path=path, why=str(error) or type(error).__name__) from error
    except FileNotFoundError as error:
        raise FileError("data_no_file", path=path) from error
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error


def _opened(path: Path) -> IO[bytes]:
    packing = path.suffix.casefold()
    if packing in OTHER_PACKINGS and path.is_file():
        raise FileError("packing_unknown", path=path, packing=packing)
    opened: IO[bytes] = OPENERS.get(packing, open)(path, "rb")
    return opened


def plain_name(path: str | Path) -> str:
    """A file's name when unpacked, in lower case."""
    name = str(path).casefold()
    return next((name.removesuffix(packing) for packing in OPENERS if name.endswith(packing)), name)


def _whole_lines(path: Path) -> Iterator[bytes]:
    """Pieces that end where a line ends."""
    rest, count = b"", 0
    for piece in blocks(path):
        cut = piece.rfind(b"\n") + 1
        whole, tail = rest + piece[:cut], piece[cut:]
        if not cut:
            whole, tail = b"", rest + piece
        _check_lengths(whole, tail, path, count)
        count += whole.count(b"\n")
        rest = tail
        if whole:
            yield whole
    if rest:
        yield rest


def _check_lengths(whole: bytes, tail: bytes, path: Path, count: int) -> None:
    if len(whole) <= LONGEST_LINE and len(tail) <= LONGEST_LINE:
        return
    for number, line in enumerate([*whole.split(b"\n")[:-1], tail], count + 1):
        if len(line) > LONGEST_LINE:
            raise FileError("data_line_too_long", path=path, line=number, limit=LONGEST_LINE)


def _decoded(block: bytes, path: Path, count: int) -> str:
    """The block as text; a byte that is not UTF-8 is reported with its line and its place in that line, both from 1."""
    try:
        return block.decode("utf-8")
    except UnicodeDecodeError as error:
        line = count + block.count(b"\n", 0, error.start) + 1
        byte = error.start - (block.rfind(b"\n", 0, error.start) + 1) + 1
        raise FileError("data_not_utf8", path=path, line=line, byte=byte, hint=_remedy(block, path)) from error


def _remedy(block: bytes, path: Path) -> Phrase:
    """How to convert it, if the encoding is known: Windows' UTF-16 by its mark, Korean Windows' CP949 by its Hangul."""
    if block.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _convert("UTF-16", path)
    try:
        text = block.decode("cp949")
    except UnicodeDecodeError:
        return Phrase("hints.convert")
    other = [c for c in text if not c.isascii()]
    hangul = sum("가" <= c <= "힣" for c in other)
    return _convert("CP949", path) if hangul > len(other) // 2 else Phrase("hints.convert")


def _convert(encoding: str, path: Path) -> Phrase:
    """A command that works as printed, for any path."""
    return Phrase("hints.convert_guessed", (("encoding", encoding), ("path", shlex.quote(str(path)))))


def jsonl_rows(path: str | Path, source: str, target: str) -> Iterator[tuple[str, str]]:
    """The values of two keys of every line; an empty line is an empty row, which the reader skips and counts."""
    number = 0
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            yield "", ""
            continue
        row = _object(line, path, number)
        yield text_of(row, source, path, number), text_of(row, target, path, number)
    if not number:
        raise FileError("data_empty_file", path=path)


def jsonl_objects(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every object with the number of its line; empty lines are skipped."""
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            yield number, _object(line, path, number)


def _object(line: str, path: str | Path, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:  # a number of too many digits is a ValueError too
        raise FileError("data_not_json", path=path, line=number, why=str(error)) from error
    if not isinstance(row, dict):
        raise FileError("data_no_object", path=path, line=number, value=shown(row))
    return row


def text_of(row: dict[str, Any], key: str, path: str | Path, number: int) -> str:
    """The text under a key, in NFC; raises for anything else."""
    if key not in row:
        raise FileError("data_no_key", path=path, line=number, name=key, known=", ".join(row))
    value = row[key]
    if not isinstance(value, str):
        raise FileError("data_not_text", path=path, line=number, name=key, value=shown(value))
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:  # "\ud800" alone is legal JSON but not a character
        raise FileError("data_not_text", path=path, line=number, name=key, value=shown(value)) from error
    return normalize("NFC", value)  # an escape such as \u1112 is not in NFC before it is read
