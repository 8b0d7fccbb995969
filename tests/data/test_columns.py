from __future__ import annotations

import pytest

from glassformer.data.columns import label_columns, names_columns, pair_columns


@pytest.mark.parametrize(
    ("names", "places"),
    [
        (["ko", "en"], (0, 1)),
        (["target", "source"], (1, 0)),
        (["번역문", "원문"], (1, 0)),
        (["id", "en", "ko"], (1, 2)),
        (["id", "en"], None),
    ],
)
def test_source_and_target_by_their_names(names: list[str], places: tuple[int, int] | None) -> None:
    assert pair_columns(names) == places


@pytest.mark.parametrize(
    ("names", "places"),
    [
        (["text", "label"], (0, 1)),
        (["label", "text"], (1, 0)),
        (["id", "document", "label"], (1, 2)),
        (["리뷰", "감정"], (0, 1)),
        (["remark", "class"], (0, 1)),  # what is left is the text
        (["text", "stars"], (0, 1)),  # what is left is the label
        (["ko", "en"], None),
        (["text", "comment", "label"], None),
    ],
)
def test_text_and_label_by_their_names(names: list[str], places: tuple[int, int] | None) -> None:
    assert label_columns(names) == places


def test_names_of_columns_and_sentences() -> None:
    assert names_columns(["Text", "LABEL"]) and names_columns(["", "text", "label"])
    assert not names_columns(["text"]) and not names_columns(["text", "text"]) and not names_columns(["text", "좋다"])
