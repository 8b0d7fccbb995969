from __future__ import annotations

import pytest

from glassformer.lessons.stacks.sentences import (
    HELD_OUT_SENTENCE,
    SENTENCE,
    batch_of,
    teacher_forced,
    validation_sentences,
    without_space_mark,
)
from glassformer.loading import load
from lesson_models import tiny


def test_the_sentence_of_the_page_is_held_out() -> None:
    found = validation_sentences(40)
    assert HELD_OUT_SENTENCE in [pair.source_ko for pair in found]
    assert {pair.tags.split for pair in found} == {"validation"}
    assert without_space_mark("▁학교에") == "학교에" and without_space_mark("▁") == "_"


@pytest.mark.slow
def test_a_sentence_is_followed_through_both_sides() -> None:
    loaded = load(tiny("ko-en"), device="cpu")
    found = teacher_forced(loaded, SENTENCE, "I go to school")
    own, across = found.trace.attention(), found.trace.attention("cross_attention")
    assert len(own) == 4 and len(across) == 2
    assert own[0].shape[-1] == len(found.source) and across[0].shape[-2:] == (len(found.target), len(found.source))
    batch = batch_of(loaded.config, loaded.vocabularies, validation_sentences(5))
    assert batch.source.shape[0] == 5 and batch.target_in is not None
