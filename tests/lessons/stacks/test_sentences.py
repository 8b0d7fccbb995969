from __future__ import annotations

import pytest

from glassformer.lessons.stacks.sentences import HELD_OUT, SENTENCE, batch_of, follow, held_out, plain
from glassformer.loading import load
from lesson_models import tiny


def test_the_sentence_of_the_page_is_held_out() -> None:
    found = held_out(40)
    assert HELD_OUT in [pair.source_ko for pair in found]
    assert {pair.tags.split for pair in found} == {"validation"}
    assert plain("▁학교에") == "학교에" and plain("▁") == "_"


@pytest.mark.slow
def test_a_sentence_is_followed_through_both_sides() -> None:
    loaded = load(tiny("ko-en"), device="cpu")
    found = follow(loaded, SENTENCE, "I go to school")
    own, across = found.trace.attention(), found.trace.attention("cross_attention")
    assert len(own) == 4 and len(across) == 2
    assert own[0].shape[-1] == len(found.source) and across[0].shape[-2:] == (len(found.target), len(found.source))
    batch = batch_of(loaded.config, loaded.vocabularies, held_out(5))
    assert batch.source.shape[0] == 5 and batch.target_in is not None
