from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import nbclient
import nbformat
import pytest

import glassformer as gf
from explorer_client import tiny_run
from glassformer.errors import UsageError
from glassformer.explorer.serve import PORT, listen, start


def test_a_port_that_is_wanted_is_taken_or_refused() -> None:
    with listen(0) as free:
        port = free.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port} is taken"):
            listen(port)
    for impossible in (-1, 65_536):
        with pytest.raises(UsageError, match=f"port {impossible} cannot be used"):
            listen(impossible)


def test_without_a_wish_the_next_free_port_is_taken() -> None:
    with listen(None) as one, listen(None) as other:
        assert PORT <= one.getsockname()[1] < other.getsockname()[1]


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
def test_a_port_that_is_forwarded_works_under_another_number(name: str) -> None:
    """As behind `ssh -L 9000:127.0.0.1:8017`: the browser names itself, and the number it knows."""
    running = start([tiny_run("classification")], browser=False, port=0)
    try:
        for origin in (f"http://{name}:9000", None):
            headers = {"host": f"{name}:9000"} | ({"origin": origin} if origin else {})
            with urlopen(Request(f"{running.url}healthz", headers=headers)) as answer:
                assert answer.status == 200
    finally:
        running.stop()


def test_it_ends_when_it_is_told_to() -> None:
    running = gf.explore(tiny_run("classification"), gf.load(tiny_run("translation")), port=0, browser=False)
    with urlopen(f"{running.url}healthz") as answer:
        assert answer.status == 200
    assert repr(running) == running.url
    running.stop()
    assert not running.thread.is_alive()
    with pytest.raises(URLError):
        urlopen(f"{running.url}healthz")


CELLS = [
    "import json, glassformer as gf\nfrom urllib.request import urlopen",
    "running = gf.explore({run!r}, port=0, browser=False)\nrunning",
    "print(json.load(urlopen(running.url + 'healthz'))['status'], gf.load({run!r}).task)",
    "running.stop()\nprint(running.thread.is_alive())",
]


@pytest.mark.slow
def test_it_runs_beside_the_cells_of_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(gf.__file__).parents[1]), *_inherited()]))
    cells = [nbformat.v4.new_code_cell(each.format(run=str(tiny_run("classification")))) for each in CELLS]
    notebook: Any = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert notebook.cells[1].outputs[0]["data"]["text/plain"].startswith("http://127.0.0.1:")
    assert notebook.cells[2].outputs[0]["text"] == "ok classification\n"
    assert notebook.cells[3].outputs[0]["text"] == "False\n"


def _inherited() -> list[str]:
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
