"""A lesson for the reader: texts with numbers, verdicts in words, the picture. Prints itself."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.errors import UsageError
from glassformer.files import disk, write_bytes
from glassformer.lessons.catalogue import lesson
from glassformer.lessons.index import LessonEntry, entry
from glassformer.lessons.lesson import Lesson, drawn
from glassformer.lessons.lesson_results import JudgedClaim, LessonResults, source, unfilled
from glassformer.lessons.record import LessonResult
from glassformer.lessons.texts import HOLE, PictureWords, fill_numbers, look_up, tables
from glassformer.lessons.verdict import Verdict
from glassformer.show import prose_and_tables
from glassformer.show.figure import as_png, as_svg, standalone
from glassformer.show.template import TEMPLATES, render
from glassformer.show.theme import LIGHT, Theme
from glassformer.words import language, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType

DEPTHS = ("easy", "deep")
KINDS = (".svg", ".png")
PAGE = 100  # columns of a text at most: longer lines are hard to read


@dataclass(frozen=True, repr=False)
class LessonView:
    """A lesson with its result, in a language. `data` are the numbers, `figure()` the picture drawn from them."""

    name: str
    lang: str = field(default_factory=language)
    results: LessonResults = field(default_factory=LessonResults)

    @property
    def shelf(self) -> LessonResults:
        """The old name of `results`, for one release."""
        renamed = say("warnings.renamed", old="LessonView.shelf", new="LessonView.results")
        warnings.warn(renamed, DeprecationWarning, stacklevel=2)
        return self.results

    # --- what was measured ---

    @property
    def lesson(self) -> Lesson:
        return lesson(self.name)

    @property
    def result(self) -> LessonResult | None:
        """None if not measured yet."""
        return self.results.result(self.name)

    @property
    def data(self) -> dict[str, Any]:
        return {} if self.result is None else self.result.data

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        return self.results.verdicts(self.name)

    @property
    def stale(self) -> bool:
        return self.results.stale(self.name)

    # --- in words ---

    def entry(self, lang: str | None = None) -> LessonEntry:
        return entry(self.name, lang or self.lang)

    @property
    def title(self) -> str:
        return self.entry().title

    @property
    def question(self) -> str:
        return self.entry().question

    def part(self, name: str, lang: str | None = None) -> str:
        """The caption, alt, easy or deep text, with its numbers."""
        text: str = tables(lang or self.lang, "lessons", self.name)[name]
        if self.result is None:
            return unfilled(text)
        return fill_numbers(text, self.data, partial(self._insert, lang or self.lang))

    def _insert(self, lang: str, of: str, hole: str) -> str:
        """{{word:path|kind}}: a value of the data in the words of [words.kind]; the results insert the rest."""
        found = HOLE.fullmatch(hole)
        if of != "word" or found is None:
            return self.results.insert(lang, of, hole)
        value, known = (
            str(look_up(self.data, found["path"])),
            tables(lang, "lessons", self.name)["words"][found["form"]],
        )
        said: str = known[value] if value in known else known["number"].format(number=value)
        return said

    def text(self, depth: str = "easy", lang: str | None = None) -> str:
        """Markdown."""
        if depth not in DEPTHS:
            raise UsageError("usage_bad_value", name="depth", value=depth, expected=", ".join(DEPTHS))
        return self.part(depth, lang).strip()

    def answers(self, lang: str | None = None) -> list[JudgedClaim]:
        found = (self.results.answer(claim, lang or self.lang) for claim in self.lesson.claims)
        return [answer for answer in found if answer is not None]

    # --- the picture ---

    def figure(self, theme: Theme = LIGHT, lang: str | None = None) -> Figure:
        return drawn(self.lesson, self.data, PictureWords(self.name, lang or self.lang), theme)

    def svg(self, theme: Theme = LIGHT) -> str:
        """The picture for a page: colours are variables of its style sheet."""
        return as_svg(self.figure(theme), self.name, self.lang, self.part("alt"), theme)

    def save(self, path: Path, theme: Theme = LIGHT) -> Path:
        """Writes the picture as .svg or .png."""
        check_lesson_picture(path)
        if path.suffix.lower() == ".png":
            image = as_png(self.figure(theme), self.lang, theme)
        else:
            image = standalone(self.svg(theme), theme).encode("utf-8")
        with disk(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, image)
        return path

    # --- display ---

    def to_json(self) -> dict[str, Any]:
        found, result = self.lesson, self.result
        return {
            **self.entry().to_json(),
            "easy": self.text("easy"),
            "deep": self.text("deep"),
            "caption": self.part("caption"),
            "formula": found.formula,
            "equation": found.equation,
            "paper": found.paper,
            "sources": [f"src/glassformer/{file}" for file in found.sources],
            "verdicts": [answer.to_json() for answer in self.answers()],
            "stale": self.stale,
            "data": self.data,
            "source": {} if result is None else source(result),
        }

    def shown(self, depth: str) -> RenderableType:
        """Everything but the picture, for a terminal."""
        from rich.console import Group
        from rich.constrain import Constrain
        from rich.markdown import Markdown
        from rich.padding import Padding
        from rich.text import Text

        found = self.lesson
        lines: list[RenderableType] = [Text(self.title, style="bold underline"), Text(self.question, style="italic")]
        lines.append(Text())
        if found.formula:
            lines += [Padding(Text(found.formula, style="bold"), (0, 0, 0, 4)), Text()]
        for part in prose_and_tables(self.text(depth), self.lang):
            lines += [Constrain(Markdown(part) if isinstance(part, str) else part, PAGE), Text()]
        for answer in self.answers():
            mark, style = MARKS[answer.verdict]
            lines.append(
                Text.assemble((f"{mark} {say(f'verdicts.{answer.verdict}', self.lang)}", style), f"  {answer.claim}")
            )
            lines += [Padding(Text(part), (0, 0, 0, 2)) for part in (answer.says, answer.condition) if part]
        lines += [Text(), *(Text(f"{label}: {value}", style="dim") for label, value in self.facts().items())]
        return Group(*lines)

    def facts(self) -> dict[str, str]:
        """Files, section of the paper, command, provenance: label → value."""
        found, result = self.lesson, self.result
        facts = {
            "sources": ", ".join(f"src/glassformer/{file}" for file in found.sources),
            "paper": found.paper,
            "command": f"glassformer lesson {self.name} --fresh",
            "source": "" if result is None else provenance(result, self.lang),
            "stale": say("lesson.stale", self.lang) if self.stale else "",
        }
        return {say(f"lesson.facts.{key}", self.lang): value for key, value in facts.items() if value}

    def __repr__(self) -> str:
        from rich.console import Console

        console = Console(width=100, force_jupyter=False, highlight=False, markup=False, emoji=False)
        with console.capture() as text:
            console.print(self.shown("easy"))
        return text.get()

    def _repr_html_(self) -> str:
        values = {
            "title": self.title,
            "picture": self.svg(),
            "theme": LIGHT,
            "answers": [(say(f"verdicts.{answer.verdict}", self.lang), answer) for answer in self.answers()],
            "further": say("report.further", self.lang),
        }
        return render(TEMPLATES / "lesson.html", values)


MARKS = {
    "confirmed": ("✓", "bold green"),
    "refuted": ("✗", "bold red"),
    "depends": ("◐", "bold yellow"),
    "undecided": ("?", "bold blue"),
}


def check_lesson_picture(path: Path) -> None:
    """Raises if a picture cannot be drawn into this file; called before anything is computed."""
    if path.suffix.lower() not in KINDS:
        raise UsageError("lesson_picture", path=path)


def provenance(result: LessonResult, lang: str) -> str:
    """One line on where the numbers come from."""
    machine = say("lesson.machine", lang, cores=result.machine.get("cores", "?"))
    card = result.machine.get("accelerator") or ""
    versions = ", ".join(f"{package} {version}" for package, version in result.versions.items())
    return say(
        "lesson.provenance",
        lang,
        commit=result.commit,
        versions=versions,
        machine=f"{machine}, {card}" if card else machine,
        seeds=_range(result.seeds),
        seconds=f"{result.seconds:g}",
    )


def _range(seeds: list[int]) -> str:
    """0–4 for consecutive seeds."""
    in_a_row = len(seeds) > 2 and seeds == list(range(seeds[0], seeds[0] + len(seeds)))
    return f"{seeds[0]}–{seeds[-1]}" if in_a_row else ", ".join(map(str, seeds))
