from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.data.find import at_hand, dataset, find, folder, home, locate, split_of
from glassformer.errors import FileError, InputError


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path))


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


def test_data_lie_where_the_environment_says_else_in_ones_own_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert home() == tmp_path
    monkeypatch.delenv("GLASSFORMER_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert home() == tmp_path / "share" / "glassformer"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home() == tmp_path / ".local" / "share" / "glassformer"


@pytest.mark.parametrize("packing", ["", ".gz", ".xz"])
def test_a_file_is_found_however_it_is_packed(packing: str, tmp_path: Path) -> None:
    assert locate("multi30k", "val.en") is None
    path = put(tmp_path / "multi30k" / f"val.en{packing}")
    assert find("multi30k", "val.en") == path
    assert not at_hand("multi30k")


def test_two_sets_may_share_a_folder(tmp_path: Path) -> None:
    assert folder("korean-english-school") == tmp_path / "korean-english-news"
    for file in dataset("korean-english-school").files:
        put(tmp_path / "korean-english-news" / f"{file}.gz")
    assert at_hand("korean-english-school") and not at_hand("korean-english-news")


def test_a_missing_set_says_how_to_get_it() -> None:
    with pytest.raises(
        FileError, match=r"multi30k is not here: val\.en is missing in .*; fetch it: glassformer data get"
    ):
        find("multi30k", "val.en")
    with pytest.raises(
        FileError, match=r"wmt14-ende is not here.*cannot be fetched: make train\.en, train\.de"
    ) as failure:
        find("wmt14-ende", "train.en")
    assert "statmt.org" in str(failure.value) and "GLASSFORMER_DATA" in failure.value.in_language("ko")


def test_unknown_names_and_splits_are_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match="no data set is called 'multi3k'; did you mean multi30k"):
        dataset("multi3k")
    with pytest.raises(InputError, match="nsmc has no part 'dev'; there are: train, test"):
        split_of("nsmc", "dev")
