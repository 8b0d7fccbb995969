"""One address into one file, whatever the network does: what came before is kept, and the next try goes on from there.

Beside the part lies a note with the validator that the server gave (ETag or Last-Modified). A part is only continued if
the server confirms by it that the content is still the same; else the transfer starts over.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from hashlib import sha256
from http.client import HTTPException, HTTPMessage, IncompleteRead
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    BaseHandler,
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

from glassformer.errors import FileError, Phrase
from glassformer.files import disk, read_json, sync, write_json, write_piece
from glassformer.version import __version__

BytesSoFar = Callable[[str, int, int | None], None]  # address, bytes so far, bytes in all if known
PART = ".part-"  # before the name of a file of which only a part has come
NOTE = ".json"  # after that, what the server said of it
PATIENCE = 30.0  # seconds without a byte
TRIES = 4  # without news of at least ADVANCE bytes
PAUSE = 1.0  # seconds before the second try, doubled before each further one
LONGEST_PAUSE = 60.0  # seconds, also if a server asks for more
ADVANCE = 1 << 20
PIECE = 1 << 16
REDIRECTS = 10
PASSING = (408, 425, 429)  # and all of 500 and above


class TransferError(Exception):
    """Why nothing more came from an address, and what may be tried: the same again, or another address."""

    def __init__(self, why: Phrase | str, *, passing: bool = False, pause: float = 0.0) -> None:
        super().__init__(why)
        self.why, self.passing, self.pause = why, passing, pause


@dataclass
class Validator:
    """What says of a part which content it is a part of."""

    address: str
    tag: str = ""  # ETag, strong
    modified: str = ""  # Last-Modified
    total: int | None = None

    @classmethod
    def read(cls, path: Path, address: str) -> Validator:
        """The note beside a part; an empty one if there is none, or if it belongs to another address."""
        try:
            found = cls(**read_json(path))
        except (FileError, TypeError):  # no note, or none of ours
            return cls(address)
        fine = isinstance(found.tag, str) and isinstance(found.modified, str) and isinstance(found.total, int | None)
        return found if fine and found.address == address else cls(address)

    @classmethod
    def of(cls, address: str, headers: Mapping[str, str], total: int | None) -> Validator:
        tag = headers.get("ETag") or ""
        return cls(address, "" if tag.startswith("W/") else tag, headers.get("Last-Modified") or "", total)

    @property
    def condition(self) -> str:
        """The value of If-Range; empty if the server named nothing that tells one content from another."""
        return self.tag or self.modified


class Transfer:
    """What has come from one address, and the way to the rest of it."""

    def __init__(self, address: str, folder: Path, progress: BytesSoFar) -> None:
        self.address, self.progress = address, progress
        name = Path(urlsplit(address).path).name or "index"
        mark = sha256(address.encode()).hexdigest()[:8]  # two mirrors may name two files alike
        self.part = folder / f"{PART}{mark}-{name}"
        self.note = folder / f"{PART}{mark}-{name}{NOTE}"

    @property
    def have(self) -> int:
        return self.part.stat().st_size if self.part.is_file() else 0

    def drop(self) -> None:
        """Forget what came: it is of no use."""
        self.part.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)

    def fetch(self) -> Path:
        """The whole content. Trouble that may pass is waited out a few times; else a TransferError says why."""
        tries, pause = 1, PAUSE
        while True:
            before = self.have
            try:
                self._continue()
                return self.part
            except TransferError as trouble:
                if self.have - before >= ADVANCE:  # it goes on: the number of tries bounds standstills only
                    tries, pause = 0, PAUSE
                if not trouble.passing or tries >= TRIES:
                    raise
                time.sleep(min(max(pause, trouble.pause), LONGEST_PAUSE))
                tries, pause = tries + 1, pause * 2

    def _continue(self) -> None:
        """One request for what is missing."""
        known = Validator.read(self.note, self.address)
        start = self.have if known.condition else 0
        if start and start == known.total:
            return
        try:
            answer = _ask(self.address, start, known.condition)
        except HTTPError as error:
            error.close()
            if error.code == 416 and start:  # the content has become shorter than our part
                self.drop()
                raise TransferError(Phrase("download.changed"), passing=True) from error
            raise _refusal(error) from error
        except (HTTPException, OSError, ValueError) as error:  # ValueError: a redirect to what is no address
            raise _trouble(error) from error
        with answer:
            start, total = self._agreed(answer, start, known)
            self._receive(answer, start, total)

    def _agreed(self, answer: Any, start: int, known: Validator) -> tuple[int, int | None]:
        """Where this answer begins, and how long the whole is; the note is renewed."""
        if answer.status == 206:
            found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", (answer.headers.get("Content-Range") or "").strip())
            tag = answer.headers.get("ETag") or known.tag
            same = found and int(found[1]) == start and known.total in (None, int(found[2]))
            if not found or not same or (known.tag and tag != known.tag):
                self.drop()
                raise TransferError(Phrase("download.changed"), passing=True)
            return start, int(found[2])
        if answer.status != 200:
            raise TransferError(f"HTTP {answer.status}")
        size = answer.headers.get("Content-Length") or ""
        total = int(size) if size.isascii() and size.isdigit() else None
        with disk(self.part):  # before the note: it must never speak of another content
            self.part.unlink(missing_ok=True)
        write_json(self.note, vars(Validator.of(self.address, answer.headers, total)))
        return 0, total

    def _receive(self, answer: Any, start: int, total: int | None) -> None:
        done = start
        with disk(self.part):
            file = self.part.open("ab", buffering=0)
        with file:
            with disk(self.part):
                file.truncate(start)
            while piece := self._piece(answer, done):
                with disk(self.part):
                    write_piece(file, piece)
                done += len(piece)
                self.progress(self.address, done, total)
        if total is not None and done != total:
            raise TransferError(_broke_off(done, total), passing=True)
        with disk(self.part):
            sync(self.part)
        if total is None:  # now it is known
            self.progress(self.address, done, done)

    def _piece(self, answer: Any, done: int) -> bytes:
        try:
            piece: bytes = answer.read1(PIECE)
        except (HTTPException, OSError, ValueError) as error:
            raise _trouble(error, done) from error
        return piece


def _broke_off(done: int, total: int | None) -> Phrase:
    if total is None:
        return Phrase("download.broke_off_somewhere", (("done", f"{done:,}"),))
    return Phrase("download.broke_off", (("done", f"{done:,}"), ("total", f"{total:,}")))


def _ask(address: str, start: int, condition: str) -> Any:
    headers = {"User-Agent": f"glassformer/{__version__}", "Accept-Encoding": "identity"}
    if start:
        headers |= {"Range": f"bytes={start}-", "If-Range": condition}
    return _opener().open(Request(address, headers=headers), timeout=PATIENCE)


def _opener() -> OpenerDirector:
    """HTTP and HTTPS alone, by the proxies of the environment as it is now: no file:, no ftp:, no data:."""
    opener = OpenerDirector()
    handlers: list[BaseHandler] = [
        ProxyHandler(),
        HTTPHandler(),
        HTTPSHandler(),
        _Redirects(),
        HTTPDefaultErrorHandler(),
        HTTPErrorProcessor(),
        UnknownHandler(),
    ]
    for handler in handlers:
        opener.add_handler(handler)
    return opener


class _Redirects(HTTPRedirectHandler):
    """Follows a few redirects, and only to where pages are published."""

    max_redirections = REDIRECTS

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        if urlsplit(newurl).scheme not in ("http", "https"):  # urllib itself would follow to ftp:
            raise _away(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)

    def http_error_302(self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage) -> Any:
        try:
            return super().http_error_302(req, fp, code, msg, headers)
        except HTTPError:  # it holds the answer, which is closed with it
            raise
        except BaseException:
            fp.close()
            raise

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _refusal(error: HTTPError) -> TransferError:
    """What an answer other than 200 or 206 means."""
    if 300 <= error.code < 400 and (goal := error.headers.get("Location") or ""):
        if urlsplit(goal).scheme not in ("", "http", "https"):
            return _away(goal)
        return TransferError(Phrase("download.redirected_round", (("limit", REDIRECTS),)))
    passing = error.code >= 500 or error.code in PASSING
    return TransferError(f"HTTP {error.code}", passing=passing, pause=_asked_pause(error.headers.get("Retry-After")))


def _asked_pause(text: str | None) -> float:
    """Retry-After in seconds: a number, or a date."""
    if not text:
        return 0.0
    if text.strip().isascii() and text.strip().isdigit():
        return float(text)
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return 0.0


def _trouble(error: Exception, done: int = 0) -> TransferError:
    """What an exception of the network means; the worst cases of `urllib` come wrapped in a URLError."""
    cause = error.reason if isinstance(error, URLError) and isinstance(error.reason, Exception) else error
    if isinstance(cause, TimeoutError):
        return TransferError(Phrase("download.stalled", (("seconds", f"{PATIENCE:g}"),)), passing=True)
    if isinstance(cause, socket.gaierror):
        return TransferError(Phrase("download.no_such_host"))
    if isinstance(cause, IncompleteRead):
        return TransferError(_broke_off(done, None), passing=True)
    why = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    # BadStatusLine and RemoteDisconnected: the server hung up before it answered
    passing = isinstance(cause, ConnectionResetError | ConnectionAbortedError | BrokenPipeError)
    return TransferError(why, passing=passing)


def _away(address: str) -> TransferError:
    short = address if len(address) <= 60 else f"{address[:59]}…"
    return TransferError(Phrase("download.redirected_away", (("address", short),)))
