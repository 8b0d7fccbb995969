from __future__ import annotations

import gzip
import json
import shutil
import tarfile
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from glassformer.data import building, transfer
from glassformer.data.building import WORK, aligned, build_set, stages
from glassformer.data.catalogue import DATASETS
from glassformer.data.download import GetWatch
from glassformer.data.find import MADE, check_files, folder
from glassformer.data.read import translation_pairs
from glassformer.errors import FileError
from published_wmt import iwslt_archive, small_row, wmt_archives
from publisher import Publisher, publishing
from small_disk import no_file_larger_than

FILES = ["newstest2013.de", "newstest2013.en", "newstest2014.de", "newstest2014.en", "train.de", "train.en"]
ARCHIVES = wmt_archives()


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Publisher]:
    """WMT14 and IWSLT14, small, where the catalogue now says they are published."""
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(transfer, "PAUSE", 0.0)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with publishing() as running:
        running.pages = {f"/{name}": content for name, content in ARCHIVES.items()}
        running.pages["/de-en.tgz"] = iwslt_archive()
        for name in ("wmt14-ende", "iwslt14-deen"):
            monkeypatch.setitem(DATASETS, name, small_row(name, running.url))
        yield running


def contents(name: str = "wmt14-ende") -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder(name).iterdir() if path.is_file()}


def digests() -> dict[str, str]:
    return {name: sha256(content).hexdigest() for name, content in contents().items() if name != MADE}


def unpacked(place: Path) -> Path:
    for content in ARCHIVES.values():
        with tarfile.open(fileobj=BytesIO(content)) as archive:
            archive.extractall(place, filter="data")
    return place


def test_wmt14_is_built_from_its_archives(host: Publisher) -> None:
    seen: list[tuple[str, int, bool]] = []
    got = build_set("wmt14-ende", None, GetWatch(built=lambda *now: seen.append(now)))
    assert [path.name for path in got.paths] == ["train.en", "train.de", *FILES[1::-1], *FILES[3:1:-1]]
    assert sorted(contents()) == sorted([*FILES, MADE])
    assert got.uncompared == digests()
    assert {name: tally["kept"] for name, tally in got.corpora.items()} == {
        "europarl-v7.de-en": 400,
        "commoncrawl.de-en": 447,  # of 500: 50 are no translations, and two of the three odd ones besides
        "news-commentary-v9.de-en": 100,
        "newstest2013": 30,
        "newstest2014-deen": 33,
    }
    assert got.corpora["commoncrawl.de-en"] == {"read": 500, "kept": 447, "empty": 2, "long": 1, "ratio": 50}
    assert seen[0] == ("europarl-v7.de-en", 400, True) and len(seen) == 5
    assert len(host.asked) == 5 and all(host.sent[f"/{name}"] == len(each) for name, each in ARCHIVES.items())


def test_training_text_is_cleaned_and_test_sets_are_as_published(host: Publisher) -> None:
    build_set("wmt14-ende", None, GetWatch())
    train = translation_pairs("wmt14-ende", "train")
    assert len(train) == 947 and train.skipped == ()
    assert ("it can not be seen", "man kann es nicht sehen") in list(train)
    assert next(iter(translation_pairs("wmt14-ende", "test"))).source == "Standard & Poor's „said“ so"
    assert [found.problem for found in check_files("wmt14-ende")] == [None] * 6


def test_the_record_names_archives_and_what_was_left_out(host: Publisher) -> None:
    build_set("wmt14-ende", None, GetWatch())
    record = json.loads(contents()[MADE])
    assert record["archives"] == {
        f"{host.url}/{name}": sha256(content).hexdigest() for name, content in ARCHIVES.items()
    }
    assert {file: each["sha256"] for file, each in record["files"].items()} == digests()
    assert record["files"]["train.en"]["lines"] == 947 and record["corpora"]["commoncrawl.de-en"]["long"] == 1


def test_what_is_built_is_not_built_again(host: Publisher) -> None:
    build_set("wmt14-ende", None, GetWatch())
    host.asked.clear()
    again = build_set("wmt14-ende", None, GetWatch())
    assert host.asked == [] and again.uncompared == {} and again.corpora == {} and len(again.paths) == 6
    (folder("wmt14-ende") / "newstest2014.en").unlink()
    with pytest.raises(
        FileError, match=r"newstest2014\.de is there, but not all of newstest2014\.en, newstest2014\.de"
    ):
        build_set("wmt14-ende", None, GetWatch())
    (folder("wmt14-ende") / "newstest2014.de").unlink()
    assert list(build_set("wmt14-ende", None, GetWatch()).uncompared) == ["newstest2014.en", "newstest2014.de"]
    assert [path for path, _ in host.asked] == ["/test-full.tgz"]


