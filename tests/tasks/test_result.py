from __future__ import annotations

from glassformer.tasks.result import EvaluationOptions, set_apart
from glassformer.tasks.search import SearchOptions


def test_by_default_nothing_is_chosen_and_nobody_told() -> None:
    options = EvaluationOptions()
    assert (options.search, options.forensics) == (SearchOptions(), False)
    options.progress(1, 2)


def test_what_is_longer_than_training_stands_apart_unless_it_stands_alone() -> None:
    assert set_apart(["seen-like", "long"]) == ("long",)
    assert set_apart(["long"]) == set_apart(["test"]) == ()
