from __future__ import annotations

import pytest

from glassformer.lessons.evaluation.docstrings import docstrings


@pytest.mark.slow
def test_nothing_stands_in_both_parts() -> None:
    train, validation = docstrings("train"), docstrings("validation")
    assert sum(map(len, train)) > sum(map(len, validation)) > 50_000
    assert not set(train) & set(validation)
    assert len(set(train)) == len(train)
