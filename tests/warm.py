"""`glassformer` as a process of its own, forked from one that has torch in memory already: it starts in no time.

For tests of what only a process has: signals, pipes, a terminal, an exit code. `command()` stands where
`python -m glassformer` would. It starts this file as a program, which hands its arguments, folder, environment and
open files to a server and passes on signals one way and the exit code the other. The server forks for each command,
and the fork runs what `python -m glassformer` runs. What is imported at the start, and how Python ends, needs a real
`python -m glassformer`.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from functools import cache
from typing import Any

HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
IMPORTED = (
    "torch._dynamo",
    "tokenizers",
    "sklearn.datasets",
    "scipy.optimize",
    "PIL.Image",
    "matplotlib.backends.backend_agg",
)
LANGUAGE_AT_IMPORT = "glassformer.cli"  # help texts are made in the language of the command that imports them
NEED_TRITON = "glassformer.kernels."


@cache
def command() -> list[str]:
    """The first words of a command line; the server ends with this process."""
    import atexit
    import subprocess
    import tempfile
    from pathlib import Path

    if sys.platform != "linux":  # elsewhere a fork of torch may crash
        return [sys.executable, "-m", "glassformer"]
    folder = tempfile.TemporaryDirectory(prefix="warm-")
    path = str(Path(folder.name) / "socket")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    assert server.stdin is not None and server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    owner = os.getpid()

    def end() -> None:
        if os.getpid() == owner:  # and not a fork of it
            assert server.stdin is not None
            server.stdin.close()
            server.wait()
            folder.cleanup()

    atexit.register(end)
    return [sys.executable, "-I", "-S", __file__, path]


# --- the program that stands for the command: it imports next to nothing ---


def stand_for(path: str, words: list[str]) -> int:
    """Hand everything over, then pass on signals until the exit code comes."""
    server = socket.socket(socket.AF_UNIX)
    server.connect(path)
    ignored = [number for number in HEARD if signal.getsignal(number) is signal.SIG_IGN]
    here = os.getcwd()  # noqa: PTH109, pathlib takes longer to import than all else here
    about = repr((words, here, dict(os.environ), [int(number) for number in ignored]))
    socket.send_fds(server, [f"{len(about.encode()):10d}".encode()], [0, 1, 2])
    server.sendall(about.encode())
    answers = server.makefile("rb")
    pid = int(answers.readline())
    for number in {*HEARD} - {*ignored}:
        signal.signal(number, lambda heard, _: os.kill(pid, heard))
    for file in (0, 1, 2):
        os.close(file)  # a pipe is closed when the command closes it
    status = int(answers.readline())
    if os.WIFSIGNALED(status):
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    return os.waitstatus_to_exitcode(status)


# --- the server ---


def serve(path: str) -> dict[str, Any]:
    """Fork for every command; the fork returns from here with what it is to be. The server itself never does."""
    import gc
    import select

    _import_all()
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    children: set[int] = set()
    while True:
        readable, _, _ = select.select([listener, 0], [], [])
        children -= {child for child in children if os.waitpid(child, os.WNOHANG)[0]}
        if 0 in readable:  # whoever started us has gone
            for child in children:
                os.waitpid(child, 0)
            os._exit(0)
        client, _ = listener.accept()
        child = os.fork()
        if child == 0:
            listener.close()
            return _command(client)
        client.close()
        children.add(child)


def _import_all() -> None:
    import contextlib
    import importlib
    import pkgutil

    import glassformer

    for name in IMPORTED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for found in pkgutil.walk_packages(glassformer.__path__, "glassformer."):
        if not found.name.startswith((LANGUAGE_AT_IMPORT, NEED_TRITON)) and found.name != "glassformer.__main__":
            importlib.import_module(found.name)


def _command(client: socket.socket) -> dict[str, Any]:
    """In a fork of the server: what it was asked, in a fork of its own that is waited for here."""
    import ast
    import select

    size, files, _, _ = socket.recv_fds(client, 10, 3)
    about = b""
    while len(about) < int(size):
        about += client.recv(int(size) - len(about))
    child = os.fork()
    if child == 0:
        client.close()
        words, folder, environment, ignored = ast.literal_eval(about.decode())
        return {"words": words, "folder": folder, "environment": environment, "ignored": ignored, "files": files}
    for file in (0, 1, 2, *files):
        os.close(file)
    client.sendall(f"{child}\n".encode())
    life = os.pidfd_open(child)
    if client in select.select([life, client], [], [])[0]:  # the program was killed that stands for the command
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    try:
        client.sendall(f"{status}\n".encode())
    finally:
        os._exit(0)


def become(words: list[str], folder: str, environment: dict[str, str], ignored: list[int], files: list[int]) -> None:
    """As if Python had just been started with these."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number in HEARD:
        usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, signal.SIG_IGN if number in ignored else usual)
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    plain = bool(environment.get("PYTHONUNBUFFERED"))
    sys.stdin = open(0, encoding=encoding, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding=encoding, closefd=False)  # noqa: SIM115
    sys.stdout.reconfigure(write_through=plain)
    sys.stderr = open(2, "w", encoding=encoding, errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    sys.argv = ["glassformer", *words]


def run() -> int:
    """The exit code. Python is not taken down afterwards: that would touch, and so copy, all memory of the server."""
    import atexit
    from runpy import run_module

    try:
        run_module("glassformer", run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        code = int(stop.code or 0)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    if sys.argv[1] != "--serve":
        sys.exit(stand_for(sys.argv[1], sys.argv[2:]))
    become(**serve(sys.argv[2]))
    os._exit(run())
