"""One lesson on the page: question, easy text, picture, deep text with its equation, claims, source of the numbers."""

from __future__ import annotations

from html import escape

from glassformer.lessons.catalogue import NUMBERS
from glassformer.lessons.view import LessonView, provenance
from glassformer.textbook import numbers
from glassformer.textbook.book import Book
from glassformer.textbook.cards import Say, card, figure, turn
from glassformer.textbook.mathematics import mathml
from glassformer.textbook.prose import boxed, html, line


def lesson_html(told: LessonView, book: Book, words: Say, *, unfinished: bool = False) -> str:
    """`unfinished`: pictures are still being drawn."""
    found, title = told.lesson, escape(told.title)
    claims = "".join(
        card(claim, sentence, book.answers[claim], words) for claim, sentence in told.entry().claims.items()
    )
    heading = f'<h4 class="hidden">{escape(words("claims"))}</h4>' if claims else ""
    cards = f'<div class="claims">{heading}{claims}</div>' if claims else ""
    equation = mathml(found.equation, found.formula) if found.equation else ""
    if equation:
        equation = f'<div class="equation" tabindex="0" role="group">{equation}</div>'
    return (
        f'<article class="lesson" id="{told.name}" data-find="{title}">'
        f'<header><p class="eyebrow">{NUMBERS[told.name]}</p><h3>{title}</h3>'
        f'<p class="question">{line(told.question)}</p></header>'
        f"{_warning(told, words)}"
        f'<div class="easy">{html(told.text("easy"), level=4)}</div>'
        f"{_figure(told, book, words, unfinished)}"
        f'<details class="deep"><summary>{escape(words("deeper"))}</summary><div>'
        f"{equation}{html(told.text('deep'), level=4)}{_facts(told, words)}</div></details>"
        f"{cards}{_source(told, words)}{turn(book.turns[told.name], words)}</article>"
    )


def _warning(told: LessonView, words: Say) -> str:
    """Not measured, or stale; nothing where all is well."""
    if told.result is None:
        why = words("lesson_unmeasured")
    elif told.stale:
        why = words("lesson_stale")
    else:
        return ""
    command = f"glassformer lesson {told.name} --fresh"
    return f'<p class="note">{escape(why)} <code>{command}</code></p>'


def _figure(told: LessonView, book: Book, words: Say, unfinished: bool) -> str:
    picture = book.pictures.get(told.name)
    if picture is None:
        return ""
    drawn = picture.svg
    command = "" if unfinished else f" <code>glassformer lesson {told.name} --fresh</code>"
    why = words("not_drawn" if unfinished else "undrawable")
    inside = drawn or f'<p class="note">{escape(why)}{command}</p>'
    hint = f'<span class="hint needs-script">{escape(words("hover"))}</span>' if 'class="hover"' in drawn else ""
    return figure(inside, words("picture_of", title=told.title), f"{line(told.part('caption'))} {hint}", words)


def source_id(path: str) -> str:
    return "source-" + path.removesuffix(".py").replace("/", "-")


def _facts(told: LessonView, words: Say) -> str:
    files = ", ".join(
        f'<a href="#{source_id(path)}"><code>src/glassformer/{escape(path)}</code></a>' for path in told.lesson.sources
    )
    rows = {"paper": escape(told.lesson.paper), "source": files}
    parts = "".join(f"<dt>{escape(words(key))}</dt><dd>{value}</dd>" for key, value in rows.items() if value)
    return f'<dl class="facts">{parts}</dl>'


def _source(told: LessonView, words: Say) -> str:
    """Where the numbers come from, and the numbers."""
    if told.result is None:
        return ""
    table = "".join(
        f"<tr><th scope=row><code>{escape(path)}</code></th><td>{escape(value)}</td></tr>"
        for path, value in numbers.rows(told.data)
    )
    command = f"glassformer lesson {told.name} --json"
    return (
        f"<footer><p><code>{escape(told.result.command)}</code> · {escape(provenance(told.result, told.lang))}</p>"
        f'<details class="numbers"><summary>{escape(words("numbers"))}</summary>'
        f"{boxed(f'<table>{table}</table>')}"
        f"<p>{escape(words('all_numbers'))} <code>{command}</code></p></details></footer>"
    )
