"""Start the explorer: uvicorn on 127.0.0.1, and the browser once it answers. Ctrl-C ends it at once."""

from __future__ import annotations

import errno
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn

from glassformer.errors import UsageError
from glassformer.explorer.app import make_app
from glassformer.explorer.connections import Connection
from glassformer.explorer.shelf import Shelf

HOST, PORT = "127.0.0.1", 8017
OTHERS = 20  # ports tried after ours, if none was asked for


class Server(uvicorn.Server):
    """A server that says when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.ready()


class Running:
    """An explorer that runs in a thread, as in a notebook: `stop()` ends it."""

    def __init__(self, server: Server, thread: threading.Thread, url: str) -> None:
        self.server, self.thread, self.url = server, thread, url

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(5)

    def __repr__(self) -> str:
        return self.url


def serve(
    models: Sequence[str | Path] = (),
    *,
    port: int | None = None,
    browser: bool = True,
    announce: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until Ctrl-C or SIGTERM. `announce` is called with the address once the server answers.

    This thread only waits, so that nothing holds it back when it is to end: neither a pass nor who waits for one.
    """
    running = start(models, port=port, browser=False)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        announce(running.url)
        if browser:
            threading.Thread(target=webbrowser.open, args=(running.url,), daemon=True).start()
        while running.thread.is_alive():
            running.thread.join(0.5)  # without a time, no Ctrl-C would be heard on Windows
    except KeyboardInterrupt:
        running.server.should_exit = True
    finally:
        signal.signal(signal.SIGTERM, before)


def start(models: Sequence[str | Path] = (), *, port: int | None = None, browser: bool = True) -> Running:
    """Serve in a thread of this process."""
    shelf, listening = opened(models), listen(port)
    url, answers = f"http://{HOST}:{listening.getsockname()[1]}/", threading.Event()
    server = Server(_config(shelf), answers.set)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    answers.wait(30)
    if browser:
        webbrowser.open(url)
    return Running(server, thread, url)


def opened(models: Sequence[str | Path]) -> Shelf:
    """The shelf, with the named models open: what is wrong with one is said before the server starts."""
    shelf = Shelf(models)
    shelf.open_named()
    return shelf


def listen(port: int | None) -> socket.socket:
    """A socket on the wanted port, or on the first free one; raises if the wanted port is taken."""
    for number in [port] if port is not None else [*range(PORT, PORT + OTHERS), 0]:
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((HOST, number))
            made.listen(128)
            return made
        except (OSError, OverflowError) as error:
            made.close()
            if port is not None:
                taken = getattr(error, "errno", 0) == errno.EADDRINUSE
                raise UsageError("explorer_port_taken" if taken else "explorer_port", port=port) from error
    raise UsageError("explorer_port", port=PORT)


def _config(shelf: Shelf) -> uvicorn.Config:
    return uvicorn.Config(
        make_app(shelf),
        log_level="error",
        access_log=False,
        lifespan="off",
        http=Connection,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=32_768,
        server_header=False,
    )
