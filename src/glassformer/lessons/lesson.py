"""A lesson: a value with three functions. Report, command line, notebooks and tests use the same three."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from glassformer.lessons.verdict import Verdict
from glassformer.show.figure import finish
from glassformer.show.theme import LIGHT, Theme, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from glassformer.lessons.setup import LessonSetup
    from glassformer.lessons.texts import PictureWords

SEEDS = 5  # the fewest that give a useful interval
Data = Mapping[str, Any]  # JSON: numbers, texts, lists and tables of them


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """`run` measures, `verdicts` judges the claims by the rule in its docstring, `draw` makes the picture.

    They exchange JSON, so that an old result, or one from another machine, is judged and drawn the same way.
    """

    run: Callable[[LessonSetup], Data]
    verdicts: Callable[[Data], Mapping[str, Verdict]]
    draw: Callable[[Data, Theme, PictureWords], Figure]
    claims: tuple[str, ...] = ()  # the ids that `verdicts` answers
    seeds: int = SEEDS  # more if the effect is small compared with its spread
    models: tuple[str, ...] = ()  # trained models that it looks at: those of the package, else of the recipes
    runs: tuple[str, ...] = ()  # recipes whose own training it shows
    equation: str = ""  # LaTeX
    formula: str = ""  # the same in Unicode, for a terminal
    paper: str = ""  # its place in "Attention Is All You Need": "§3.2.1, Eq. (1)"
    sources: tuple[str, ...] = ()  # the files it explains, relative to src/glassformer/: "layers/attention/kernel.py"
    picture: str = ""  # file name of the picture in reports; default: the lesson's name


def no_verdicts(data: Data) -> Mapping[str, Verdict]:
    """The verdicts of a lesson that makes no claim."""
    return {}


def drawn(lesson: Lesson, data: Data, words: PictureWords, theme: Theme = LIGHT) -> Figure:
    """The figure of a lesson in a theme and a language."""
    with styled(theme, words.lang):
        return finish(lesson.draw(data, theme, words))
