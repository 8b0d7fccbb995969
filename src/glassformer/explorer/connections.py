"""How long a connection may say nothing, and how many there may be: each takes a place that another could have.

uvicorn closes a connection that is idle after an answer; one on which no whole request ever comes, it keeps.
"""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from glassformer.explorer.guard import asked_language, fault, guarded

SILENCE = 30.0  # seconds until the head of a request has come
MOST_CONNECTIONS = 256


class Connection(H11Protocol):
    """One connection to the explorer's server."""

    waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self.app = full
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._expect(False)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._expect()

    def _expect(self, another: bool = True) -> None:
        """A request, from now on."""
        if self.waiting is not None:
            self.waiting.cancel()
        self.waiting = self.loop.call_later(SILENCE, self._give_up) if another else None

    def _give_up(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


async def full(scope: Scope, receive: Receive, send: Send) -> None:
    """What one connection too many is told."""
    await fault("busy", 503, asked_language(scope))(scope, receive, guarded(send))
