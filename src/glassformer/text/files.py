"""The files of a tokenizer: read with a limit, checked before a library sees them, written whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassformer.errors import FileError, Phrase, shown
from glassformer.files import disk, write_bytes
from glassformer.text.corpus import LARGEST_VOCABULARY

CONFIG = "tokenizer_config.json"  # Hugging Face's name and keys, with our own beside them
LARGEST_TOKENIZER = 2**28  # the largest published ones have 35 MB
FORMAT = 1


def read_bytes(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > LARGEST_TOKENIZER:
            raise FileError("tokenizer_too_large", path=path, size=size, limit=LARGEST_TOKENIZER)
        return path.read_bytes()
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error


def read_text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError("not_utf8", path=path, byte=error.start) from error


def read_table(path: Path) -> dict[str, Any]:
    """A JSON file that holds an object."""
    try:
        table = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise damaged(path, error) from error
    if not isinstance(table, dict):
        raise FileError("tokenizer_damaged", path=path, why=Phrase("expected.json_object"))
    return table


def read_vocabulary(path: Path) -> dict[str, int]:
    """Piece → id, of a vocab.json: the ids from 0 on, each of them once."""
    try:
        table = json.loads(read_text(path), object_pairs_hook=_Pairs)
    except (ValueError, RecursionError) as error:
        raise damaged(path, error) from error
    if not isinstance(table, _Pairs):
        raise FileError("tokenizer_damaged", path=path, why=Phrase("expected.json_object"))
    if not 0 < len(table) <= LARGEST_VOCABULARY:
        raise FileError("tokenizer_ids", path=path, last=len(table) - 1, limit=LARGEST_VOCABULARY)
    pieces: dict[str, int] = {}
    seen: dict[int, str] = {}
    for piece, token in table:
        if isinstance(token, bool) or not isinstance(token, int) or not 0 <= token < len(table):
            raise FileError("piece_number", path=path, piece=shown(piece), token=shown(token), last=len(table) - 1)
        if token in seen or piece in pieces:
            raise FileError("piece_twice", path=path, piece=shown(piece), token=token)
        pieces[piece], seen[token] = token, piece
    return pieces


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON as it is written, with the keys that it repeats."""


def damaged(path: Path, error: BaseException) -> FileError:
    """A library's complaint about a file, in one line."""
    said = str(error).strip().splitlines() or [type(error).__name__]
    return FileError("tokenizer_damaged", path=path, why=said[0])


def read_config(folder: Path) -> dict[str, Any]:
    """What the folder says about its tokenizer; nothing, where it says nothing."""
    path = folder / CONFIG
    if not path.is_file():
        return {}
    config = read_table(path)
    if isinstance(config.get("format"), int) and config["format"] > FORMAT:
        raise FileError("tokenizer_newer", path=path, format=config["format"], known=FORMAT)
    return config


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Each file is complete or not there at all."""
    with disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_bytes(folder / name, content)


def to_json(table: Mapping[str, Any]) -> bytes:
    return (json.dumps(table, ensure_ascii=False, indent=2) + "\n").encode()
