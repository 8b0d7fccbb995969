from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from rich.console import Console

from glassformer.errors import InputError
from glassformer.tasks.classification.classify import classify
from glassformer.tasks.translation.translate import translate
from glassformer.tasks.verbs import Answers, check_verb, verb_of
from small_models import MODELS, small

ASKED: dict[str, Callable[..., Any]] = {"translate": translate, "classify": classify}


@pytest.mark.parametrize("task", MODELS)
def test_a_model_does_what_it_was_made_for(task: str) -> None:
    check_verb(small(task), verb_of(task))


@pytest.mark.parametrize("task", MODELS)
@pytest.mark.parametrize("verb", ASKED)
def test_a_model_that_is_asked_for_something_else_says_what_it_can_do(task: str, verb: str) -> None:
    if verb_of(task) == verb:
        pytest.skip("it fits")
    said = f"small-{task.replace('_', '-')} was made for the task '{task}', and cannot {verb}; use glassformer"
    with pytest.raises(InputError, match=f"{said} {verb_of(task)}$") as caught:
        ASKED[verb](small(task), ["가"])
    assert caught.value.in_language("ko").endswith(f"glassformer {verb_of(task)} 명령을 쓰세요")


@dataclass(frozen=True)
class Said:
    text: str
    columns: ClassVar[tuple[str, ...]] = ("input", "label")

    def lines(self) -> list[list[str]]:
        return [[self.text, "a"], ["", "b"]]


def test_answers_are_a_list() -> None:
    some = Answers([Said("x"), Said("y")])
    assert some == [Said("x"), Said("y")] and some[1].text == "y" and isinstance(some, list)


@pytest.mark.parametrize(("lang", "titles"), [("en", ("input", "class")), ("ko", ("입력", "클래스"))])
def test_they_show_themselves_as_a_table(lang: str, titles: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", lang)
    some = Answers([Said("[bold]x"), Said("<y>")])
    console = Console(width=60)
    with console.capture() as drawn:
        console.print(some)
    for shown in (drawn.get(), repr(some)):
        assert all(word in shown for word in (*titles, "[bold]x", "<y>", "b"))
    html = some._repr_html_()
    assert html.startswith(
        f"<table><thead><tr><th>{titles[0]}</th><th>{titles[1]}</th></tr></thead><tbody><tr><td>[bold]x</td>"
    )
    assert "&lt;y&gt;" in html and "<y>" not in html


def test_no_answers_no_lines() -> None:
    assert Answers([])._repr_html_() == "<table><tbody></tbody></table>"
    assert repr(Answers([])).strip() == ""
