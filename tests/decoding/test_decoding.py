from __future__ import annotations

import pytest

from decoding import ENDS, lively, sources
from glassformer.decoding import DECODERS, LENGTH_NORMS, STOP_RULES


@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder_is_called_alike_and_answers_alike(name: str) -> None:
    for family in ("encoder-decoder", "decoder"):
        found = DECODERS[name](lively(family), *sources(3), max_len=4, **ENDS)
        assert [len(best) for best in found] == [1, 1, 1]
        assert all(len(best.tokens) <= 4 for (best,) in found)


def test_the_names_of_the_choices() -> None:
    assert list(DECODERS) == ["greedy", "sample", "beam"]
    assert list(LENGTH_NORMS) == ["gnmt", "power", "none"]
    assert list(STOP_RULES) == ["first", "bound", "exhaustive"]
