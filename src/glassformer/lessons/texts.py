"""The texts of a lesson in a language: title, easy and deep text, caption, claims, with numbers filled in.

No number is typed: {{path.to.value|.2f}} takes it from the lesson's data, {{LESSON:path|.1%}} from another's.
{{word:path|kind}} gives a value in the words of [words.kind].
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import glassformer.words
from glassformer.show.signs import format_value

HOLE = re.compile(r"\{\{(?:(?P<of>[\w-]+):)?(?P<path>[^{}|]*?)(?:\|(?P<form>[^{}|]*))?\}\}")
Others = Callable[[str, str], str]  # (lesson or "claim", path with its format) → text


@cache
def tables(lang: str, kind: str, name: str) -> dict[str, Any]:
    """words/LANG/KIND/NAME.toml: kind is "lessons" or "pages"."""
    path = Path(glassformer.words.__file__).parent / lang / kind / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class PictureWords:
    """The texts in a lesson's picture: `words("x_axis", d_k=64)` is [picture] x_axis with {d_k} filled in."""

    name: str
    lang: str

    def __call__(self, key: str, /, **values: object) -> str:
        sentence: str = tables(self.lang, "lessons", self.name)["picture"][key]
        return sentence.format(**values) if values else sentence


def fill_numbers(text: str, data: Mapping[str, Any], others: Others | None = None) -> str:
    """A text with its numbers filled in."""

    def put(found: re.Match[str]) -> str:
        if found["of"] and others is not None:
            return others(found["of"], found[0])
        return format_value(look_up(data, found["path"].strip()), found["form"] or "")

    return HOLE.sub(put, text)


def look_up(data: Any, path: str) -> Any:
    """ "curves.0.mean" → data["curves"][0]["mean"]."""
    for key in path.split("."):
        data = data[int(key)] if isinstance(data, list | tuple) else data[key]
    return data
