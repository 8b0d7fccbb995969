"""The report as Markdown: the same texts, with pictures as PNG files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from glassformer.files import disk, write_bytes, write_text
from glassformer.lessons.catalogue import NUMBERS
from glassformer.lessons.lesson_results import in_line
from glassformer.lessons.view import LessonView, provenance
from glassformer.show import Column, Table
from glassformer.textbook.book import Book, Page, Say, Stop
from glassformer.textbook.front import MAP, boxes, paths
from glassformer.textbook.predicted import Card
from glassformer.textbook.run import RunChapter
from glassformer.textbook.run_page import run_markdown
from glassformer.words import say


def write_markdown(book: Book, out: Path, run: RunChapter | None = None, card: Card | None = None) -> Path:
    """Writes report.LANG.md, pictures/LANG/*.png and numbers/*.json."""
    folder = out / "pictures" / book.lang
    with disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, picture in book.pictures.items():
        if picture.png:
            write_bytes(folder / f"{picture_name(book, name)}.png", picture.png, durable=False)
    for view in book.lessons:
        if view.result is not None:
            view.result.write(out / "numbers")
    path = out / f"report.{book.lang}.md"
    chapter = [] if run is None else list(run_markdown(run, card, Say(book.lang), out))
    title, *rest = blocks(book)
    write_text(path, "\n\n".join([title, *chapter, *rest]) + "\n", durable=False)
    return path


def picture_name(book: Book, name: str) -> str:
    view = next(view for view in book.lessons if view.name == name)
    return view.lesson.picture or name


def blocks(book: Book) -> Iterator[str]:
    yield f"# {say('report.title', book.lang)}"
    for page in book.first:
        yield from _page(page, book)
    for chapter in book.chapters:
        yield f"## {chapter.number} {chapter.title}"
        for view in chapter.lessons:
            yield from _lesson(view, book)
    for page in book.last:
        yield from _page(page, book)


def _page(page: Page, book: Book) -> Iterator[str]:
    yield f"## {page.title}"
    yield page.text(book.results, lambda claim: _claim(claim, book)).strip()
    if page.terms:
        yield "\n".join(
            f"- **{term['term']}** ({term.get('other', '')}): {term['meaning']}" for term in page.terms.values()
        )


def _claim(name: str, book: Book) -> str:
    """The Markdown of a claim, or of one of the parts that a page may contain."""
    words = Say(book.lang)
    match name:
        case "map":
            return map_markdown(book)
        case "tally":
            return tally_markdown(book, words)
        case "paths":
            return paths_markdown(book, words)
        case "claims":
            groups = book.tally.items()
            return "\n\n".join(_claims(verdict, claims, book, words) for verdict, claims in groups if claims)
        case _:
            return in_line(book.answers.get(name), name, book.lang)


def _claims(verdict: str, claims: list[str], book: Book, words: Say) -> str:
    """The claims of one verdict."""
    table = Table(*(Column(words(f"table.{column}")) for column in ("claim", "measured")))
    for claim in claims:
        answer = book.answers[claim]
        table.add(*((claim, "") if answer is None else (answer.claim, answer.decisive)))
    head = f'<a id="claims-{verdict or "open"}"></a>\n\n**{words.verdict(verdict)}: {len(claims)}**'
    return f"{head}\n\n{table.to_markdown()}"


# --- the first page ---


def map_markdown(book: Book) -> str:
    rows = [f"- {label}: {', '.join(map(_link, stops))}" for label, stops in boxes(book).items()]
    view = next(view for view in book.lessons if view.name == MAP)
    return "\n".join([*([] if view.result is None else [_image(view, book), ""]), *rows])


def tally_markdown(book: Book, words: Say) -> str:
    counts = [
        f"[**{len(claims)}** {words.verdict(verdict)}](#claims-{verdict or 'open'})"
        for verdict, claims in book.tally.items()
        if claims or verdict
    ]
    return f"{words('tally', count=len(book.answers))} {' · '.join(counts)}"


def paths_markdown(book: Book, words: Say) -> str:
    parts = [words("paths")]
    for hours, stops in paths(book).items():
        head = f"**{words('path', hours=hours, count=len(stops))}** {words(f'path_how.{hours}')}"
        parts.append(f"{head} " + " → ".join(map(_link, stops)))
    return "\n\n".join(parts)


def _link(to: Stop) -> str:
    return f"[{to.title}](#{to.anchor})"


def _image(view: LessonView, book: Book) -> str:
    alternative = view.part("alt").replace("]", ")").replace("[", "(")
    return f"![{alternative}](pictures/{book.lang}/{picture_name(book, view.name)}.png)"


# --- a lesson ---


def _lesson(view: LessonView, book: Book) -> Iterator[str]:
    found = view.lesson
    yield f'<a id="{view.name}"></a>\n\n### {NUMBERS[view.name]} {view.title}'
    yield f"*{view.question}*"
    if view.result is None:
        yield f"> {say('report.lesson_unmeasured', book.lang)} `glassformer lesson {view.name} --fresh`"
    elif view.stale:
        yield f"> {say('report.lesson_stale', book.lang)} `glassformer lesson {view.name} --fresh`"
    yield view.text("easy")
    if view.result is not None:
        yield _image(view, book)
        yield view.part("caption").strip()
    yield f"#### {say('report.deeper', book.lang)}"
    if found.formula:
        yield f"```text\n{found.formula}\n```"
    yield view.text("deep")
    for claim in found.claims:
        answer = book.answers[claim]
        further = [] if answer is None else [f"  - {part}" for part in answer.further]
        yield "\n".join([f"- {_claim(claim, book)} `glassformer claims {claim} --fresh`", *further])
    facts = [found.paper, *(f"`src/glassformer/{path}`" for path in found.sources)]
    if view.result is not None:
        facts.append(f"`{view.result.command}`: {provenance(view.result, book.lang)}")
    yield "<sub>" + " · ".join(filter(None, facts)) + "</sub>"
