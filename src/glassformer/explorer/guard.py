"""Who may ask, and how much: the host and origin of a request, the size of its body, and the time it may take.

The server listens on this machine only, but any page in the same browser could send it requests: so only pages that
it has served itself are answered, and a name that points here from outside is refused.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from glassformer.words import LANGUAGES, language, say

LOCAL = ("127.0.0.1", "localhost", "::1")
LARGEST_BODY = 4_000_000  # bytes
SLOWEST_BODY = 10.0  # seconds until a body has arrived
UNDER_WAY = 32  # requests with a body that are under way; Starlette has 40 threads, and the page needs some
DEEPEST = 32  # brackets inside brackets
POLICY = "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


class Guard:
    """Refuses what is not for this server; hands on the body, read whole and parsed, as `scope["state"]["json"]`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        headers, send = Headers(scope=scope), guarded(send)
        refusal = refused(headers)
        if refusal is not None:
            await _refuse(refusal, scope, receive, send)
        elif scope["method"] == "POST":
            await self._with_body(headers, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _with_body(self, headers: Headers, scope: Scope, receive: Receive, send: Send) -> None:
        if self.under_way >= UNDER_WAY:
            await _refuse(("busy", 503), scope, receive, send)
            return
        self.under_way += 1
        try:
            refusal, body = await _body(headers, receive)
            if refusal is not None:
                await _refuse(refusal, scope, receive, send)
                return
            scope.setdefault("state", {})["json"] = body
            await self.app(scope, receive, send)
        finally:
            self.under_way -= 1


def guarded(send: Send) -> Send:
    """Adds the policy to the head of an answer."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *((k.encode(), v.encode()) for k, v in HEADERS.items())]
        await send(message)

    return sent


async def _refuse(refusal: tuple[str, int], scope: Scope, receive: Receive, send: Send) -> None:
    kind, status = refusal
    await fault(kind, status, asked_language(scope))(scope, receive, send)


def refused(headers: Headers) -> tuple[str, int] | None:
    """Why these headers are refused; None if they are fine. The port may be another: it may be forwarded."""
    host = _hostname(f"//{headers.get('host', '')}")
    if host not in LOCAL:
        return "host", 403
    origin = headers.get("origin")
    if origin is not None and origin != f"http://{headers.get('host')}":
        return "origin", 403
    return None


def _hostname(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


async def _body(headers: Headers, receive: Receive) -> tuple[tuple[str, int] | None, Any]:
    """The parsed body, or why there is none."""
    if not headers.get("content-type", "").startswith("application/json"):
        return ("not_json", 415), None
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length) > LARGEST_BODY:
        return ("too_large", 413), None
    try:
        whole = await asyncio.wait_for(_read(receive), SLOWEST_BODY)
    except TimeoutError:
        return ("slow", 408), None
    if whole is None:
        return ("too_large", 413), None
    try:
        found = json.loads(whole, parse_constant=_no_number)
        json.dumps(found, ensure_ascii=False).encode()  # half a character, such as "\\ud800", cannot be written
    except (RecursionError, ValueError):  # a UnicodeDecodeError is a ValueError
        return ("not_json", 400), None
    if not isinstance(found, dict) or _too_deep(found):
        return ("not_json", 400), None
    return None, found


def _no_number(name: str) -> None:
    """NaN and Infinity are words of Python, not of JSON."""
    raise ValueError(name)


async def _read(receive: Receive) -> bytes | None:
    """The bytes of a body; None if there are too many."""
    whole = bytearray()
    while True:
        message = await receive()
        whole += message.get("body", b"")
        if len(whole) > LARGEST_BODY:
            return None
        if not message.get("more_body", False):
            return bytes(whole)


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def asked_language(scope: Scope) -> str:
    """The language that a request asks for: `?lang=ko`, else its header, else that of the server."""
    query = dict(
        part.split("=", 1) for part in scope.get("query_string", b"").decode("latin-1").split("&") if "=" in part
    )
    for wanted in (query.get("lang", ""), Headers(scope=scope).get("accept-language", "")):
        if wanted[:2].lower() in LANGUAGES:
            return wanted[:2].lower()
    return language()


def fault(kind: str, status: int, lang: str, line: str | None = None) -> JSONResponse:
    """An error as JSON: one line for a person, and its kind for the page."""
    headers = {"retry-after": "2"} if kind == "busy" else None
    told = line if line is not None else say(f"explorer_faults.{kind}", lang)
    return JSONResponse({"error": told, "kind": kind}, status, headers)