@pytest.mark.parametrize("kind", ["archives", "members", "packed", "flat"])
def test_a_folder_gives_the_same_bytes_without_a_network(
    kind: str, host: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_set("wmt14-ende", None, GetWatch())
    expected = digests()
    source = tmp_path / "mine"
    source.mkdir()
    if kind == "archives":
        for name, content in ARCHIVES.items():
            (source / name).write_bytes(content)
    else:
        unpacked(source)
        for path in [each for each in source.rglob("*") if each.is_file()]:
            if kind == "packed":
                path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
                path.unlink()
            elif kind == "flat":
                path.rename(source / path.name)
    host.asked.clear()
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path / "other"))
    build_set("wmt14-ende", source, GetWatch())
    assert digests() == expected and host.asked == [] and not (folder("wmt14-ende") / WORK).exists()


def test_a_folder_that_lacks_something_names_it(host: Publisher, tmp_path: Path) -> None:
    source = unpacked(tmp_path / "mine")
    shutil.rmtree(source / "dev")
    with pytest.raises(
        FileError,
        match=r"mine holds nothing of newstest2013: none of newstest2013\.en, newstest2013\.de, dev\.tgz is in",
    ):
        build_set("wmt14-ende", source, GetWatch())
    assert sorted(contents()) == [MADE, "train.de", "train.en"]  # what could be built stays
    build_set("wmt14-ende", None, GetWatch())
    assert [path for path, _ in host.asked] == ["/dev.tgz", "/test-full.tgz"]


def test_a_transfer_that_breaks_off_goes_on_in_the_next_call(host: Publisher) -> None:
    name = "/training-parallel-commoncrawl.tgz"
    host.faults[name] = [("cut", 1_000)] + [("cut", 0)] * 9
    with pytest.raises(FileError, match=r"commoncrawl\.tgz cannot be fetched: .*the first 1,000 bytes are kept"):
        build_set("wmt14-ende", None, GetWatch())
    assert contents() == {}
    host.faults.clear()
    build_set("wmt14-ende", None, GetWatch())
    assert {path: host.sent[path] for path in host.sent} == {f"/{each}": len(ARCHIVES[each]) for each in ARCHIVES}


@pytest.mark.parametrize("body", [b"<html>moved</html>", ARCHIVES["dev.tgz"][:-500], ARCHIVES["test-full.tgz"]])
def test_an_archive_of_something_else_is_one_line(body: bytes, host: Publisher) -> None:
    host.pages["/dev.tgz"] = body
    with pytest.raises(FileError, match=r"^the archive http://.*/dev\.tgz (is damaged|does not hold newstest2013\.en)"):
        build_set("wmt14-ende", None, GetWatch())
    assert [path for path, _ in host.asked].count("/dev.tgz") == 2
    host.pages["/dev.tgz"] = ARCHIVES["dev.tgz"]
    assert len(build_set("wmt14-ende", None, GetWatch()).paths) == 6


def test_sides_of_different_lengths_are_refused(host: Publisher, tmp_path: Path) -> None:
    source = unpacked(tmp_path / "mine")
    german = source / "commoncrawl.de-en.de"
    whole = german.read_bytes()
    german.write_bytes(whole + b"one more\n")
    with pytest.raises(FileError, match=r"commoncrawl\.de-en\.en has 500 lines, .*commoncrawl\.de-en\.de has 501"):
        build_set("wmt14-ende", source, GetWatch())
    german.write_bytes(whole)
    assert len(build_set("wmt14-ende", source, GetWatch()).paths) == 6


def test_a_test_set_of_another_length_is_refused(host: Publisher, tmp_path: Path) -> None:
    source = unpacked(tmp_path / "mine")
    paths = [source / "dev" / f"newstest2013.{language}" for language in ("en", "de")]
    whole = [path.read_bytes() for path in paths]
    for path in paths:
        path.write_bytes(b"one\n")
    with pytest.raises(FileError, match=r"newstest2013\.en has 1 lines, wmt14-ende has 30"):
        build_set("wmt14-ende", source, GetWatch())
    for path, content in zip(paths, whole, strict=True):
        path.write_bytes(content)
    assert len(build_set("wmt14-ende", source, GetWatch()).paths) == 6


