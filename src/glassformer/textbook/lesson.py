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


def lesson_html(view: LessonView, book: Book, words: Say, *, unfinished: bool = False) -> str:
    """`unfinished`: pictures are still being drawn."""
    found, title = view.lesson, escape(view.title)
    claims = "".join(
        card(claim, sentence, book.answers[claim], words) for claim, sentence in view.entry().claims.items()
    )
    heading = f'<h4 class="hidden">{escape(words("claims"))}</h4>' if claims else ""
    cards = f'<div class="claims">{heading}{claims}</div>' if claims else ""
    equation = mathml(found.equation, found.formula) if found.equation else ""
    if equation:
        equation = f'<div class="equation" tabindex="0" role="group">{equation}</div>'
    return (
        f'<article class="lesson" id="{view.name}" data-find="{title}">'
        f'<header><p class="eyebrow">{NUMBERS[view.name]}</p><h3>{title}</h3>'
        f'<p class="question">{line(view.question)}</p></header>'
        f"{_warning(view, words)}"
        f'<div class="easy">{html(view.text("easy"), level=4)}</div>'
        f"{_figure(view, book, words, unfinished)}"
        f'<details class="deep"><summary>{escape(words("deeper"))}</summary><div>'
        f"{equation}{html(view.text('deep'), level=4)}{_facts(view, words)}</div></details>"
        f"{cards}{_source(view, words)}{turn(book.turns[view.name], words)}</article>"
    )


def _warning(view: LessonView, words: Say) -> str:
    """Not measured, or stale; nothing where all is well."""
    if view.result is None:
        why = words("lesson_unmeasured")
    elif view.stale:
        why = words("lesson_stale")
    else:
        return ""
    command = f"glassformer lesson {view.name} --fresh"
    return f'<p class="note">{escape(why)} <code>{command}</code></p>'


def _figure(view: LessonView, book: Book, words: Say, unfinished: bool) -> str:
    picture = book.pictures.get(view.name)
    if picture is None:
        return ""
    drawn = picture.svg
    command = "" if unfinished else f" <code>glassformer lesson {view.name} --fresh</code>"
    why = words("not_drawn" if unfinished else "undrawable")
    inside = drawn or f'<p class="note">{escape(why)}{command}</p>'
    hint = f'<span class="hint needs-script">{escape(words("hover"))}</span>' if 'class="hover"' in drawn else ""
    return figure(inside, words("picture_of", title=view.title), f"{line(view.part('caption'))} {hint}", words)


def source_id(path: str) -> str:
    return "source-" + path.removesuffix(".py").replace("/", "-")


def _facts(view: LessonView, words: Say) -> str:
    files = ", ".join(
        f'<a href="#{source_id(path)}"><code>src/glassformer/{escape(path)}</code></a>' for path in view.lesson.sources
    )
    rows = {"paper": escape(view.lesson.paper), "source": files}
    parts = "".join(f"<dt>{escape(words(key))}</dt><dd>{value}</dd>" for key, value in rows.items() if value)
    return f'<dl class="facts">{parts}</dl>'


def _source(view: LessonView, words: Say) -> str:
    """Where the numbers come from, and the numbers."""
    if view.result is None:
        return ""
    table = "".join(
        f"<tr><th scope=row><code>{escape(path)}</code></th><td>{escape(value)}</td></tr>"
        for path, value in numbers.rows(view.data)
    )
    command = f"glassformer lesson {view.name} --json"
    return (
        f"<footer><p><code>{escape(view.result.command)}</code> · {escape(provenance(view.result, view.lang))}</p>"
        f'<details class="numbers"><summary>{escape(words("numbers"))}</summary>'
        f"{boxed(f'<table>{table}</table>')}"
        f"<p>{escape(words('all_numbers'))} <code>{command}</code></p></details></footer>"
    )
