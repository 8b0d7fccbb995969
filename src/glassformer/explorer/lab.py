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

from glassformer.config.values import wrong_type
from glassformer.errors import GlassformerError
from glassformer.explorer import checkpoints, compare, count, decode, export, fields, gradients, lens, snippet
from glassformer.explorer.fields import Fields
from glassformer.explorer.glossary import glossary
from glassformer.explorer.guard import asked_language
from glassformer.explorer.shelf import Busy, Shelf
from glassformer.explorer.texts import PARSING
from glassformer.explorer.time_limit import Overtime
from glassformer.loading import Loaded
from glassformer.words import say


class Laboratory:
    """The handlers, which share the shelf."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def lens(self, request: Request) -> Response:
        body = read(request, lens.REQUEST_KEYS)
        with self.shelf.use(body) as (_, loaded):
            return JSONResponse(lens.lens(loaded, body))

    def gradients(self, request: Request) -> Response:
        body = read(request, gradients.REQUEST_KEYS)
        with self.shelf.use(body) as (_, loaded):
            return JSONResponse(gradients.gradients(loaded, body))

    def compare(self, request: Request) -> Response:
        body = read(request, compare.REQUEST_KEYS)
        return Response(compare.compared(self.shelf.use, body), media_type="application/octet-stream")

    def count(self, request: Request) -> Response:
        body = read(request, count.REQUEST_KEYS)
        with self.shelf.use(body) as (offered, loaded):
            config = loaded.config.model
        with PARSING:  # formulas
            return JSONResponse(count.counted(offered.name, config, body, asked_language(request.scope)))

    def decode(self, request: Request) -> Response:
        """NDJSON; what is wrong with a request shows at its first record, before the answer begins."""
        body, begun = read(request, decode.REQUEST_KEYS), False

        @contextmanager
        def use() -> Iterator[Loaded]:
            nonlocal begun
            with self.shelf.use(body, begun=begun) as (_, loaded):
                begun = True
                yield loaded

        going = decode.decode(use, body)
        records = chain([next(going)], going)
        return StreamingResponse(lines(records, asked_language(request.scope)), media_type="application/x-ndjson")

    def snippet(self, request: Request) -> Response:
        body = read(request, snippet.REQUEST_KEYS)
        with self.shelf.use(body) as (offered, loaded):
            return JSONResponse(snippet.snippet(offered, loaded, body))

    def glossary(self, request: Request) -> Response:
        return JSONResponse(glossary(asked_language(request.scope)))

    def events(self, request: Request) -> Response:
        after = request.query_params.get("after", "0")
        if not (after.isascii() and after.isdecimal() and len(after) < 10):
            raise wrong_type("after", after, "whole_number")
        return JSONResponse(checkpoints.events(self.shelf.find(request.path_params["name"]), int(after)))

    def export(self, request: Request) -> Response:
        body = read(request, export.REQUEST_KEYS)
        with self.shelf.use(body) as (offered, loaded):
            return HTMLResponse(export.exported(offered, loaded, body, asked_language(request.scope)))


def read(request: Request, known: tuple[str, ...]) -> Fields:
    """The fields of a request's body."""
    return fields.body(request.state.json, known)


def lines(records: Iterator[dict[str, Any]], lang: str) -> Iterator[str]:
    """Records as NDJSON; what goes wrong after the answer has begun is its last line."""
    try:
        for record in records:
            yield json.dumps(record, ensure_ascii=False) + "\n"
    except (Busy, Overtime) as error:
        kind = "busy" if isinstance(error, Busy) else "overtime"
        yield json.dumps({"error": say(f"explorer_faults.{kind}", lang), "kind": kind}, ensure_ascii=False) + "\n"
    except GlassformerError as error:
        yield json.dumps({"error": error.in_language(lang), "kind": "input"}, ensure_ascii=False) + "\n"


def routes(shelf: Shelf) -> list[Any]:
    one = Laboratory(shelf)
    return [
        Route("/api/lens", one.lens, methods=["POST"]),
        Route("/api/decode", one.decode, methods=["POST"]),
        Route("/api/compare", one.compare, methods=["POST"]),
        Route("/api/count", one.count, methods=["POST"]),
        Route("/api/gradients", one.gradients, methods=["POST"]),
        Route("/api/runs/{name}/events", one.events),
        Route("/api/snippet", one.snippet, methods=["POST"]),
        Route("/api/glossary", one.glossary),
        Route("/api/export", one.export, methods=["POST"]),
    ]