def test_nothing_left_after_cleaning_is_refused(host: Publisher, tmp_path: Path) -> None:
    source = unpacked(tmp_path / "mine")
    for path in [*source.glob("training/*"), *source.glob("commoncrawl*")]:
        path.write_bytes(b"word\n" if path.suffix == ".en" else b"many words for a single one\n")
    with pytest.raises(FileError, match=r"nothing is left of wmt14-ende for train\.en after cleaning"):
        build_set("wmt14-ende", source, GetWatch())


def test_a_test_set_without_sentences_is_refused(tmp_path: Path) -> None:
    for name in ("a.sgm", "b.sgm"):
        (tmp_path / name).write_text("<refset>\nno segments\n</refset>\n")
    with pytest.raises(FileError, match=r"a\.sgm holds no sentence between <seg> and </seg>"):
        list(aligned([tmp_path / "a.sgm", tmp_path / "b.sgm"], "segments"))


class Killed(BaseException):
    """In the place of SIGKILL, which tests/faults/test_download_kill.py sends."""


@pytest.mark.slow
@pytest.mark.parametrize("stop", range(1, 16))
def test_what_goes_on_after_a_kill_writes_the_same_bytes(
    stop: int, host: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before or after every note, and again at the same place by the second process."""
    monkeypatch.setattr(building, "STRIDE", 150)
    build_set("wmt14-ende", None, GetWatch())
    expected = digests()
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path / "other"))
    host.asked.clear()
    calls = 0
    write = building.write_json

    def killed(path: Path, value: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == stop:
            raise Killed
        write(path, value)
        if calls == stop + 20:
            raise Killed

    monkeypatch.setattr(building, "write_json", killed)
    for _ in range(3):
        try:
            build_set("wmt14-ende", None, GetWatch())
        except Killed:
            continue
    assert digests() == expected and calls >= stop
    assert len(host.asked) == 5  # no archive came twice


@pytest.mark.slow
def test_a_note_of_other_inputs_or_of_nothing_is_not_gone_on_from(
    host: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_set("wmt14-ende", None, GetWatch())
    expected = digests()
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path / "other"))
    drafts = folder("wmt14-ende") / WORK / "drafts"
    drafts.mkdir(parents=True)
    (drafts / ".tmp-train.json").write_text("half")
    for note in ("{", "[]", '{"inputs": [], "rule": "x"}'):
        (drafts / "train.json").write_text(note)
        (drafts / "train.en").write_text("left over\n")
        build_set("wmt14-ende", None, GetWatch())
        assert digests() == expected
        for path in folder("wmt14-ende").iterdir():
            path.unlink()
        drafts.mkdir(parents=True)


def test_a_full_disk_is_one_line_and_the_next_call_goes_on(host: Publisher) -> None:
    with no_file_larger_than(30_000), pytest.raises(FileError, match="cannot be written: File too large"):
        build_set("wmt14-ende", None, GetWatch())
    assert len(build_set("wmt14-ende", None, GetWatch()).paths) == 6


def test_iwslt14_is_built_by_the_same_means(host: Publisher) -> None:
    got = build_set("iwslt14-deen", None, GetWatch())
    assert len(got.paths) == 6 and [path for path, _ in host.asked] == ["/de-en.tgz"]
    kept = got.corpora["train.tags.de-en"]["kept"]
    assert got.corpora["train.tags.de-en"] == {"read": 102, "kept": kept, "empty": 0, "long": 0, "ratio": 102 - kept}
    train, val = (translation_pairs("iwslt14-deen", split) for split in ("train", "val"))
    assert (len(train), len(val)) == (kept - kept // 23, kept // 23)
    assert train[0] == ("a title here", "a title here") and not any("<" in text for text in train.sources)
    assert len(translation_pairs("iwslt14-deen", "test")) == 15
    assert [found.problem for found in check_files("iwslt14-deen")] == [None] * 6


def test_stages_are_the_parts_of_the_set() -> None:
    assert [stage.name for stage in stages("wmt14-ende")] == ["train", "val", "test"]
    assert [stage.every_file for stage in stages("iwslt14-deen")] == [
        ["train.de", "train.en", "valid.de", "valid.en"],
        ["test.de", "test.en"],
    ]
