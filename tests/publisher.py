"""A host on loopback that publishes files and does with some requests what the network does: a real HTTP server.

`faults[path]` holds what happens to the next requests for a path, one after another; then all is well. What was asked
for and how many bytes of each file were sent is counted.
"""

from __future__ import annotations

import io
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.request import ProxyHandler, build_opener


class Publisher(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 32

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages: dict[str, bytes] = {}
        self.faults: dict[str, list[tuple[Any, ...]]] = {}
        self.asked: list[tuple[str, str | None]] = []  # path, Range
        self.sent: dict[str, int] = {}
        self.reached = threading.Event()  # a transfer is held
        self.ended = threading.Event()
        self.proxied: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what these tests are about."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Publisher

    def do_GET(self) -> None:
        if self.path.startswith("http://"):
            self.pass_on()
            return
        self.asked(self.path)
        faults = self.server.faults.get(self.path, [])
        kind, *given = faults.pop(0) if faults else ("fine",)
        getattr(self, f"be_{kind}")(*given)

    def asked(self, path: str) -> None:
        self.server.asked.append((path, self.headers.get("Range")))

    # --- what can happen ---

    def be_fine(self, *, cut: int | None = None, hold: bool = False, heed: bool = True, validated: bool = True) -> None:
        """The file, or the part of it that is asked for; `cut`: so many bytes and no more."""
        body = self.server.pages.get(self.path)
        if body is None:
            self.be_status(404)
            return
        tag = f'"{sha256(body).hexdigest()[:16]}"'
        start = 0
        asked = self.headers.get("Range", "")
        if heed and asked and self.headers.get("If-Range") == tag:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(body):
                self.be_status(416)
                return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        if validated:
            self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        self.give(body[start:] if cut is None else body[start : start + cut])
        if hold:
            self.wfile.flush()
            self.server.reached.set()
            self.connection.settimeout(0.1)
            while not self.server.ended.is_set():
                try:
                    if not self.connection.recv(1):  # the client has gone
                        break
                except TimeoutError:
                    continue
                except OSError:
                    break
        if cut is not None:
            self.close_connection = True

    def be_cut(self, count: int) -> None:
        self.be_fine(cut=count)

    def be_held(self, count: int) -> None:
        self.be_fine(cut=count, hold=True)

    def be_deaf(self) -> None:
        """It does not know Range."""
        self.be_fine(heed=False)

    def be_bare(self, count: int) -> None:
        """It names nothing by which a content could be told from another, and breaks off."""
        self.be_fine(cut=count, heed=False, validated=False)

    def be_status(self, code: int, wait: str = "") -> None:
        self.send_response(code)
        if wait:
            self.send_header("Retry-After", wait)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def be_moved(self, goal: str) -> None:
        self.send_response(302)
        self.send_header("Location", goal)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def be_lying(self, length: int) -> None:
        """All bytes, or as many as fit into the length that it names."""
        body = self.server.pages[self.path]
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.give(body[:length])
        self.close_connection = True

    def be_other(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.give(body)

    def be_elsewhere(self, content_range: str) -> None:
        """Another part than was asked for."""
        self.send_response(206)
        self.send_header("Content-Range", content_range)
        self.send_header("Content-Length", "1")
        self.end_headers()
        self.give(b"x")

    def be_chunked(self, count: int | None = None) -> None:
        """Without a length; `count`: broken off after so many bytes."""
        body = self.server.pages[self.path][:count]
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for start in range(0, len(body), 1000):
            piece = body[start : start + 1000]
            self.wfile.write(f"{len(piece):x}\r\n".encode())
            self.give(piece)
            self.wfile.write(b"\r\n")
        if count is None:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def be_hung_up(self) -> None:
        self.close_connection = True

    # --- the rest ---

    def give(self, body: bytes) -> None:
        self.server.sent[self.path] = self.server.sent.get(self.path, 0) + len(body)
        self.wfile.write(body)

    def pass_on(self) -> None:
        """As a proxy does."""
        self.server.proxied.append(self.path)
        with build_opener(ProxyHandler({})).open(self.path, timeout=10) as answer:
            body = answer.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def publishing() -> Iterator[Publisher]:
    """A host for one test."""
    with Publisher() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield running
        finally:
            running.ended.set()
            running.shutdown()
            thread.join()


def tar(files: Mapping[str, bytes], packing: str = "gz") -> bytes:
    """A tar archive of these files, packed or not."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode=f"w:{packing}") as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return whole.getvalue()


def zipped(files: Mapping[str, bytes]) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return whole.getvalue()
