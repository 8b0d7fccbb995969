from __future__ import annotations

import os
import random
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from glassformer.data import transfer
from glassformer.data.transfer import PART, Transfer, TransferError
from glassformer.errors import FileError, Phrase
from publisher import Publisher, publishing
from small_disk import no_file_larger_than

BODY = random.Random(1).randbytes(40_000)
NAME = "/set/corpus.tgz"


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    monkeypatch.setattr(transfer, "PATIENCE", 0.4)
    monkeypatch.setattr(transfer, "PAUSE", 0.0)
    for variable in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with publishing() as running:
        running.pages[NAME] = BODY
        yield running


def why(trouble: TransferError) -> str:
    return trouble.why.say("en") if isinstance(trouble.why, Phrase) else trouble.why


def get(host: Publisher, folder: Path, path: str = NAME) -> bytes:
    return Transfer(host.url + path, folder, lambda address, done, total: None).fetch().read_bytes()


def have(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob(f"{PART}*") if path.suffix != ".json")


def failed(host: Publisher, folder: Path, path: str = NAME) -> str:
    with pytest.raises(TransferError) as trouble:
        get(host, folder, path)
    assert isinstance(trouble.value.why, str) or trouble.value.why.say("ko")
    return why(trouble.value)


def test_progress_says_bytes_of_all_bytes(host: Publisher, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    path = Transfer(host.url + NAME, tmp_path, lambda *now: seen.append(now)).fetch()
    assert path.read_bytes() == BODY and path.name.startswith(PART)
    assert seen[-1] == (host.url + NAME, len(BODY), len(BODY)) and host.asked == [(NAME, None)]


def test_what_broke_off_goes_on_within_one_call(host: Publisher, tmp_path: Path) -> None:
    host.faults[NAME] = [("cut", 10_000), ("cut", 5_000), ("hung_up",)]
    assert get(host, tmp_path) == BODY
    assert host.asked == [(NAME, None), (NAME, "bytes=10000-"), (NAME, "bytes=15000-"), (NAME, "bytes=15000-")]
    assert host.sent[NAME] == len(BODY)  # no byte came twice


def test_tries_are_bounded_and_the_next_call_transfers_only_what_is_missing(host: Publisher, tmp_path: Path) -> None:
    host.faults[NAME] = [("cut", 10_000)] + [("cut", 0)] * 3
    assert failed(host, tmp_path) == "it broke off after 10,000 of 40,000 bytes"
    assert len(host.asked) == transfer.TRIES and have(tmp_path) == 10_000
    assert get(host, tmp_path) == BODY
    assert host.asked[-1] == (NAME, "bytes=10000-") and host.sent[NAME] == len(BODY)


def test_tries_that_bring_much_do_not_count(host: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "ADVANCE", 4_000)
    host.faults[NAME] = [("cut", 4_000)] * 9
    assert get(host, tmp_path) == BODY and len(host.asked) == 10 and host.sent[NAME] == len(BODY)


def test_a_host_that_stalls_is_asked_again(host: Publisher, tmp_path: Path) -> None:
    host.faults[NAME] = [("held", 7_000)]
    assert get(host, tmp_path) == BODY
    assert host.asked == [(NAME, None), (NAME, "bytes=7000-")] and host.sent[NAME] == len(BODY)


def test_a_host_that_always_stalls_is_given_up(
    host: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "PATIENCE", 0.1)
    host.faults[NAME] = [("held", 7_000)] + [("held", 0)] * 3
    assert failed(host, tmp_path) == "no byte came for 0.1 seconds" and have(tmp_path) == 7_000
    assert get(host, tmp_path) == BODY and host.sent[NAME] == len(BODY)


@pytest.mark.parametrize("code", [500, 503, 429, 408])
def test_what_may_pass_is_tried_again(code: int, host: Publisher, tmp_path: Path) -> None:
    host.faults[NAME] = [("status", code), ("status", code)]
    assert get(host, tmp_path) == BODY and len(host.asked) == 3
    host.faults["/b"] = [("status", code)] * 9
    assert failed(host, tmp_path, "/b") == f"HTTP {code}" and len(host.asked) == 3 + transfer.TRIES


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410])
def test_what_will_not_pass_is_asked_for_once(code: int, host: Publisher, tmp_path: Path) -> None:
    host.faults[NAME] = [("status", code)]
    assert failed(host, tmp_path) == f"HTTP {code}" and len(host.asked) == 1
    assert get(host, tmp_path) == BODY


