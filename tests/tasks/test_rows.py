from __future__ import annotations

import pytest

from glassformer.errors import InputError
from glassformer.loading import Loaded
from glassformer.tasks.rows import rows
from small_models import small


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    return small("classification")


def test_texts_of_like_length_stand_together(loaded: Loaded) -> None:
    found = list(rows(loaded, [[9, 8, 7, 6], [5], [4, 3], [2, 1]], at_once=2))
    assert [some.places for some in found] == [[1, 2], [3, 0]]
    assert found[0].tokens.tolist() == [[5, 0], [4, 3]]
    assert found[0].mask is not None and found[0].mask.tolist() == [[True, False], [True, True]]


def test_without_padding_there_is_no_mask(loaded: Loaded) -> None:
    (found,) = rows(loaded, [[4, 3], [2, 1]])
    assert found.mask is None


def test_no_texts_no_rows(loaded: Loaded) -> None:
    assert list(rows(loaded, [])) == []


def test_a_text_without_tokens_is_refused(loaded: Loaded) -> None:
    with pytest.raises(InputError, match="the text is empty: there is no token in it; give at least one"):
        list(rows(loaded, [[1], []]))
