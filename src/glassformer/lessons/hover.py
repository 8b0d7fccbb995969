"""Values that show themselves under the pointer: a mark on an artist, which the SVG turns into a <title>."""

from __future__ import annotations

from typing import Any

from glassformer.lessons.texts import typeset

MARK = "hover:"


def hover(artist: Any, text: str) -> None:
    """Say `text` where the pointer rests on the artist. PNGs do not know of it."""
    artist.set_gid(MARK + typeset(text))
