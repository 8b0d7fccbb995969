"""`glassformer explore --export`: a page as a file, and one line for whatever a user can get wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import glassformer as gf
from explorer_client import client, tiny_run
from glassformer.cli.app import main
from saved_page import SavedPage
from small_disk import no_file_larger_than
from typed import typed

TEXT = "우리는 자주 웃는다"
explore = typed("explore")
Captured = pytest.CaptureFixture[str]


def run(kind: str = "translation") -> str:
    return str(tiny_run(kind))


@pytest.mark.slow
def test_a_page_is_written(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "page.html"
    code, out, _ = explore(capsys, run(), "--export", path, "--text", TEXT, "--lang", "ko")
    assert code == 0 and "page.html" in out and out.startswith("페이지를 저장했습니다")
    page = SavedPage(path.read_text(encoding="utf-8"))
    name = tiny_run("translation").name
    assert page.index["question"] == {"model": name, "checkpoint": "", "input": {"text": TEXT}}
    asked = {"model": name, "input": {"text": TEXT}}
    assert page.content("/api/trace", {"edits": []}) == client(run()).post("/api/trace", json=asked).content
    assert '<html lang="ko">' in page.text and page.index["address"].endswith("&lang=ko")


@pytest.mark.slow
def test_by_default_the_first_example(tmp_path: Path, capsys: Captured) -> None:
    for kind, given in {"image_classification": {"example": 0}, "forecasting": {"example": 0}}.items():
        path = tmp_path / f"{kind}.html"
        assert explore(capsys, run(kind), "--export", path)[0] == 0
        assert SavedPage(path.read_text(encoding="utf-8")).index["question"]["input"] == given


@pytest.mark.slow
def test_some_layers_alone(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "page.html"
    assert explore(capsys, run(), "--export", path, "--only-layers", "0")[0] == 0
    assert SavedPage(path.read_text(encoding="utf-8")).index["layers"] == [0]


@pytest.mark.slow
def test_nothing_is_overwritten(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "page.html"
    path.write_text("mine", encoding="utf-8")
    code, _, err = explore(capsys, run(), "--export", path)
    assert code == 1 and "page.html exists already" in err and path.read_text(encoding="utf-8") == "mine"
    assert explore(capsys, run(), "--export", path, "--force")[0] == 0
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


WRONG: dict[str, tuple[list[str], int, str]] = {
    "no such model": (["nothing", "--export", "page.html"], 1, "there is no model nothing"),
    "no such folder": (["MODEL", "--export", "none/page.html"], 1, "none/page.html cannot be written"),
    "a folder": (["MODEL", "--export", "."], 1, "is a folder; name a file"),
    "two models": (["MODEL", "MODEL", "--export", "page.html"], 2, "2 models are named"),
    "an empty text": (["MODEL", "--export", "page.html", "--text", " "], 1, "text"),
    "a text too long": (["MODEL", "--export", "page.html", "--text", "나 " * 2000], 1, "at most"),
    "a text for images": (["IMAGES", "--export", "page.html", "--text", "a"], 1, "reads no text but image"),
    "no list of layers": (["MODEL", "--export", "page.html", "--only-layers", "1,x"], 2, "'1,x' is no list"),
    "no such layer": (["MODEL", "--export", "page.html", "--only-layers", "9"], 1, "9"),
    "a text without a page": (["MODEL", "--text", "a"], 2, "--text goes with --export"),
    "layers without a page": (["MODEL", "--only-layers", "1"], 2, "--only-layers goes with --export"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_one_line(
    case: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, expected, line = WRONG[case]
    monkeypatch.chdir(tmp_path)
    models = {"MODEL": run(), "IMAGES": run("image_classification")}
    with pytest.raises(SystemExit) as stop:
        main(["explore", *(models.get(word, word) for word in words)])
    err = capsys.readouterr().err
    assert stop.value.code == expected and line in err and "Traceback" not in err
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_a_full_disk_is_one_line(tmp_path: Path, capsys: Captured) -> None:
    with no_file_larger_than(10_000):
        code, _, err = explore(capsys, run(), "--export", tmp_path / "page.html")
    assert code == 1 and "cannot be written" in err and not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_the_same_in_python(tmp_path: Path) -> None:
    model: Any = gf.load(run())
    path = gf.explore(model, export=tmp_path / "page.html", text=TEXT)
    assert path == tmp_path / "page.html"
    assert SavedPage(path.read_text(encoding="utf-8")).index["question"]["input"] == {"text": TEXT}
    with pytest.raises(gf.GlassformerError, match="exists already"):
        gf.explore(model, export=path)
    with pytest.raises(gf.GlassformerError, match="goes with --export"):
        gf.explore(model, text=TEXT, browser=False)


def test_the_demo_ends_by_naming_the_explorer() -> None:
    rules = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8").split("\n\n")
    (demo,) = (rule for rule in rules if rule.startswith("demo:"))
    assert demo.splitlines()[-1].startswith("\t@echo") and "glassformer explore runs/demo" in demo.splitlines()[-1]
