"""Reading TOML files, with errors of one line, and writing plain tables as TOML."""

from __future__ import annotations

import errno
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassformer.errors import FileError

LARGEST_FILE = 2**20
MOST_DOTS = 256  # in one line: tomllib's time for a dotted key grows with the square of its parts


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as a dict. Anything wrong raises an error of one line that names the file."""
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not path.is_file():
            raise FileError("no_such_file", path=path)
        if path.stat().st_size > LARGEST_FILE:
            raise FileError("file_too_large", path=path, size=path.stat().st_size, limit=LARGEST_FILE)
        text = path.read_bytes().decode("utf-8")
        if any(line.count(".") > MOST_DOTS for line in text.split("\n")):
            raise FileError("toml_too_deep", path=path)
        return tomllib.loads(text)
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise FileError("not_utf8", path=path, byte=error.start) from error
    except RecursionError as error:
        raise FileError("toml_too_deep", path=path) from error
    except tomllib.TOMLDecodeError as error:
        raise FileError("not_toml", path=path, why=str(error).splitlines()[0]) from error
    except ValueError as error:  # Python does not read numbers of more than 4,300 digits
        raise FileError("toml_number", path=path) from error


def to_toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Tables of plain values and lists → TOML; nested tables are written inline."""
    lines: list[str] = []
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {literal(value)}" for key, value in table.items()), ""]
    return "\n".join(lines)


def literal(value: object) -> str:
    """One value as TOML writes it."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in escaped) + '"'
        case list() | tuple():
            return "[" + ", ".join(map(literal, value)) + "]"
        case Mapping():
            return "{ " + ", ".join(f"{key} = {literal(item)}" for key, item in value.items()) + " }"
    raise TypeError(f"TOML has no {type(value).__name__}")
