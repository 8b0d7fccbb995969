"""What the first page shows beside its text: the map with its boxes as links, the tally of verdicts, paths by hours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

from glassformer.lessons.catalogue import PATHS
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.view import MARKS, LessonView
from glassformer.textbook.book import Book, Stop, stop
from glassformer.textbook.cards import Say, figure

MAP = "architecture"  # the lesson whose picture it is


@dataclass(frozen=True)
class MapBox:
    """A box of the map: its label in the picture, the modules that it stands for, the lessons that open it."""

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


def _lessons(book: Book) -> dict[str, LessonView]:
    return {view.name: view for view in book.lessons}


def _label(box: MapBox, lang: str) -> str:
    return PictureWords(MAP, lang)(box.label).replace("\n", " ")


def _link(to: Stop) -> str:
    return f'<a href="#{to.anchor}">{escape(to.title)}</a>'


# --- HTML ---


def map_html(book: Book, words: Say) -> str:
    """The picture with its boxes as links, and the same links as a list, for whoever cannot point at a picture."""
    views = _lessons(book)
    rows = "".join(
        f"<dt>{escape(_label(box, book.lang))}</dt>"
        f"<dd>{', '.join(_link(stop(views[name])) for name in box.lessons)}</dd>"
        for box in BOXES
    )
    picture = book.pictures.get(MAP)
    shown = ""
    if picture is not None and picture.svg:
        shown = figure(linked(picture.svg, book), words("map"), escape(words("map_caption")), words)
    return f'<div class="map">{shown}<dl class="facts">{rows}</dl></div>'


def linked(svg: str, book: Book) -> str:
    """The picture of the lesson with names of its own and a link around every box.

    A picture (`role="img"`) has no parts for a reader aloud; one with links is a group.
    """
    views = _lessons(book)
    svg = re.sub(rf'(id="|url\(#|href="#){MAP}-', r"\1map-", svg).replace('role="img"', 'role="group"', 1)
    for box in BOXES:
        title = escape(views[box.lessons[0]].title)
        for module in box.modules:
            mark = re.compile(rf'(<g class="hover"><title>{re.escape(module)} · [^<]*</title>)(.*?)(</g>)', re.DOTALL)
            svg = mark.sub(rf'\1<a href="#{box.lessons[0]}" aria-label="{title}">\2</a>\3', svg)
    return svg


def tally_html(book: Book, words: Say) -> str:
    """How many claims have which verdict; each number leads to them."""
    items = "".join(
        f'<li class="{verdict or "open"}"><a href="#claims-{verdict or "open"}"><b>{len(claims)}</b> '
        f"{_sign(verdict)}{escape(_word(verdict, words))}</a></li>"
        for verdict, claims in book.tally.items()
        if claims or verdict
    )
    return f'<p>{escape(words("tally", count=len(book.answers)))}</p><ul class="tally">{items}</ul>'


def _sign(verdict: str) -> str:
    return f'<span aria-hidden="true">{MARKS[verdict][0]}</span> ' if verdict else ""


def _word(verdict: str, words: Say) -> str:
    return words.verdict(verdict) if verdict else words("unmeasured")


def paths_html(book: Book, words: Say) -> str:
    """For each number of hours, what to read and how; the lessons unfold."""
    views = _lessons(book)
    parts = []
    for hours, names in PATHS.items():
        items = "".join(f"<li>{_link(stop(views[name]))}</li>" for name in names)
        parts.append(
            f'<details class="path"><summary>{escape(words("path", hours=hours, count=len(names)))} '
            f"<span>{escape(words(f'path_how.{hours}'))}</span></summary><ol>{items}</ol></details>"
        )
    return f"<p>{escape(words('paths'))}</p>{''.join(parts)}"


# --- Markdown ---


def _reference(to: Stop) -> str:
    return f"[{to.title}](#{to.anchor})"


def map_markdown(book: Book, picture: str) -> str:
    views = _lessons(book)
    rows = [
        f"- {_label(box, book.lang)}: {', '.join(_reference(stop(views[name])) for name in box.lessons)}"
        for box in BOXES
    ]
    alternative = views[MAP].part("alt").replace("]", ")").replace("[", "(")
    image = [] if views[MAP].result is None else [f"![{alternative}]({picture})", ""]
    return "\n".join([*image, *rows])


def tally_markdown(book: Book, words: Say) -> str:
    counts = [
        f"[**{len(claims)}** {_word(verdict, words)}](#claims-{verdict or 'open'})"
        for verdict, claims in book.tally.items()
        if claims or verdict
    ]
    return f"{words('tally', count=len(book.answers))} {' · '.join(counts)}"


def paths_markdown(book: Book, words: Say) -> str:
    views = _lessons(book)
    parts = [words("paths")]
    for hours, names in PATHS.items():
        head = f"**{words('path', hours=hours, count=len(names))}** {words(f'path_how.{hours}')}"
        parts.append(f"{head} " + " → ".join(_reference(stop(views[name])) for name in names))
    return "\n\n".join(parts)
