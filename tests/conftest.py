"""Before torch is loaded, whatever the place and the way in which the tests are started."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from once import place
from own_signals import from_outside

# some virtual machines report AMX and then kill the process that uses it in bfloat16
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ["GLASSFORMER_LANG"] = "en"  # whatever the locale of the machine is
os.environ.pop("COLUMNS", None)  # some terminals and runners set it, and tables would be narrower than tests expect

# torch's cache of compiled code does not tell forced widths of vectors apart: what was compiled for 16 numbers at once
# is taken up again for 8, and answers nonsense
if width := os.environ.get("ATEN_CPU_CAPABILITY"):
    own = Path(tempfile.gettempdir()) / f"torchinductor-{os.getuid()}-{width}"
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(own))

# a job in the background of a shell ignores SIGINT, one under nohup SIGHUP; so would every command that a test starts
for ignored, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, usual)


place()  # before xdist starts its workers: they share it


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Tests and their modules stay to the end: looking for garbage among them takes a quarter of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test that is marked `many` one value in ten is fast, the first among them; the others are slow."""
    values = Counter[str]()
    for item in items:
        if item.get_closest_marker("many"):
            test = item.nodeid.partition("[")[0]
            if values[test] % 10:
                item.add_marker(pytest.mark.slow)
            values[test] += 1


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None]:
    """What a file of tests leaves behind (imports, caches) stays as well, and costs seconds to look through again."""
    yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """A training in a test must not swallow a signal that is meant for the suite: see own_signals.py."""
    try:
        with from_outside() as signals:
            yield
    finally:  # whether the test failed or not: it may have failed for this
        if signals:
            pytest.exit(f"{signals[0].name} came during {item.nodeid}")


@pytest.fixture(autouse=True)
def _in_english(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line leaves the language that it was asked for in the environment: no test inherits another's."""
    monkeypatch.setenv("GLASSFORMER_LANG", "en")


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the program keeps what it measures and draws: empty, and nobody else's."""
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


GRAMMAR = Path(__file__).with_name("data")  # these tests are about what is drawn
DRAWN: dict[str, list[Any]] = {}  # in this process


def remembered(draw: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    def again(*arguments: Any, **keys: Any) -> list[Any]:
        question = repr((draw.__name__, arguments, keys))
        if question not in DRAWN:
            DRAWN[question] = draw(*arguments, **keys)
        return list(DRAWN[question])

    return again


@pytest.fixture(autouse=True, scope="module")
def _sentences_drawn_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests train on the same recipes: the grammar draws their sentences once in a process, not once a training.

    A rare kind of sentence takes seconds to find. For its own tests, and for those of corpora, the grammar is itself.
    """
    with pytest.MonkeyPatch.context() as patch:
        if GRAMMAR not in request.path.parents:
            from glassformer.data import grammar

            for name in ("pairs", "labelled"):
                patch.setattr(grammar, name, remembered(getattr(grammar, name)))
        yield
