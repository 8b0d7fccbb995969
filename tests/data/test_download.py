from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from glassformer.data import transfer
from glassformer.data.catalogue import DATASETS, Dataset, parallel
from glassformer.data.download import LOCKS, GetWatch, Got, fetch_set, find_in, one_process, sha256_of
from glassformer.data.find import at_hand
from glassformer.data.read import translation_pairs
from glassformer.errors import FileError
from publisher import Publisher, publishing, tar, zipped

EN, KO = b"one\ntwo\n", "하나\n둘\n".encode()
PAGE = b"<html>not found</html>"


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    monkeypatch.setattr(transfer, "PATIENCE", 2.0)
    monkeypatch.setattr(transfer, "PAUSE", 0.0)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with publishing() as running:
        running.pages |= {
            "/good/two.en": EN,
            "/good/two.ko": KO,
            "/packed/two.en.gz": gzip.compress(EN),
            "/packed/two.ko.gz": gzip.compress(KO),
            "/altered/two.en": b"one\ntoo\n",
            "/archive/two.tar.gz": tar({"folder/two.en": EN, "folder/two.ko": KO, "folder/other": b"x"}),
            "/archive/two.zip": zipped({"folder/two.en": EN, "folder/two.ko": KO}),
            "/lacking/two.tar.gz": tar({"folder/two.en": EN}),
            "/broken/two.tar.gz": b"no archive",
            "/html/two.en.gz": PAGE,
        }
        yield running


