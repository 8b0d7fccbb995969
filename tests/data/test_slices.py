from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from glassformer.config.recipe import DataConfig
from glassformer.config.values import Choice
from glassformer.data import transfer
from glassformer.data.building import build_set
from glassformer.data.catalogue import DATASETS
from glassformer.data.download import GetWatch
from glassformer.data.find import MADE, check_files, folder
from glassformer.data.pair_corpus import pair_corpus
from glassformer.data.read import translation_pairs
from glassformer.data.slices import chosen, draw_slice, sliceable
from glassformer.errors import FileError
from published_wmt import small_row, wmt_archives
from publisher import Publisher, publishing
from small_disk import no_file_larger_than

ARCHIVES = wmt_archives()


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Publisher]:
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(transfer, "PAUSE", 0.0)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with publishing() as running:
        running.pages = {f"/{name}": content for name, content in ARCHIVES.items()}
        monkeypatch.setitem(DATASETS, "wmt14-ende", small_row("wmt14-ende", running.url))
        yield running


def test_a_slice_is_drawn_over_all_corpora_and_has_a_name_of_its_own(host: Publisher) -> None:
    got = draw_slice("wmt14-ende-200", None, GetWatch())
    assert [path.parent.name for path in got.paths] == ["wmt14-ende-200"] * 6 and len(got.uncompared) == 6
    whole, part = translation_pairs("wmt14-ende", "train"), translation_pairs("wmt14-ende-200", "train")
    places = [list(whole).index(pair) for pair in part]
    assert len(part) == 200 and places == sorted(set(places))
    counts = [sum(first <= place < last for place in places) for first, last in ((0, 400), (400, 847), (847, 947))]
    assert all(60 < count < 120 for count in counts[:2]) and 10 < counts[2] < 35
    for split in ("val", "test"):
        assert list(translation_pairs("wmt14-ende-200", split)) == list(translation_pairs("wmt14-ende", split))
    assert [found.problem for found in check_files("wmt14-ende-200")] == [None] * 6


def test_a_slice_is_always_the_same_and_part_of_every_larger_one(host: Publisher, tmp_path: Path) -> None:
    build_set("wmt14-ende", None, GetWatch())
    host.asked.clear()
    for count in (10, 100, 947):
        draw_slice(f"wmt14-ende-{count}", None, GetWatch())
    small, large, all_ = (set(translation_pairs(f"wmt14-ende-{count}", "train")) for count in (10, 100, 947))
    assert small < large < all_ == set(translation_pairs("wmt14-ende", "train"))
    assert host.asked == []
    assert list(chosen(10, 3)) == list(chosen(10, 3)) and set(chosen(1000, 3)) != set(range(3))
    record = json.loads((folder("wmt14-ende-10") / MADE).read_text())
    assert (record["slice_of"], record["pairs"], record["of"]) == ("wmt14-ende", 10, 947)


def test_a_recipe_names_a_slice_as_any_other_set(host: Publisher) -> None:
    draw_slice("wmt14-ende-50", None, GetWatch())
    source = Choice("catalogue", {"names": ["wmt14-ende-50"]})
    for prepare in ("none", "lowercase", "moses"):
        config = DataConfig(source=source, source_language="en", target_language="de", prepare=prepare)
        corpus = pair_corpus(config)
        assert len(corpus.train) == 50 and len(corpus.validation) == 30
        assert all(text.strip() for text in corpus.train.sources)


def test_a_slice_that_is_there_or_altered_is_known(host: Publisher) -> None:
    draw_slice("wmt14-ende-50", None, GetWatch())
    assert draw_slice("wmt14-ende-50", None, GetWatch()).uncompared == {}
    path = folder("wmt14-ende-50") / "train.en"
    path.write_bytes(path.read_bytes().replace(b"cat", b"cow"))
    problems = [found.problem for found in check_files("wmt14-ende-50") if found.problem]
    assert len(problems) == 1 and "is not what was built: SHA-256" in str(problems[0])
    (folder("wmt14-ende-50") / MADE).write_text('{"files": {"train.en": 1}}')
    assert "cannot be read as the record of wmt14-ende-50" in str(check_files("wmt14-ende-50")[0].problem)


def test_more_than_there_is_is_refused(host: Publisher) -> None:
    with pytest.raises(FileError, match=r"--limit 948 is more than the 947 training pairs of wmt14-ende"):
        draw_slice("wmt14-ende-948", None, GetWatch())
    assert not folder("wmt14-ende-948").exists()


def test_what_is_left_of_a_killed_drawing_is_drawn_again(host: Publisher) -> None:
    draw_slice("wmt14-ende-50", None, GetWatch())
    place = folder("wmt14-ende-50")
    expected = {path.name: path.read_bytes() for path in place.iterdir()}
    (place / "train.de").unlink()
    (place / MADE).unlink()
    (place / ".tmp-train.de").write_bytes(b"half")
    draw_slice("wmt14-ende-50", None, GetWatch())
    assert {path.name: path.read_bytes() for path in place.iterdir()} == expected


def test_a_full_disk_is_one_line(host: Publisher) -> None:
    build_set("wmt14-ende", None, GetWatch())
    with no_file_larger_than(8_000), pytest.raises(FileError, match="cannot be written: File too large"):
        draw_slice("wmt14-ende-500", None, GetWatch())
    assert len(draw_slice("wmt14-ende-500", None, GetWatch()).paths) == 6


def test_only_what_is_built_can_be_cut() -> None:
    assert sliceable() == ["wmt14-ende", "iwslt14-deen"]
