"""Connections that say nothing, or too many of them: real sockets at a real server."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from threading import Thread
from typing import Any

import pytest

from explorer_client import INPUTS, tiny_run
from explorer_process import ask
from glassformer.explorer import connections
from glassformer.explorer.guard import HEADERS
from glassformer.explorer.serve import start
from glassformer.words import say

SILENCE = 0.3


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(connections, "SILENCE", SILENCE)
    running = start([tiny_run("classification")], browser=False, port=0)
    yield running
    running.stop()


def address(running: Any) -> tuple[str, int]:
    return "127.0.0.1", int(running.url.rpartition(":")[2].strip("/"))


def connected(running: Any) -> socket.socket:
    return socket.create_connection(address(running), timeout=20)


def heard(one: socket.socket) -> bytes:
    """Everything until the server closes."""
    return b"".join(iter(lambda: one.recv(65_536), b""))


@pytest.mark.parametrize("said", [b"", b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n"])
def test_a_connection_on_which_no_request_comes_is_closed(server: Any, said: bytes) -> None:
    with closing(connected(server)) as one:
        one.sendall(said)
        assert heard(one) == b""


def test_after_an_answer_half_a_request_is_not_waited_for_either(server: Any) -> None:
    with closing(connected(server)) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        assert one.recv(65_536).startswith(b"HTTP/1.1 200")
        one.sendall(b"GET /heal")
        rest = heard(one)
    assert b"HTTP/1.1" not in rest


def test_an_answer_that_takes_its_time_is_not_cut_off(server: Any) -> None:
    run, said = tiny_run("classification"), list[int]()
    app: Any = server.server.config.app
    body = {"model": run.name, "input": INPUTS["classification"]}
    with app.state.shelf.find(run.name).use():
        thread = Thread(target=lambda: said.append(ask(address(server), "/api/trace", body)[0]))
        thread.start()
        thread.join(4 * SILENCE)
        assert thread.is_alive() and said == []
    thread.join(20)
    assert said == [200]


@pytest.mark.parametrize("lang", ["ko", "en"])
def test_one_connection_too_many_is_told_so_in_json(server: Any, lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SILENCE", 30.0)
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 2)
    with closing(connected(server)) as one, closing(connected(server)) as other:
        for each in (one, other):  # both are known to the server
            each.sendall(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
            assert each.recv(65_536).startswith(b"HTTP/1.1 200")
        with closing(connected(server)) as third:
            third.sendall(f"GET /healthz?lang={lang} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n".encode())
            answer = heard(third).decode()
    head, _, content = answer.partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 503") and f"content-security-policy: {HEADERS['content-security-policy']}" in head
    assert say("explorer_faults.busy", lang) in content and '"kind":"busy"' in content
    while ask(address(server), "/healthz")[0] != 200:  # the others are gone
        pass
