from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from glassformer.data.catalogue import DATASETS
from glassformer.data.find import dataset, slices_here
from glassformer.data.obtain import obtain
from glassformer.errors import FileError, InputError
from published_wmt import small_row, wmt_archives
from publisher import publishing


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder with the archives of WMT14, and a catalogue whose addresses nobody asks."""
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path / "data"))
    (tmp_path / "mine").mkdir()
    for name, content in wmt_archives().items():
        (tmp_path / "mine" / name).write_bytes(content)
    with publishing() as host:
        monkeypatch.setitem(DATASETS, "wmt14-ende", small_row("wmt14-ende", host.url))
        yield tmp_path / "mine"
        assert host.asked == []


def test_a_name_a_slice_and_the_name_of_a_slice(source: Path) -> None:
    assert slices_here() == []
    name, got = obtain("wmt14-ende", source, 20)
    assert name == "wmt14-ende-20" and len(got.paths) == 6
    assert [path.parent.name for path in obtain("wmt14-ende")[1].paths] == ["wmt14-ende"] * 6
    assert obtain("wmt14-ende-30")[0] == "wmt14-ende-30"
    assert slices_here() == ["wmt14-ende-20", "wmt14-ende-30"]
    assert dataset("wmt14-ende-30").splits["train"].rows == 30


@pytest.mark.parametrize("name", ["multi30k", "wmt14-ende-30"])
def test_a_slice_of_anything_else_is_refused(name: str) -> None:
    with pytest.raises(
        FileError, match=rf"no slice can be drawn of {name}, only of: wmt14-ende, iwslt14-deen; .* data\.limit=5"
    ):
        obtain(name, None, 5)


@pytest.mark.parametrize("name", ["wmt14-ende-0", "wmt14-ende-007", "wmt14-ende-", "multi30k-5", "wmt14-ende-5-5"])
def test_what_is_no_slice_is_no_set(name: str) -> None:
    with pytest.raises(InputError, match="no data set is called"):
        obtain(name)
