from __future__ import annotations

from glassformer.evaluate.how import How
from glassformer.evaluate.translate import Search


def test_by_default_nothing_is_chosen_and_nobody_told() -> None:
    how = How()
    assert (how.search, how.forensics) == (Search(), False)
    how.progress(1, 2)
