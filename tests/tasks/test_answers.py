from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
from rich.console import Console

from glassformer.tasks.answers import Answers


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
