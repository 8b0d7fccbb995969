"""The routes of the explorer: each handler reads a request, calls one function of the library and shows the result.

Handlers are plain functions, so that Starlette runs them in threads and torch does not hold up other requests.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from glassformer.config.values import one_of
from glassformer.errors import FileError, GlassformerError, InputError
from glassformer.explorer import fields, lab
from glassformer.explorer.guard import HEADERS, LARGEST_BODY, SLOWEST_BODY, UNDER_WAY, Guard, asked_language, fault
from glassformer.explorer.inputs import MOST_POSITIONS
from glassformer.explorer.kept import page_words
from glassformer.explorer.passes import MOST_BYTES, REQUEST_KEYS, run
from glassformer.explorer.payload import payload
from glassformer.explorer.pictures import LARGEST_SIDE
from glassformer.explorer.pieces import pieces_of, spelled
from glassformer.explorer.rewritten import REQUEST_KEYS as REWRITTEN_KEYS
from glassformer.explorer.rewritten import rewritten
from glassformer.explorer.shelf import PATIENCE, WAITING, Busy, Shelf
from glassformer.explorer.sizes import model_entry
from glassformer.explorer.sweep import REQUEST_KEYS as SWEEP_KEYS
from glassformer.explorer.sweep import sweep
from glassformer.explorer.texts import lesson_text, norm_weights
from glassformer.explorer.time_limit import LONGEST_PASS, Overtime
from glassformer.explorer.why import REQUEST_KEYS as WHY_KEYS
from glassformer.explorer.why import why
from glassformer.words import LANGUAGES

HERE = Path(__file__).parent
STATIC = HERE / "static"
SIDES = ("source", "target")
BYTES = "application/octet-stream"
for ending, kind in {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}.items():
    mimetypes.add_type(kind, ending)  # a registry may say text/plain, which browsers refuse


LIMITS = {  # what a client may expect; openapi.json explains each
    "body_bytes": LARGEST_BODY,
    "body_seconds": SLOWEST_BODY,
    "requests_at_once": UNDER_WAY,
    "waiting_requests": WAITING,
    "waiting_seconds": PATIENCE,
    "pass_seconds": LONGEST_PASS,
    "positions": MOST_POSITIONS,
    "image_side": LARGEST_SIDE,
    "answer_bytes": MOST_BYTES,
}


class Explorer:
    """The handlers, which share the shelf."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    # --- the page ---

    def page(self, request: Request) -> Response:
        return FileResponse(STATIC / "index.html", media_type="text/html; charset=utf-8")

    def health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    def limits(self, request: Request) -> Response:
        return JSONResponse(LIMITS)

    def openapi(self, request: Request) -> Response:
        return FileResponse(HERE / "openapi.json", media_type="application/json")

    def words(self, request: Request) -> Response:
        lang = request.path_params["lang"]
        if lang not in LANGUAGES:
            raise HTTPException(404)
        return JSONResponse(page_words(lang))

    # --- models ---

    def models(self, request: Request) -> Response:
        return JSONResponse({"models": [*self._models(asked_language(request.scope))]})

    def _models(self, lang: str) -> Iterator[dict[str, Any]]:
        """All that can be opened; one that cannot says why in `error`, and the others are still there."""
        for offered in self.shelf:
            try:
                with offered.look() as loaded:
                    yield model_entry(offered, loaded)
            except GlassformerError as error:
                yield {"name": offered.name, "error": error.in_language(lang)}

    def tokenize(self, request: Request) -> Response:
        body = lab.read(request, ("model", "text", "side"))
        text, target = fields.text(body, "text"), one_of("side", body.get("side", "source"), SIDES) == "target"
        with self.shelf.use(body) as (_, loaded):
            tokenizer = loaded.vocabularies.target if target else loaded.tokenizer
            composed = spelled(loaded, text)
            ids = tokenizer.encode(composed)
            pieces = pieces_of(tokenizer, ids, composed, range(len(ids)))
            unseen = [] if target else loaded.unseen([text])[0]
        return JSONResponse({"text": composed, "pieces": [one.to_json() for one in pieces], "unseen": unseen})

    # --- passes ---

    def trace(self, request: Request) -> Response:
        body = lab.read(request, REQUEST_KEYS)
        with self.shelf.use(body) as (offered, loaded):
            one = run(loaded, body)
            return Response(payload(one, offered.name), media_type=BYTES)

    def sweep(self, request: Request) -> Response:
        body = lab.read(request, SWEEP_KEYS)
        with self.shelf.use(body) as (_, loaded):
            return JSONResponse(sweep(loaded, body))

    def rewritten(self, request: Request) -> Response:
        body = lab.read(request, REWRITTEN_KEYS)
        with self.shelf.use(body) as (_, loaded):
            return JSONResponse(rewritten(loaded, body))

    def why(self, request: Request) -> Response:
        body = lab.read(request, WHY_KEYS)
        with self.shelf.use(body) as (_, loaded):
            return JSONResponse(why(loaded, body))

    # --- what stands beside the numbers ---

    def lesson(self, request: Request) -> Response:
        return JSONResponse(lesson_text(request.path_params["name"], asked_language(request.scope)))

    def norm(self, request: Request) -> Response:
        asked = dict(request.query_params)
        with self.shelf.use(asked) as (_, loaded):
            return JSONResponse(norm_weights(loaded.model, fields.text(asked, "name")))


# --- errors ---


def refuse(request: Request, error: Exception) -> Response:
    """One line in the language of the request; never a traceback."""
    lang = asked_language(request.scope)
    match error:
        case Busy():
            return fault("busy", 503, lang)
        case Overtime():
            return fault("overtime", 503, lang)
        case FileError():
            return fault("file", 404, lang, error.in_language(lang))
        case InputError(key="explorer_no_such_model"):
            return fault("no_model", 404, lang, error.in_language(lang))
        case GlassformerError():
            return fault("input", 422, lang, error.in_language(lang))
        case HTTPException():
            return fault("not_found" if error.status_code == 404 else "method", error.status_code, lang)
    broken = fault("internal", 500, lang)
    broken.headers.update(HEADERS)  # Starlette answers these outside of the guard
    return broken


def make_app(shelf: Shelf) -> Starlette:
    """The whole server; `Guard` stands before every route."""
    one = Explorer(shelf)
    routes = [
        Route("/", one.page),
        Route("/healthz", one.health),
        Route("/openapi.json", one.openapi),
        Route("/api/limits", one.limits),
        Route("/api/words/{lang}", one.words),
        Route("/api/models", one.models),
        Route("/api/tokenize", one.tokenize, methods=["POST"]),
        Route("/api/trace", one.trace, methods=["POST"]),
        Route("/api/sweep", one.sweep, methods=["POST"]),
        Route("/api/rewritten", one.rewritten, methods=["POST"]),
        *lab.routes(shelf),
        Route("/api/why", one.why, methods=["POST"]),
        Route("/api/lesson/{name}", one.lesson),
        Route("/api/norm", one.norm),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    errors: dict[Any, Callable[[Request, Exception], Response]] = dict.fromkeys(
        (Busy, Overtime, GlassformerError, HTTPException, Exception), refuse
    )
    app = Starlette(routes=routes, middleware=[Middleware(Guard)], exception_handlers=errors)
    app.state.shelf = shelf
    return app
