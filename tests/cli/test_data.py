from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from glassformer.data.catalogue import DATASETS, Dataset, parallel
from published_wmt import small_row, wmt_archives
from typed import typed

EN, DE = b"one\n\nthree\n", b"eins\nzwei\ndrei\n"
ROW = Dataset(
    task="translation",
    format="parallel",
    languages=("en", "de"),
    licence="MIT",
    source="https://example.org",
    splits={"test": parallel("three", ("en", "de"), 3)},
    sha256={"three.en": sha256(EN).hexdigest(), "three.de": sha256(DE).hexdigest()},
)


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of data that holds one set, and that set in the catalogue."""
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path / "data"))
    monkeypatch.setitem(DATASETS, "three", ROW)
    place = tmp_path / "data" / "three"
    place.mkdir(parents=True)
    (place / "three.en").write_bytes(EN)
    (place / "three.de").write_bytes(DE)
    return place


run = typed("data")


@pytest.mark.parametrize("arguments", [(), ("list",)])
def test_list_says_what_there_is_and_what_is_here(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    row = next(line for line in out.splitlines() if "│ three " in line)
    assert all(word in row for word in ("translation", "en-de", "test 3", "MIT", "✓"))
    assert "wmt14-ende *" in out and "✓" not in next(line for line in out.splitlines() if "multi30k" in line)
    assert str(tmp_path / "data") in out


def test_list_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "list", "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert code == 0 and list(rows) == list(DATASETS)
    assert rows["three"]["here"] and not rows["multi30k"]["here"] and not rows["wmt14-ende"]["verified"]
    assert rows["three"]["splits"] == {"test": {"files": ["three.en", "three.de"], "rows": 3}}


def test_list_in_korean(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--lang", "ko")
    assert "라이선스" in out and "번역" in out


def test_show_gives_counts_lengths_and_the_first_rows(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "show", "three", "--rows", "1")
    assert (code, err) == (0, "")
    assert "three, test: 2 rows · MIT · https://example.org" in out
    assert "en: 4.0 characters on average, 5 at most" in out
    assert "left out because one side is empty: 1 pairs" in out
    assert "eins" in out and "drei" not in out


def test_show_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "show", "three", "--split", "test", "--json")
    found = json.loads(out)
    assert (code, found["rows"], found["skipped"]) == (0, 2, 1)
    assert found["first"] == [["one", "eins"], ["three", "drei"]]


def test_check_is_content_with_good_files_and_exits_1_with_bad_ones(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    code, out, _ = run(capsys, "check")
    assert code == 0 and out.count("as it should be, 3 lines") == 2
    (place / "three.de").write_bytes(b"eins\n")
    code, out, _ = run(capsys, "check", "three", "--json")
    found = json.loads(out)
    assert code == 1 and not found["ok"] and [file["ok"] for file in found["files"]] == [True, False]
    assert "is not the published file of three" in found["files"][1]["found"]


def test_check_of_a_set_without_checksums_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DATASETS, "three", replace(ROW, sha256={}, verified=False))
    _, out, _ = run(capsys, "check", "three", "--json")
    assert f"no published checksum; SHA-256 {sha256(EN).hexdigest()}" in out


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: Path) -> Iterator[str]:
    """A host that publishes the set, and a folder of data that does not have it yet."""
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path / "new"))

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(place))) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{running.server_port}"
        monkeypatch.setitem(DATASETS, "three", replace(ROW, address=f"{address}/{{file}}"))
        yield address
        running.shutdown()
        thread.join()


def test_get_fetches_checks_and_says_where(capsys: pytest.CaptureFixture[str], server: str, tmp_path: Path) -> None:
    code, out, err = run(capsys, "get", "three")
    assert code == 0 and f"three: 2 files in {tmp_path / 'new' / 'three'}" in out.replace("\n", "")
    assert err.splitlines() == [f"{server}/three.en: {len(EN)} bytes", f"{server}/three.de: {len(DE)} bytes"]
    assert run(capsys, "check", "three")[0] == 0
    code, out, err = run(capsys, "get", "three", "--json")
    assert (code, err, len(json.loads(out)["files"])) == (0, "", 2)


def test_get_shows_a_bar_on_a_terminal(
    capsys: pytest.CaptureFixture[str], server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    code, _, err = run(capsys, "get", "three")
    assert code == 0 and server not in err


def test_a_built_set_and_its_slice_are_shown_with_what_was_left_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(DATASETS, "wmt14-ende", small_row("wmt14-ende", "http://no-such-host.invalid"))
    for name, content in wmt_archives(europarl=60, crawl=50, commentary=20).items():
        (tmp_path / name).write_bytes(content)
    code, out, err = run(capsys, "get", "wmt14-ende", "--from", tmp_path)
    assert code == 0 and err.splitlines()[0] == "europarl-v7.de-en: 60 pairs read"
    row = next(line for line in out.splitlines() if "commoncrawl" in line)
    assert [cell.strip() for cell in row.split("│")[1:-1]] == ["commoncrawl.de-en", "50", "42", "2", "1", "5"]
    assert out.replace("\n", "").count("nobody here could compare it with what is published") == 6
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path / "terminal"))
    with monkeypatch.context() as terminal:
        terminal.setattr(sys.stderr, "isatty", lambda: True)
        code, _, err = run(capsys, "get", "wmt14-ende", "--from", tmp_path)
    assert code == 0 and "pairs read\n" not in err
    code, out, _ = run(capsys, "get", "wmt14-ende", "--limit", "7", "--json")
    found = json.loads(out)
    assert code == 0 and found["name"] == "wmt14-ende-7" and len(found["files"]) == len(found["uncompared"]) == 6
    code, out, _ = run(capsys, "list", "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert rows["wmt14-ende-7"]["here"] and rows["wmt14-ende-7"]["splits"]["train"]["rows"] == 7
    assert rows["wmt14-ende"]["splits"]["train"]["rows"] == 122  # as built, not as published
    assert run(capsys, "check", "wmt14-ende-7")[0] == run(capsys, "check")[0] == 0
    code, out, _ = run(capsys, "show", "wmt14-ende-7", "--lang", "ko")
    assert code == 0 and "wmt14-ende-7" in out


def test_a_failed_download_is_one_line(
    capsys: pytest.CaptureFixture[str], server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DATASETS, "three", replace(ROW, address=f"{server}/nothing/{{file}}"))
    code, out, err = run(capsys, "get", "three")
    assert (code, out) == (1, "")
    assert err == f"{server}/nothing/three.en cannot be fetched: HTTP 404; check the network, or get the file by hand\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("fetch",), 2, "data fetch is not valid; use list, get, show, check"),
        (("list", "x"), 2, "data list takes no further argument x; write glassformer data list"),
        (("get",), 2, "data get: which set? Give a name (glassformer data list)"),
        (("show",), 2, "data show: which set?"),
        (("show", "multi3k"), 1, "no data set is called 'multi3k'; did you mean multi30k?"),
        (("show", "three", "--split", "dev"), 1, "three has no part 'dev'; there are: test"),
        (("show", "multi30k"), 1, "multi30k is not here: train.en is missing in"),
        (("get", "kor-eng-pydocs"), 1, "kor-eng-pydocs cannot be fetched; make train.tsv, dev.tsv"),
        (("get", "nsmc", "--limit", "5"), 1, "no slice can be drawn of nsmc, only of: wmt14-ende, iwslt14-deen"),
        (("get", "wmt14-ende", "--limit", "0"), 2, "--limit 0 is not valid; use a whole number from 1 on"),
        (("get", "wmt14-ende", "--limit", "-5"), 2, "--limit -5 is not valid; use a whole number from 1 on"),
        (("get", "wmt14-ende", "--limit", "all"), 2, "--limit all is not valid; use a whole number"),
        (("get", "nsmc", "--from", "nowhere"), 1, "nowhere is no folder; give --from the folder that holds"),
        (("list", "--limit", "5"), 2, "data list takes no --limit; it belongs to glassformer data get"),
        (("check", "--from", "here"), 2, "data check takes no --from; it belongs to glassformer data get"),
        (("show", "three", "--rows", "x"), 2, "--rows x is not valid; use a whole number"),
    ],
)
def test_wrong_use_is_one_line(
    arguments: tuple[str, ...], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found, out, err = run(capsys, *arguments)
    assert (found, out, err.count("\n")) == (code, "", 1)
    assert message in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"one\n", "three.en has 1 lines, "),
        (b"\xff\n\n\n", "not UTF-8 in line 1, byte 1"),
        (b"", "three.en is empty"),
        (b"x" * 10_000_000, "line 1 is longer than 1000000 bytes"),
    ],
)
def test_bad_input_is_one_line_in_both_languages(
    content: bytes, message: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "three.en").write_bytes(content)
    code, out, err = run(capsys, "show", "three")
    assert (code, out, err.count("\n")) == (1, "", 1) and message in err
    code, _, err = run(capsys, "show", "three", "--lang", "ko")
    assert code == 1 and any("가" <= character <= "힣" for character in err)


def test_check_where_nothing_lies(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_DATA", "nowhere")
    code, _, err = run(capsys, "check")
    assert (code, err) == (1, "no data set of the catalogue lies in nowhere; glassformer data get NAME fetches one\n")


def test_a_folder_that_is_a_file_is_one_line(
    capsys: pytest.CaptureFixture[str], server: str, monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    monkeypatch.setenv("GLASSFORMER_DATA", str(place / "three.en"))
    code, _, err = run(capsys, "get", "three")
    assert code == 1 and "cannot be written" in err and err.count("\n") == 1
