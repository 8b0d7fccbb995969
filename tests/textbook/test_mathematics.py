from __future__ import annotations

import warnings

import pytest

from glassformer.lessons.catalogue import LESSONS, lesson
from glassformer.textbook.mathematics import mathml


def test_a_word_is_one_name() -> None:
    made = mathml(r"\mathrm{softmax}(x)", "softmax(x)")
    assert "<mi>softmax</mi>" in made
    assert made.startswith('<math aria-label="softmax(x)" ') and 'display="block"' in made


def test_what_is_read_aloud_is_escaped() -> None:
    assert 'aria-label="a &lt; &quot;b&quot;"' in mathml("a", 'a < "b"')


@pytest.mark.parametrize("name", [name for name in LESSONS if lesson(name).equation])
def test_every_equation_is_understood(name: str) -> None:
    """A command that is not known would stand in it with its backslash."""
    found = lesson(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "\\" not in mathml(found.equation, found.formula)
