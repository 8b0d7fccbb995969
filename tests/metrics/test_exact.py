from __future__ import annotations

from glassformer.metrics.exact import exact_match
from glassformer.metrics.interval import wilson
from glassformer.metrics.outputs import Outputs


def test_only_blanks_around_a_sentence_are_forgiven() -> None:
    outputs = Outputs(["I go. ", "I go", "i go.", "I  go.", ""], ["I go."] * 4 + [""])
    assert exact_match(outputs) == wilson(2, 5)
