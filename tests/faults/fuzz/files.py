"""Tables as TOML, and bytes that are damaged."""

from collections.abc import Mapping
from random import Random
from typing import Any

from glassformer.config.toml import literal


def toml(tables: Mapping[str, Any]) -> bytes:
    """As TOML as it goes: what cannot be said in it is said somehow, and is refused for that."""
    lines = []
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            lines.append(f"{_said(name)} = {_literal(table)}")
    for name, table in tables.items():
        if isinstance(table, Mapping):
            lines.append(f"[{_said(name)}]")
            lines += [f"{_said(key)} = {_literal(value)}" for key, value in table.items()]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _said(key: object) -> str:
    return literal(str(key))


def _literal(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{_said(key)} = {_literal(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_literal, value)) + "]"
        case int() if not isinstance(value, bool) and abs(value) > 10**4000:
            return "1" + "0" * 5000
    return literal(value)


def damaged(chance: Random, content: bytes) -> bytes:
    """Bytes flipped, cut, doubled, zeroed or put in."""
    at = chance.randint(0, max(len(content) - 1, 0))
    length = chance.choice([1, 1, 2, 8, 100])
    match chance.choice(["flip", "cut", "zero", "insert", "double", "remove", "empty"]):
        case "flip" if content:
            return content[:at] + bytes([content[at] ^ chance.randint(1, 255)]) + content[at + 1 :]
        case "cut":
            return content[:at]
        case "zero":
            return content[:at] + bytes(len(content[at : at + length])) + content[at + length :]
        case "insert":
            return content[:at] + chance.randbytes(chance.randint(1, 6)) + content[at:]
        case "double":
            return content[:at] + content[at : at + length] * 2 + content[at + length :]
        case "remove":
            return content[:at] + content[at + length :]
    return b""