@pytest.fixture
def publish(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A set of the catalogue that is published at an address."""
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path / "data"))
    row = Dataset(
        task="translation",
        format="parallel",
        languages=("en", "ko"),
        licence="MIT",
        source="https://example.org",
        splits={"test": parallel("two", ("en", "ko"), 2)},
        sha256={"two.en": sha256(EN).hexdigest(), "two.ko": sha256(KO).hexdigest()},
    )

    def published(address: str, **changes: Any) -> Path:
        monkeypatch.setitem(DATASETS, "two", replace(row, address=address, **changes))
        return tmp_path / "data" / "two"

    return published


def get(source: Path | None = None) -> Got:
    return fetch_set("two", source, GetWatch())


def left(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir()) if place.is_dir() else []


@pytest.mark.parametrize(
    ("address", "files"),
    [
        ("/good/{file}", ["two.en", "two.ko"]),
        ("/packed/{file}.gz", ["two.en.gz", "two.ko.gz"]),
        ("/archive/{stem}.tar.gz", ["two.en", "two.ko"]),
        ("/archive/{stem}.zip", ["two.en", "two.ko"]),
    ],
)
def test_a_set_is_fetched_checked_and_read(address: str, files: list[str], publish: Any, host: Publisher) -> None:
    place = publish(host.url + address)
    seen: list[tuple[str, int, int | None]] = []
    got = fetch_set("two", None, GetWatch(fetched=lambda *progress: seen.append(progress)))
    assert [path.name for path in got.paths] == left(place) == files and got.uncompared == {}
    assert list(translation_pairs("two", "test")) == [("one", "하나"), ("two", "둘")]
    assert at_hand("two") and seen[-1][1] == seen[-1][2]


def test_what_is_there_is_not_fetched_again_and_an_archive_only_once(publish: Any, host: Publisher) -> None:
    publish(f"{host.url}/archive/{{stem}}.tar.gz")
    get()
    get()
    assert host.asked == [("/archive/two.tar.gz", None)]


@pytest.mark.parametrize(
    ("address", "message", "asked"),
    [
        ("/altered/{file}", r"what came from http.*/altered/two\.en is not two\.en of two; nothing was kept", 2),
        ("/html/{file}.gz", r"what came from http.*/html/two\.en\.gz is not two\.en of two|two\.en\.gz is damaged", 2),
        ("/nowhere/{file}", r"/nowhere/two\.en cannot be fetched: HTTP 404; check the network", 1),
        ("/broken/{stem}.tar.gz", r"the archive http.*/broken/two\.tar\.gz is damaged", 2),
        ("/lacking/{stem}.tar.gz", r"the archive http.*/lacking/two\.tar\.gz does not hold two\.ko", 2),
    ],
)
def test_what_is_wrong_is_one_line_and_leaves_nothing(
    address: str, message: str, asked: int, publish: Any, host: Publisher
) -> None:
    """What does not pass its check is fetched once more, and not a third time."""
    place = publish(host.url + address)
    with pytest.raises(FileError, match=message) as failure:
        get()
    assert left(place) == [] and len(host.asked) == asked
    assert "\n" not in str(failure.value) and failure.value.in_language("ko") != str(failure.value)
    publish(f"{host.url}/good/{{file}}")
    assert len(get().paths) == 2


def test_what_broke_off_stays_and_is_no_data(publish: Any, host: Publisher) -> None:
    place = publish(f"{host.url}/good/{{file}}")
    host.faults["/good/two.ko"] = [("cut", 5)] + [("cut", 0)] * 9
    with pytest.raises(FileError, match=r"broke off after 5 of 11 bytes; the first 5 bytes are kept: try again"):
        get()
    assert not at_hand("two") and "two.ko" not in left(place) and any(name.endswith("-two.ko") for name in left(place))
    host.faults.clear()
    assert len(get().paths) == 2 and left(place) == ["two.en", "two.ko"]
    assert host.sent == {"/good/two.en": len(EN), "/good/two.ko": len(KO)}


def test_wrong_bytes_once_are_fetched_once_more(publish: Any, host: Publisher) -> None:
    place = publish(f"{host.url}/good/{{file}}")
    host.faults["/good/two.en"] = [("other", PAGE)]
    host.faults["/good/two.ko"] = [("lying", 4)]  # too short a length: cut off without a trace
    assert len(get().paths) == 2 and left(place) == ["two.en", "two.ko"]
    assert len(host.asked) == 4


def test_a_part_of_another_content_is_found_by_the_checksum(publish: Any, host: Publisher) -> None:
    place = publish(f"{host.url}/good/{{file}}")
    host.faults["/good/two.en"] = [("cut", 5)] + [("cut", 0)] * 9
    with pytest.raises(FileError, match="broke off"):
        get()
    part = next(path for path in place.iterdir() if path.name.endswith("-two.en"))
    part.write_bytes(b"xxxxx")  # as a power cut may leave it
    host.faults.clear()
    assert len(get().paths) == 2 and left(place) == ["two.en", "two.ko"]


def test_mirrors_are_tried_in_their_order(publish: Any, host: Publisher) -> None:
    place = publish(
        f"{host.url}/nowhere/{{file}}",
        mirrors=(f"{host.url}/altered/{{file}}", f"{host.url}/good/{{file}}", f"{host.url}/never/{{file}}"),
    )
    host.faults["/good/two.ko"] = [("status", 503)]
    assert len(get().paths) == 2 and left(place) == ["two.en", "two.ko"]
    asked = [path for path, _ in host.asked]
    assert asked[:4] == ["/nowhere/two.en", "/altered/two.en", "/altered/two.en", "/good/two.en"]
    assert not any(path.startswith("/never") for path in asked)


def test_the_trouble_with_each_mirror_is_in_the_one_line(publish: Any, host: Publisher) -> None:
    place = publish(
        f"{host.url}/nowhere/{{file}}",
        mirrors=("http://no-such-host.invalid/{file}", f"{host.url}/altered/{{file}}", f"{host.url}/good/{{file}}"),
    )
    host.faults["/good/two.en"] = [("cut", 3)] + [("cut", 0)] * 9
    with pytest.raises(FileError) as failure:
        get()
    line = str(failure.value)
    port = host.server_port
    assert line.startswith(
        f"two.en cannot be fetched from any of its addresses: 127.0.0.1:{port}: HTTP 404; "
        f"no-such-host.invalid: no host of this name is known; 127.0.0.1:{port}: what came from"
    )
    assert f"127.0.0.1:{port}: it broke off after 3 of 8 bytes; check the network and try again" in line
    assert "끊김" in failure.value.in_language("ko")
    host.faults.clear()
    assert len(get().paths) == 2 and left(place) == ["two.en", "two.ko"]
    assert host.sent["/good/two.en"] == len(EN)


def test_without_a_checksum_the_rows_decide_and_the_digest_is_told(publish: Any, host: Publisher) -> None:
    publish(f"{host.url}/good/{{file}}", sha256={}, verified=False)
    assert get().uncompared == {"two.en": sha256(EN).hexdigest(), "two.ko": sha256(KO).hexdigest()}
    assert get().uncompared == {}  # nothing new
    place = publish(
        f"{host.url}/good/{{file}}", sha256={}, splits={"test": parallel("two", ("en", "ko"), 3)}, folder="new"
    )
    with pytest.raises(FileError, match=r"is not two\.en of two"):
        get()
    assert left(place.with_name("new")) == []


def test_a_refused_connection(publish: Any) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        place = publish(f"http://127.0.0.1:{port}/{{file}}")
        with pytest.raises(FileError, match=r"two\.en cannot be fetched: .*refused; check the network, or"):
            get()
    assert left(place) == []


def test_a_set_without_an_address_says_how_to_make_it(publish: Any) -> None:
    publish("")
    with pytest.raises(FileError, match=r"two cannot be fetched; make two\.en, two\.ko from https://example"):
        get()


@pytest.mark.parametrize(
    "address", ["", "https://no-such-host.invalid/{file}.gz", "https://no-such-host.invalid/{stem}.tgz"]
)
@pytest.mark.parametrize("kind", ["plain", "packed", "archive"])
def test_a_folder_stands_for_the_network(address: str, kind: str, publish: Any, tmp_path: Path) -> None:
    place = publish(address)
    source = tmp_path / "mine" / "below"
    source.mkdir(parents=True)
    if kind == "plain":
        (source / "two.en").write_bytes(EN)
        (source / "two.ko").write_bytes(KO)
    elif kind == "packed":
        (source / "two.en.gz").write_bytes(gzip.compress(EN))
        (source / "two.ko.gz").write_bytes(gzip.compress(KO))
    else:
        (source / "two.tgz").write_bytes(tar({"two.en": EN, "two.ko": KO}))
    if kind == "archive" and not address.endswith(".tgz"):
        with pytest.raises(FileError, match=r"mine holds nothing of two: none of two\.en, .* is in it or below it"):
            get(tmp_path / "mine")
        assert left(place) == []
        return
    assert [path.name.removesuffix(".gz") for path in get(tmp_path / "mine").paths] == ["two.en", "two.ko"]
    assert list(translation_pairs("two", "test")) == [("one", "하나"), ("two", "둘")]
    assert len(left(source)) in (1, 2)  # what one gives is not touched


def test_a_folder_with_other_files_of_the_same_name_is_refused(publish: Any, tmp_path: Path) -> None:
    place = publish("")
    (tmp_path / "two.en").write_bytes(b"one\ntoo\n")
    with pytest.raises(FileError, match=r"what came from .*two\.en is not two\.en of two"):
        get(tmp_path)
    with pytest.raises(FileError, match=r"nowhere is no folder; give --from the folder"):
        get(tmp_path / "nowhere")
    assert left(place) == []


def test_two_at_once_transfer_once(publish: Any, host: Publisher) -> None:
    """Threads here; processes, and killed ones, in tests/faults/test_download_kill.py."""
    publish(f"{host.url}/good/{{file}}")
    waited: list[Path] = []
    with one_process(publish(f"{host.url}/good/{{file}}"), GetWatch()):
        other = threading.Thread(target=lambda: fetch_set("two", None, GetWatch(waiting=waited.append)))
        other.start()
        for _ in range(500):
            if waited:
                break
            other.join(0.01)
        assert waited and host.asked == []
    other.join()
    assert len(get().paths) == 2 and len(host.asked) == 2


def test_a_lock_is_no_data_and_a_folder_without_anything_goes(publish: Any, tmp_path: Path) -> None:
    place = publish("")
    with one_process(place, GetWatch()):
        assert place.is_dir()
    assert [path.name for path in (tmp_path / "data").iterdir()] == [LOCKS]


def test_what_a_killed_process_left_and_is_of_no_use_goes(publish: Any, host: Publisher) -> None:
    place = publish(f"{host.url}/good/{{file}}")
    place.mkdir(parents=True)
    for name in (".tmp-two.en", ".part-12345678-two.ko.json", ".part-87654321-x.json", ".part-87654321-x"):
        (place / name).write_bytes(b"{}")
    get()
    assert left(place) == [".part-87654321-x", ".part-87654321-x.json", "two.en", "two.ko"]  # of another set


def test_find_in_takes_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_bytes(b"")
    assert find_in(tmp_path, ["x"]) == tmp_path / "a" / "x"
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "first").write_bytes(b"")
    assert find_in(tmp_path, ["first", "x"]) == tmp_path / "b" / "first"
    (tmp_path / "x").write_bytes(b"x")
    assert find_in(tmp_path, ["y", "x"]) == tmp_path / "x" and find_in(tmp_path, ["z"]) is None
    assert sha256_of(tmp_path / "x") == sha256(b"x").hexdigest()
