from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from decoding import ENDS, lively, sources
from glassformer.decoding import LENGTH_NORMS, STOP_RULES, Limits, beam_search, greedy, sample


@pytest.mark.parametrize("decode", [greedy, sample, beam_search])
def test_every_decoder_is_called_alike_and_answers_alike(decode: Callable[..., Any]) -> None:
    for family in ("encoder-decoder", "decoder"):
        found = decode(lively(family), *sources(3), limits=Limits(max_len=4, **ENDS))
        assert [len(best) for best in found] == [1, 1, 1]
        assert all(len(best.tokens) <= 4 for (best,) in found)


def test_the_names_of_the_choices() -> None:
    assert list(LENGTH_NORMS) == ["gnmt", "power", "none"]
    assert list(STOP_RULES) == ["first", "bound", "exhaustive"]
