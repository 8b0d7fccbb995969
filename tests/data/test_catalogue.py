from __future__ import annotations

import re
from dataclasses import FrozenInstanceError

import pytest

from glassformer.data.catalogue import DATASETS, FORMATS, Dataset, Split, parallel
from glassformer.data.find import check_files
from glassformer.data.show import VIEWS
from glassformer.words import sentences
from shared_data import need


def test_parallel_text_has_a_file_for_each_language() -> None:
    assert parallel("dev", ("en", "ko"), 7) == Split(("dev.en", "dev.ko"), 7)


def test_files_are_named_once_and_rows_are_frozen() -> None:
    splits = {"train": Split(("all.txt",), 9), "val": Split(("all.txt",), 1), "test": Split(("test.txt",), 2)}
    row = Dataset(task="translation", format="tsv", licence="MIT", source="https://example.org", splits=splits)
    assert row.files == ("all.txt", "test.txt")
    with pytest.raises(FrozenInstanceError):
        row.task = "other"  # type: ignore[misc]


@pytest.mark.parametrize("name", DATASETS)
def test_every_row_says_what_it_is(name: str) -> None:
    row = DATASETS[name]
    assert row.format in FORMATS and row.format in VIEWS
    assert f"data.tasks.{row.task}" in sentences("en")
    assert row.licence and row.source.startswith("http")
    assert row.splits and all(split.rows > 0 and split.files for split in row.splits.values())
    if row.format == "parallel":
        assert all(len(split.files) == len(row.languages) for split in row.splits.values())
    assert not (row.address and row.build) and (row.address or not row.mirrors)
    for address in (row.address, *row.mirrors):
        assert not address or "{file}" in address or "{stem}" in address
        # a mirror without TLS only where the checksum of every file is known
        assert not address or address.startswith("https://") or row.verified


@pytest.mark.parametrize("name", DATASETS)
def test_what_is_verified_has_the_checksum_of_every_file(name: str) -> None:
    row = DATASETS[name]
    assert set(row.sha256) == (set(row.files) if row.verified else set())
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in row.sha256.values())


@pytest.mark.many
@pytest.mark.parametrize("name", [name for name, row in DATASETS.items() if row.verified and name != "fashion-mnist"])
def test_the_files_at_hand_are_those_of_the_catalogue(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, DATASETS[name].folder or name)
    assert [found.problem for found in check_files(name) if found.problem] == []


@pytest.mark.slow
def test_the_images_at_hand_are_those_of_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "fashion-mnist")
    assert [found.problem for found in check_files("fashion-mnist") if found.problem] == []
