"""The routes of the laboratory: lens, decoding, parameters, gradients, the life of a run, snippets, offline pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from glassformer.errors import InputError
from glassformer.explorer import checkpoints, count, decode, export, fields, gradients, lens
from glassformer.explorer.fields import Fields
from glassformer.explorer.guard import asked_language
from glassformer.explorer.shelf import Offered, Shelf
from glassformer.loading import Loaded
from glassformer.runs.weights import AUTO


class Laboratory:
    """The handlers, which share the shelf."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def lens(self, request: Request) -> Response:
        body = read(request, lens.REQUEST_KEYS)
        with self.use(body) as (_, loaded):
            return JSONResponse(lens.lens(loaded, body))

    def gradients(self, request: Request) -> Response:
        body = read(request, gradients.REQUEST_KEYS)
        with self.use(body) as (_, loaded):
            return JSONResponse(gradients.gradients(loaded, body))

    def count(self, request: Request) -> Response:
        body = read(request, count.REQUEST_KEYS)
        with self.use(body) as (offered, loaded):
            config = loaded.config.model
        return JSONResponse(count.counted(offered.name, config, body))

    def decode(self, request: Request) -> Response:
        """NDJSON; what is wrong with a request shows at its first record, before the answer begins."""
        body = read(request, decode.REQUEST_KEYS)

        @contextmanager
        def use() -> Iterator[Loaded]:
            with self.use(body) as (_, loaded):
                yield loaded

        going = decode.decode(use, body)
        first = next(going)
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in chain([first], going))
        return StreamingResponse(lines, media_type="application/x-ndjson")

    def events(self, request: Request) -> Response:
        after = request.query_params.get("after", "0")
        if not (after.isascii() and after.isdecimal() and len(after) < 10):
            raise InputError("explorer_index", key="after", value=after[:20], last="…")
        return JSONResponse(checkpoints.events(self.shelf.find(request.path_params["name"]), int(after)))

    def export(self, request: Request) -> Response:
        body = read(request, export.REQUEST_KEYS)
        with self.use(body) as (offered, loaded):
            return HTMLResponse(export.exported(offered, loaded, body, asked_language(request.scope)))

    @contextmanager
    def use(self, body: Fields) -> Iterator[tuple[Offered, Loaded]]:
        """The model and the checkpoint that a request names; for this request alone."""
        offered, given = self.shelf.find(fields.text(body, "model")), fields.optional_text(body, "checkpoint")
        with offered.use(given or AUTO) as loaded:
            yield offered, loaded


def read(request: Request, known: tuple[str, ...]) -> Fields:
    body: Fields = request.state.json
    fields.known_keys(body, known)
    return body


def routes(shelf: Shelf) -> list[Any]:
    one = Laboratory(shelf)
    return [
        Route("/api/lens", one.lens, methods=["POST"]),
        Route("/api/decode", one.decode, methods=["POST"]),
        Route("/api/count", one.count, methods=["POST"]),
        Route("/api/gradients", one.gradients, methods=["POST"]),
        Route("/api/runs/{name}/events", one.events),
        Route("/api/export", one.export, methods=["POST"]),
    ]
