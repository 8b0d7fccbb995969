"""Draws pictures of lessons in its own process: reads lines of JSON, writes two files and a line for each.

`python -m glassformer.textbook.painter`
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.files import write_bytes
from glassformer.lessons.catalogue import lesson
from glassformer.lessons.lesson import drawn
from glassformer.lessons.texts import PictureWords
from glassformer.show.figure import as_png, as_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def paint(name: str, lang: str, data: dict[str, Any], alternative: str, to: Path) -> Figure:
    """Writes TO.png, then TO.svg; each appears whole or not at all. Returns the figure that was drawn."""
    words = PictureWords(name, lang)
    figure = drawn(lesson(name), data, words)
    svg, png = as_svg(figure, name, lang, alternative), as_png(figure, lang)
    for path, content in ((to.with_suffix(".png"), png), (to.with_suffix(".svg"), svg.encode("utf-8"))):
        write_bytes(path, content, durable=False)
    return figure


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        try:
            paint(order["name"], order["lang"], order["data"], order["alternative"], Path(order["to"]))
            said = ""
        except Exception as error:  # a picture that cannot be drawn does not stop the others
            said = f"{type(error).__name__}: {error}".splitlines()[0]
        sys.stdout.write(json.dumps({"error": said}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
