from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from starlette.responses import JSONResponse
from starlette.testclient import TestClient

from explorer_client import client, tiny_run
from glassformer.explorer import guard
from glassformer.explorer.guard import HEADERS, Guard
from glassformer.words import say


@pytest.fixture(scope="module")
def asked() -> TestClient:
    return client(tiny_run("classification"))


def refused(answer: Any, status: int, kind: str, lang: str = "en") -> None:
    assert answer.status_code == status
    assert answer.json() == {"error": say(f"explorer_faults.{kind}", lang), "kind": kind}
    assert "\n" not in answer.json()["error"]
    for key, value in HEADERS.items():
        assert answer.headers[key] == value


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8017", "localhost", "localhost:9999", "LOCALHOST:1", "[::1]:8017"]
)
def test_this_machine_is_answered_at_any_port(asked: TestClient, host: str) -> None:
    """The port may be forwarded: then the browser names another than ours."""
    assert asked.get("/healthz", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "example.org",
        "127.0.0.1.example.org",
        "evil@127.0.0.1.example.org",
        "0.0.0.0",
        "192.168.0.7:8017",
        "",
        "[::1",
        "a b",
    ],
)
def test_another_name_for_this_machine_is_refused(asked: TestClient, host: str) -> None:
    refused(asked.get("/healthz", headers={"host": host, "accept-language": "en"}), 403, "host")


@pytest.mark.parametrize(
    "origin", ["http://example.org", "https://127.0.0.1", "http://127.0.0.1:1", "null", "", "http://localhost"]
)
def test_a_request_of_another_page_is_refused(asked: TestClient, origin: str) -> None:
    refused(asked.get("/api/models?lang=en", headers={"origin": origin}), 403, "origin")


def test_its_own_page_is_answered(asked: TestClient) -> None:
    assert asked.get("/healthz", headers={"origin": "http://127.0.0.1"}).status_code == 200


def test_a_form_of_another_page_is_refused_even_without_an_origin(asked: TestClient) -> None:
    """A form can send text/plain to any address without asking first; it cannot send application/json."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = asked.post("/api/trace?lang=en", content=b"{}", headers={"content-type": kind})
        refused(answer, 415, "not_json")


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/models", "/static/main.js", "/static/nothing.js", "/nothing"])
def test_every_answer_has_the_content_security_policy(asked: TestClient, path: str) -> None:
    answer = asked.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy and "script-src" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"null",
        b'{"model": NaN}',
        b'{"model": Infinity}',
        b'{"model": "\\ud800"}',
        b'{"\\udfff": 1}',
        b"\xff\xfe",
        b'{"a": ' + b"[" * 50 + b"]" * 50 + b"}",
        b"[" * 100_000,
        b'{"model": ' + b"9" * 5000 + b"}",
    ],
)
def test_a_body_that_is_no_object_is_refused(asked: TestClient, body: bytes) -> None:
    headers = {"content-type": "application/json", "accept-language": "ko-KR,ko;q=0.9"}
    refused(asked.post("/api/trace", content=body, headers=headers), 400, "not_json", "ko")


def test_a_body_that_is_too_large_is_refused_before_it_is_read(
    asked: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "LARGEST_BODY", 100)
    headers = {"content-type": "application/json"}
    refused(asked.post("/api/trace?lang=en", content=b" " * 101, headers=headers), 413, "too_large")
    pieces = (b" " * 60 for _ in range(3))  # sent in pieces, without a length
    refused(asked.post("/api/trace?lang=en", content=pieces, headers=headers), 413, "too_large")
    lying = headers | {"content-length": "1"}
    assert asked.post("/api/trace", content=b" " * 101, headers=lying).status_code == 413


def test_a_body_that_never_comes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SLOWEST_BODY", 0.01)
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.sleep(60)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/trace",
        "query_string": b"lang=en",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
    }
    asyncio.run(Guard(JSONResponse({}))(scope, receive, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 408 and json.loads(sent[1]["body"])["kind"] == "slow"


@pytest.mark.parametrize(
    ("query", "header", "lang"), [("?lang=ko", "en", "ko"), ("?lang=xx", "ko", "ko"), ("", "en-GB,en", "en")]
)
def test_a_fault_is_said_in_the_language_that_is_asked_for(
    asked: TestClient, query: str, header: str, lang: str
) -> None:
    refused(asked.get(f"/nothing{query}", headers={"accept-language": header}), 404, "not_found", lang)


def test_only_so_many_requests_are_under_way_at_once(asked: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "UNDER_WAY", 0)
    answer = asked.post("/api/trace?lang=en", json={})
    refused(answer, 503, "busy")
    assert answer.headers["retry-after"] == "2" and asked.get("/healthz").status_code == 200
    monkeypatch.setattr(guard, "UNDER_WAY", 1)
    for _ in range(3):  # one that has been answered, or refused, no longer counts
        assert asked.post("/api/trace", json={}).status_code == 422
        assert asked.post("/api/trace", content=b"{").status_code == 415
