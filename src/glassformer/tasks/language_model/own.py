"""A text of the user's own: the context of the default recipe must fit a short one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassformer.data.documents import HELD_OUT_SHARE, read_documents
from glassformer.errors import InputError, Phrase

CONTEXT = 64  # of own-text
LEAST_TEXT = 200  # characters


def fitting_context(path: Path, known: Mapping[str, Any]) -> dict[str, Any]:
    """The context for a text: its last tenth, if short, must still hold a window and the next character."""
    if {"data.source.by_line", "data.source.validation", "task.context"} & set(known):
        return {}
    texts = read_documents(path)
    if len(texts) > 1:
        return {}
    if texts.characters < LEAST_TEXT:
        count, what = texts.characters, Phrase("own.what.characters")
        raise InputError("own_too_few", path=path, count=count, least=LEAST_TEXT, what=what)
    tail = int(texts.characters * HELD_OUT_SHARE) - 1
    return {"task.context": tail} if tail < CONTEXT else {}
