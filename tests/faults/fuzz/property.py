"""The one property that holds for every case."""

import contextlib
import io
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping

import warm
from faults.fuzz.world import HERE, Case, World, world
from glassformer.cli.app import main
from glassformer.errors import GlassformerError, GlassformerWarning
from glassformer.words import LANGUAGES, say

UNEXPECTED = say("errors.unexpected", "en").partition("{")[0]


def holds(case: Case, *, as_command: bool = False) -> str:
    """Ask; every file is as it was and none is new; what was asked is answered, or refused in one line.

    Returns how it went, for the record: "answered" or "refused".
    """
    place = world()
    given = place.before | _put(case.files, place)
    try:
        if not isinstance(case.ask, tuple):
            went = _from_python(case.ask)
        else:
            words = [word.replace(HERE, str(place.here)) for word in case.ask]
            went = _judged(*(_as_process(words) if as_command else _in_process(words)))
        if case.files or isinstance(case.ask, tuple):
            now = place.now()
            assert now == {path: stamp for path, stamp in given.items() if stamp}, {*now.items()} ^ {*given.items()}
        for name, content in case.files.items():
            assert content is None or (place.here / name).read_bytes() == content, f"{name} was changed"
    finally:
        _put_back(case.files, place)
    return went


def _put(files: Mapping[str, bytes | None], place: World) -> dict[str, tuple[int, int] | None]:
    """Write them; their sizes and moments, None for those that are away."""
    stamps: dict[str, tuple[int, int] | None] = {}
    for name, content in files.items():
        path = place.here / name
        if content is None:
            path.unlink(missing_ok=True)
            stamps[str(path)] = None
        else:
            path.write_bytes(content)
            known = path.stat()
            stamps[str(path)] = (known.st_size, known.st_mtime_ns)
    return stamps


def _put_back(files: Mapping[str, bytes | None], place: World) -> None:
    for name in files:
        path = place.here / name
        if str(path) in place.before:
            path.write_bytes(place.content(name))
            os.utime(path, ns=(place.before[str(path)][1],) * 2)
        else:
            path.unlink(missing_ok=True)


def _from_python(ask: Callable[[], object]) -> str:
    """Whatever else is raised than an error of ours goes through, and is the finding."""
    err = io.StringIO()
    with contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("ignore", GlassformerWarning)
        try:
            ask()
            went = "answered"
        except GlassformerError as error:
            assert all(error.in_language(lang).strip() for lang in LANGUAGES)
            went = "refused"
    assert not err.getvalue(), err.getvalue()
    return went


def _in_process(words: list[str]) -> tuple[int, str, str]:
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        try:
            main(["--lang", "en", *words])
        except SystemExit as stop:
            code = int(stop.code or 0)
    out.flush()
    return code, out.buffer.getvalue().decode("utf-8"), err.getvalue()


def _as_process(words: list[str]) -> tuple[int, str, str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*warm.command(), "--lang", "en", *words],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env=environment,
        timeout=300,
    )
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


def _judged(code: int, out: str, err: str) -> str:
    """0 done, 1 failed, 2 wrong use; a refusal is the last line, and before it stands at most what is worth knowing."""
    assert code in (0, 1, 2), code
    assert "Traceback" not in out + err, err
    assert UNEXPECTED not in err, err
    lines = err.split("\n")
    assert lines.pop() == "", err
    assert all(line.isprintable() for line in lines), err
    if code:
        assert len(lines) == 1, err
    return "refused" if code else "answered"