def test_the_pause_is_what_the_host_asks_for_and_bounded(
    host: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(transfer, "PAUSE", 1.0)
    monkeypatch.setattr(transfer.time, "sleep", pauses.append)
    date = "Fri, 31 Dec 2100 23:59:59 GMT"
    host.faults[NAME] = [("status", 429, "7"), ("status", 503, date), ("status", 503, "soon")]
    assert get(host, tmp_path) == BODY
    assert pauses == [7.0, transfer.LONGEST_PAUSE, 4.0]


def test_redirects_are_followed_and_keep_the_range(host: Publisher, tmp_path: Path) -> None:
    host.faults = {"/a": [("moved", "/b")] * 9, "/b": [("moved", host.url + NAME)] * 9, NAME: [("cut", 9_000)]}
    assert get(host, tmp_path, "/a") == BODY
    assert host.asked[-1] == (NAME, "bytes=9000-") and host.sent[NAME] == len(BODY)


def test_redirects_in_a_circle_end(host: Publisher, tmp_path: Path) -> None:
    host.faults = {"/a": [("moved", "/b")] * 99, "/b": [("moved", "/a")] * 99}
    assert "more than 10 times or in a circle" in failed(host, tmp_path, "/a")
    assert len(host.asked) <= 11
    host.faults = {f"/{i}": [("moved", f"/{i + 1}")] for i in range(99)}
    host.asked.clear()
    assert "more than 10 times" in failed(host, tmp_path, "/0") and len(host.asked) <= 11


@pytest.mark.parametrize("goal", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x", "gopher://x/"])
def test_a_redirect_leads_to_the_web_or_nowhere(goal: str, host: Publisher, tmp_path: Path) -> None:
    host.faults["/a"] = [("moved", goal)]
    assert failed(host, tmp_path, "/a") == f"it leads to {goal}, which is not on the web"
    assert have(tmp_path) == 0 and len(host.asked) == 1


def test_a_redirect_to_no_address_is_one_line(host: Publisher, tmp_path: Path) -> None:
    host.faults["/a"] = [("moved", "http://[::1")]
    assert failed(host, tmp_path, "/a")


def test_a_host_that_ignores_range_starts_over(host: Publisher, tmp_path: Path) -> None:
    host.faults[NAME] = [("cut", 10_000), ("deaf",)]
    assert get(host, tmp_path) == BODY
    assert host.asked[1] == (NAME, "bytes=10000-") and host.sent[NAME] == 10_000 + len(BODY)


def test_without_a_validator_nothing_is_continued(host: Publisher, tmp_path: Path) -> None:
    host.faults[NAME] = [("bare", 10_000)]
    assert get(host, tmp_path) == BODY
    assert host.asked == [(NAME, None), (NAME, None)]


def test_what_changed_between_two_tries_starts_over(host: Publisher, tmp_path: Path) -> None:
    host.faults[NAME] = [("cut", 10_000)] + [("cut", 0)] * 3
    failed(host, tmp_path)
    host.pages[NAME] = BODY[::-1]
    assert get(host, tmp_path) == BODY[::-1]


def test_a_file_that_became_shorter_starts_over(host: Publisher, tmp_path: Path) -> None:
    host.faults[NAME] = [("cut", 10_000), ("status", 416)]
    assert get(host, tmp_path) == BODY
    assert [asked for _, asked in host.asked] == [None, "bytes=10000-", None]


@pytest.mark.parametrize("content_range", ["bytes 5-39999/40000", "bytes 10000-39999/50000", "bytes */40000", "x"])
def test_another_part_than_was_asked_for_is_not_added(content_range: str, host: Publisher, tmp_path: Path) -> None:
    host.faults[NAME] = [("cut", 10_000), ("elsewhere", content_range)]
    assert get(host, tmp_path) == BODY
    assert [asked for _, asked in host.asked] == [None, "bytes=10000-", None]


def test_a_part_that_nobody_asked_for_is_not_added_to_what_is_there(host: Publisher, tmp_path: Path) -> None:
    Transfer(host.url + NAME, tmp_path, lambda *now: None).part.write_bytes(b"left over")
    host.faults[NAME] = [("elsewhere", "bytes 0-0/1")]
    assert get(host, tmp_path) == b"x" and host.asked == [(NAME, None)]


def test_a_length_that_is_too_long_counts_as_broken_off(host: Publisher, tmp_path: Path) -> None:
    host.faults[NAME] = [("lying", len(BODY) + 100)] * 9
    assert failed(host, tmp_path) == "it broke off after 40,000 of 40,100 bytes"
    host.faults.clear()
    assert get(host, tmp_path) == BODY


def test_a_length_that_is_too_short_ends_there(host: Publisher, tmp_path: Path) -> None:
    """Only the checksum can tell: see test_download."""
    host.faults[NAME] = [("lying", 1_000)]
    assert get(host, tmp_path) == BODY[:1_000]


def test_chunks_need_no_length(host: Publisher, tmp_path: Path) -> None:
    host.faults[NAME] = [("chunked", 3_000), ("chunked",)]
    seen: list[tuple[str, int, int | None]] = []
    assert Transfer(host.url + NAME, tmp_path, lambda *now: seen.append(now)).fetch().read_bytes() == BODY
    assert len(host.asked) == 2 and {total for _, _, total in seen[:-1]} == {None}
    assert seen[-1][1:] == (len(BODY), len(BODY))


def test_chunks_that_break_off(host: Publisher, tmp_path: Path) -> None:
    host.faults[NAME] = [("chunked", 3_000)] * 9
    assert failed(host, tmp_path) == "it broke off after 3,000 bytes"


def test_a_refused_connection_and_a_name_that_does_not_resolve(tmp_path: Path, host: Publisher) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/x"
        with pytest.raises(TransferError) as trouble:
            Transfer(address, tmp_path, lambda *now: None).fetch()
    assert "refused" in why(trouble.value)
    with pytest.raises(TransferError) as trouble:
        Transfer("http://no-such-host.invalid/x", tmp_path, lambda *now: None).fetch()
    assert why(trouble.value) == "no host of this name is known"
    assert list(tmp_path.iterdir()) == []


def test_the_proxy_of_the_environment_is_used(host: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with publishing() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "")
        assert get(host, tmp_path) == BODY and proxy.proxied == [host.url + NAME]
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        host.pages["/direct"] = b"x"
        assert get(host, tmp_path, "/direct") == b"x" and len(proxy.proxied) == 1


def test_a_proxy_that_is_not_there_is_one_line(
    host: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed.getsockname()[1]}")
        assert "refused" in failed(host, tmp_path) and host.asked == []


def test_a_full_disk_is_one_line_and_what_fits_stays(host: Publisher, tmp_path: Path) -> None:
    with no_file_larger_than(16_384), pytest.raises(FileError, match=r"corpus\.tgz cannot be written: File too large"):
        get(host, tmp_path)
    assert 0 < have(tmp_path) <= 16_384
    kept = have(tmp_path)
    assert get(host, tmp_path) == BODY and host.asked[-1] == (NAME, f"bytes={kept}-")


def test_an_interrupt_leaves_what_has_come(host: Publisher, tmp_path: Path) -> None:
    def stop(address: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    host.faults[NAME] = [("cut", 20_000)]
    with pytest.raises(KeyboardInterrupt):
        Transfer(host.url + NAME, tmp_path, stop).fetch()
    kept = have(tmp_path)
    assert 0 < kept <= 20_000
    assert get(host, tmp_path) == BODY and host.asked[-1] == (NAME, f"bytes={kept}-")


@pytest.mark.parametrize("note", ["", "[]", "{}", '{"address": "http://elsewhere/x", "tag": "x"}', '{"tag": 1}'])
def test_a_part_whose_note_says_nothing_is_begun_anew(note: str, host: Publisher, tmp_path: Path) -> None:
    one = Transfer(host.url + NAME, tmp_path, lambda *now: None)
    one.part.write_bytes(b"something else")
    one.note.write_text(note)
    assert one.fetch().read_bytes() == BODY and host.asked == [(NAME, None)]


def test_a_whole_part_is_not_asked_for_again(host: Publisher, tmp_path: Path) -> None:
    get(host, tmp_path)
    assert get(host, tmp_path) == BODY and len(host.asked) == 1


def test_two_addresses_have_two_parts_and_what_is_dropped_is_gone(tmp_path: Path) -> None:
    def silent(*now: Any) -> None:
        pass

    one, other = Transfer("http://a/x.tgz", tmp_path, silent), Transfer("http://b/x.tgz", tmp_path, silent)
    assert one.part != other.part and one.part.name.endswith("-x.tgz")
    one.part.write_bytes(b"x")
    one.note.write_bytes(b"{}")
    one.drop()
    assert os.listdir(tmp_path) == [] and one.have == 0  # noqa: PTH208


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25))
def test_whatever_a_host_does_what_comes_in_the_end_is_the_file(seed: int, host: Publisher, tmp_path: Path) -> None:
    """Ten troubles in any order, over as many calls as it takes: never another content, never an error unsaid."""
    chance = random.Random(seed)
    troubles: list[tuple[Any, ...]] = [
        ("cut", chance.randrange(20_000)),
        ("bare", chance.randrange(20_000)),
        ("chunked", chance.randrange(20_000)),
        ("lying", len(BODY) + 1),
        ("elsewhere", f"bytes {chance.randrange(9)}-9/{len(BODY)}"),
        ("status", chance.choice((404, 416, 429, 500, 503))),
        ("moved", chance.choice(("file:///x", "nowhere://"))),
        ("hung_up",),
        ("deaf",),
        ("fine",),
    ]
    host.faults[NAME] = chance.choices(troubles, k=10)
    for _ in range(11):
        try:
            body = get(host, tmp_path)
        except TransferError as trouble:
            assert why(trouble) and "\n" not in why(trouble)
        else:
            break
    assert body == BODY
