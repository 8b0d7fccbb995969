from __future__ import annotations

from math import log

import pytest

from lesson_models import tiny_result


@pytest.mark.slow
def test_the_steps_are_those_of_the_search_and_another_model_writes_something_else() -> None:
    one, other = (tiny_result("generation", seed) for seed in (0, 1))
    assert [step["probability"] for step in one["steps"]] != [step["probability"] for step in other["steps"]]
    way = [node for node in one["tree"]["nodes"] if node["way"]]
    assert [node["token"] for node in way] == [step["token"] for step in one["steps"]]
    written = sum(log(step["probability"]) for step in one["steps"])
    assert way[-1]["cumulative"] == pytest.approx(written, abs=1e-3)
    for row in one["weights"]:
        assert sum(row) == pytest.approx(1, abs=1e-5)
