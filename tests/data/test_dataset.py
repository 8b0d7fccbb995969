from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from glassformer.data.dataset import Dataset, Split, parallel


def test_parallel_text_has_a_file_for_each_language() -> None:
    assert parallel("dev", ("en", "ko"), 7) == Split(("dev.en", "dev.ko"), 7)


def test_files_are_named_once_and_rows_are_frozen() -> None:
    splits = {"train": Split(("all.txt",), 9), "val": Split(("all.txt",), 1), "test": Split(("test.txt",), 2)}
    row = Dataset(task="translation", format="tsv", licence="MIT", source="https://example.org", splits=splits)
    assert row.files == ("all.txt", "test.txt")
    with pytest.raises(FrozenInstanceError):
        row.task = "other"  # type: ignore[misc]
