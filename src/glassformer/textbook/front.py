"""What the first page shows besides its text: the map with its boxes as links, and reading paths by hours."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markupsafe import Markup, escape

from glassformer.lessons.catalogue import PATHS
from glassformer.lessons.texts import PictureWords
from glassformer.textbook.book import Book, Stop

MAP = "architecture"  # the lesson whose picture is the map


@dataclass(frozen=True)
class MapBox:
    """A box of the map: its label in the picture, its modules, and the lessons about it."""

    label: str
    modules: tuple[str, ...]
    lessons: tuple[str, ...]


_READS, _WRITES = "encoder.blocks.0", "decoder.blocks.0"  # the layers that are drawn
_NORMED = (
    *(f"{_READS}.self_attention", f"{_READS}.feed_forward"),
    *(f"{_WRITES}.self_attention", f"{_WRITES}.cross_attention", f"{_WRITES}.feed_forward"),
)
BOXES = (
    MapBox("embedding", ("embedding",), ("token_embedding",)),
    MapBox("positions", ("encoder.positions", "decoder.positions"), ("positional_encoding",)),
    MapBox("encoder_self_attention", (f"{_READS}.self_attention",), ("worked_example",)),
    MapBox("norm", tuple(f"{path}_norm" for path in _NORMED), ("layer_norm", "residual")),
    MapBox("encoder_feed_forward", (f"{_READS}.feed_forward", f"{_WRITES}.feed_forward"), ("feed_forward",)),
    MapBox("decoder_self_attention", (f"{_WRITES}.self_attention",), ("look_ahead_mask",)),
    MapBox("decoder_cross_attention", (f"{_WRITES}.cross_attention",), ("decoder_attention",)),
    MapBox("head", ("head",), ("generation",)),
)


def boxes(book: Book) -> dict[str, list[Stop]]:
    """The lessons about each box, by its label in the picture."""
    label = PictureWords(MAP, book.lang)
    return {label(box.label).replace("\n", " "): [book.stops[name] for name in box.lessons] for box in BOXES}


def paths(book: Book) -> dict[int, list[Stop]]:
    """What to read in a number of hours."""
    return {hours: [book.stops[name] for name in names] for hours, names in PATHS.items()}


def picture(book: Book) -> Markup:
    """The map; "" if it is not drawn."""
    drawn = book.pictures.get(MAP)
    return Markup() if drawn is None or not drawn.svg else linked(drawn.svg, book)


def linked(svg: str, book: Book) -> Markup:
    """The lesson's picture with ids of its own and a link around every box.

    A screen reader sees no parts in `role="img"`, so with links it becomes a group.
    """
    titles = {view.name: view.title for view in book.lessons}
    svg = re.sub(rf'(id="|url\(#|href="#){MAP}-', r"\1map-", svg).replace('role="img"', 'role="group"', 1)
    for box in BOXES:
        title = escape(titles[box.lessons[0]])
        for module in box.modules:
            mark = re.compile(rf'(<g class="hover"><title>{re.escape(module)} · [^<]*</title>)(.*?)(</g>)', re.DOTALL)
            svg = mark.sub(rf'\1<a href="#{box.lessons[0]}" aria-label="{title}">\2</a>\3', svg)
    return Markup(svg)
