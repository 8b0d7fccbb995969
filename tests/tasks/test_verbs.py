from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from glassformer.errors import InputError
from glassformer.tasks.classification.classify import classify
from glassformer.tasks.translation.translate import translate
from glassformer.tasks.verbs import check_verb, verb_of
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
