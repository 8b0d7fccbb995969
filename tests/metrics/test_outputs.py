from __future__ import annotations

import pytest

from glassformer.errors import InputError
from glassformer.metrics.bleu import bleu, chrf, ter
from glassformer.metrics.exact import exact_match
from glassformer.metrics.forensics import judge
from glassformer.metrics.outputs import Outputs, refuse_teacher_forced


def test_one_translation_for_each_reference() -> None:
    assert len(Outputs(["a", ""], ["b", "c"])) == 2
    with pytest.raises(InputError, match="1 translations for 2 references; give one for each"):
        Outputs(["a"], ["a", "b"])
    with pytest.raises(InputError, match="there is nothing to score; give at least one sentence"):
        Outputs([], [])


@pytest.mark.parametrize("score", [bleu, chrf, ter, exact_match, judge, refuse_teacher_forced])
def test_teacher_forced_output_is_refused_by_every_score_and_says_why(score: object) -> None:
    assert callable(score)
    outputs = Outputs(["a b"], ["a b"], teacher_forced=True)
    with pytest.raises(InputError, match="teacher-forced output is refused: the model saw each reference word") as no:
        score(outputs)
    assert "교사 강요" in no.value.in_language("ko")
    refuse_teacher_forced(Outputs(["a b"], ["a b"]))
