from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from glassformer.data import sample as module
from glassformer.data.sample import sample_lines
from glassformer.data.stored_texts import StoredTexts, stored_columns

SIDES = [[f"a{i}" for i in range(50)], [f"b{i}" for i in range(30)]]


def test_few_lines_are_all_taken_in_their_order() -> None:
    for most in (0, 80, 1000):
        assert list(sample_lines(SIDES, most, seed=1)) == [*SIDES[0], *SIDES[1]]


def test_of_many_so_many_are_drawn_by_the_seed_from_all_sides_in_their_order() -> None:
    every = [*SIDES[0], *SIDES[1]]
    drawn = [list(sample_lines(SIDES, 20, seed)) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    for some in drawn:
        assert len(some) == len({*some}) == 20
        assert [*some] == sorted(some, key=every.index)
        assert {line[0] for line in some} == {"a", "b"}


def stored(texts: list[str], place: Path) -> StoredTexts:
    """Texts in the cache."""
    path = place / "texts"
    path.write_text("\n".join(texts))
    (column,), _ = stored_columns((path,), "lines", ("text",), lambda _: ((text,) for text in texts))
    return column


@pytest.mark.usefixtures("own_cache")
def test_of_stored_texts_no_more_lines_than_their_different_words_allow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same, different = stored(["ab cd"] * 100, tmp_path), stored([f"{i:04}" for i in range(100)], tmp_path)
    monkeypatch.setattr(module, "AT_ONCE", 10)
    assert list(sample_lines([same], 0, 0)) == ["ab cd"] * 100
    monkeypatch.setattr(module, "DIFFERENT", 80)
    assert list(sample_lines([same], 0, 0)) == ["ab cd"] * 100  # two words, however many lines
    drawn = list(sample_lines([different], 0, 0))
    assert len(drawn) == 30  # 21 lines of 4 bytes are over it; whole tens are taken
    assert drawn == sorted(drawn)
    order = np.random.default_rng(0).permutation(100)[:30]
    assert drawn == [f"{i:04}" for i in sorted(order)]
