from __future__ import annotations

import numpy as np
import pytest

from glassformer.data.cut import Cut

TEXTS = [tuple(np.array(side, dtype=np.int32) for side in sides) for sides in (([7, 8, 9], [7]), ([], [7]), ([8], [9]))]


@pytest.mark.parametrize(
    ("cut", "expected"),
    [
        (Cut("leave_out", 3), [([7, 8, 9], [7]), ([8], [9])]),
        (Cut("leave_out", 2), [([8], [9])]),
        (Cut("cut_off", 2), [([7, 8], [7]), ([], [7]), ([8], [9])]),
        (Cut("ended", tokens=(2,)), [([7, 8, 9, 2], [7, 2]), ([2], [7, 2]), ([8, 2], [9, 2])]),
        (Cut("ended"), [([7, 8, 9], [7]), ([], [7]), ([8], [9])]),
    ],
)
def test_texts_become_examples(cut: Cut, expected: list[tuple[list[int], ...]]) -> None:
    assert [tuple(side.tolist() for side in sides) for sides in cut(TEXTS)] == expected


def test_a_long_text_becomes_pieces_and_those_without_text_are_left_out() -> None:
    texts = [(np.array(text, dtype=np.int32),) for text in ([7, 8, 0, 1, 9], [], [1])]
    found = Cut("pieces", 2, (0, 1))(texts)
    assert [piece.tolist() for (piece,) in found] == [[7, 8], [9]]
