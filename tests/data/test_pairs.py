from __future__ import annotations

import pytest

from glassformer.data.pairs import Pair, Pairs, gather
from glassformer.errors import FileError


def test_pairs_are_a_sequence_of_source_and_target() -> None:
    pairs = gather([("가", "a"), ("나", "b")], "file")
    assert (len(pairs), pairs[1], list(pairs)) == (2, Pair("나", "b"), [Pair("가", "a"), Pair("나", "b")])
    assert list(pairs.reversed()) == [("a", "가"), ("b", "나")]
    assert list(pairs.chosen([1])) == [("나", "b")]


def test_a_pair_with_an_empty_side_is_left_out_whole_and_its_line_is_kept() -> None:
    rows = [("a", "b"), ("", "c"), ("d", "  \u3000"), ("", ""), ("e", "f")]
    assert gather(rows, "file") == Pairs(["a", "e"], ["b", "f"], (2, 3, 4))
    assert gather(rows, "file", first_line=2).skipped == (3, 4, 5)


def test_blanks_around_a_sentence_go_and_control_characters_stay() -> None:
    assert gather([(" a\t", "\u00a0\x00b\x1f ")], "file")[0] == ("a", "\x00b\x1f")


def test_a_file_of_empty_sides_is_refused() -> None:
    with pytest.raises(FileError, match=r"file gives no pair: in all 2 rows a side is empty; check"):
        gather([("", "a"), ("b", "")], "file")
