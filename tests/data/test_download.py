from __future__ import annotations

import gzip
import io
import socket
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from glassformer.data.catalogue import DATASETS, Dataset, parallel
from glassformer.data.download import get
from glassformer.data.find import at_hand
from glassformer.data.read import translation_pairs
from glassformer.errors import FileError

EN, KO = b"one\ntwo\n", "하나\n둘\n".encode()


def archive(**files: bytes) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"folder/{name.replace('_', '.')}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return whole.getvalue()


PAGES: dict[str, bytes] = {
    "/good/two.en": EN,
    "/good/two.ko": KO,
    "/packed/two.en.gz": gzip.compress(EN),
    "/packed/two.ko.gz": gzip.compress(KO),
    "/altered/two.en": b"one\ntoo\n",
    "/archive/two.tar.gz": archive(two_en=EN, two_ko=KO),
    "/lacking/two.tar.gz": archive(two_en=EN),
    "/broken/two.tar.gz": b"no archive",
    "/html/two.en.gz": b"<html>not found</html>",
    "/cut/two.en": EN,
}


class Handler(BaseHTTPRequestHandler):
    asked: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path not in PAGES:
            self.send_error(404)
            return
        body = PAGES[self.path]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) + (100 if "/cut/" in self.path else 0)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


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


def left(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


@pytest.mark.parametrize(
    ("address", "files"),
    [
        ("/good/{file}", ["two.en", "two.ko"]),
        ("/packed/{file}.gz", ["two.en.gz", "two.ko.gz"]),
        ("/archive/{stem}.tar.gz", ["two.en", "two.ko"]),
    ],
)
def test_a_set_is_fetched_checked_and_read(address: str, files: list[str], publish: Any, server: str) -> None:
    place = publish(server + address)
    seen: list[tuple[str, int, int | None]] = []
    paths = get("two", lambda *progress: seen.append(progress))
    assert [path.name for path in paths] == left(place) == files
    assert list(translation_pairs("two", "test")) == [("one", "하나"), ("two", "둘")]
    assert at_hand("two") and seen[-1][1] == seen[-1][2]


def test_what_is_there_is_not_fetched_again_and_an_archive_only_once(publish: Any, server: str) -> None:
    publish(f"{server}/archive/{{stem}}.tar.gz")
    Handler.asked.clear()
    get("two")
    get("two")
    assert Handler.asked == ["/archive/two.tar.gz"]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("/altered/{file}", r"what came from http.*/altered/two\.en is not two\.en of two; nothing was kept"),
        ("/html/{file}.gz", r"what came from http.*/html/two\.en\.gz is not two\.en of two"),
        ("/cut/{file}", r"/cut/two\.en broke off after 8 of 108 bytes; nothing was kept: try again"),
        ("/nowhere/{file}", r"/nowhere/two\.en cannot be fetched: HTTP 404; check the network"),
        ("/broken/{stem}.tar.gz", r"the archive http.*/broken/two\.tar\.gz does not hold two\.en, or is damaged"),
    ],
)
def test_what_goes_wrong_is_one_line_and_leaves_nothing(address: str, message: str, publish: Any, server: str) -> None:
    place = publish(server + address)
    with pytest.raises(FileError, match=message):
        get("two")
    assert left(place) == []


def test_an_archive_without_one_of_the_files(publish: Any, server: str) -> None:
    place = publish(f"{server}/lacking/{{stem}}.tar.gz")
    with pytest.raises(FileError, match=r"does not hold two\.ko"):
        get("two")
    assert left(place) == ["two.en"]


def test_without_a_checksum_the_rows_decide(publish: Any, server: str) -> None:
    publish(f"{server}/good/{{file}}", sha256={}, verified=False)
    assert len(get("two")) == 2
    place = publish(
        f"{server}/good/{{file}}", sha256={}, splits={"test": parallel("two", ("en", "ko"), 3)}, folder="new"
    )
    with pytest.raises(FileError, match=r"is not two\.en of two"):
        get("two")
    assert left(place.with_name("new")) == []


def test_a_refused_connection(publish: Any) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        place = publish(f"http://127.0.0.1:{port}/{{file}}")
        with pytest.raises(FileError, match=r"two\.en cannot be fetched: .*refused"):
            get("two")
    assert left(place) == []


def test_a_set_without_an_address_says_how_to_make_it(publish: Any) -> None:
    publish("")
    with pytest.raises(FileError, match=r"two cannot be fetched; make two\.en, two\.ko from https://example"):
        get("two")
