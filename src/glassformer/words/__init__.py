"""Everything that a person reads, in English and Korean: en/ and ko/ hold the same files with the same keys."""

from __future__ import annotations

import os
import tomllib
from functools import cache
from pathlib import Path

LANGUAGES = ("en", "ko")


@cache
def sentences(lang: str) -> dict[str, str]:
    """All sentences of a language, by dotted key."""
    files = sorted((Path(__file__).parent / lang).glob("*.toml"))
    return {key: text for file in files for key, text in _flatten("", tomllib.loads(file.read_text(encoding="utf-8")))}


def _flatten(prefix: str, table: dict[str, object]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for key, value in table.items():
        path = f"{prefix}.{key}" if prefix else key
        pairs += _flatten(path, value) if isinstance(value, dict) else [(path, str(value))]
    return pairs


def say(key: str, lang: str | None = None, /, **values: object) -> str:
    """The sentence behind a key, with the values filled in."""
    sentence = sentences(lang or language())[key]
    return sentence.format(**values) if values else sentence


def language() -> str:
    """GLASSFORMER_LANG if it is set, else the locale, else English."""
    for variable in ("GLASSFORMER_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(variable, "")
        if value:
            return "ko" if value.lower().startswith("ko") else "en"
    return "en"
