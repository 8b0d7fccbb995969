"""The guide to data of one's own is run from the page: its files are written, its commands are given, in order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from glassformer.cli.app import main
from glassformer.loading.recipe_text import key_table
from glassformer.tasks.own import own_files

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"(?:^`([\w./-]+)`:\n\n)?^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def page(lang: str) -> str:
    return (ROOT / "docs" / lang / "own-data.md").read_text(encoding="utf-8")


def commands(text: str) -> list[list[str]]:
    """The lines of the bash blocks, without their comments."""
    blocks = [code for _, kind, code in BLOCK.findall(text) if kind == "bash"]
    return [shlex.split(line, comments=True) for code in blocks for line in code.splitlines()]


def sections(text: str) -> list[str]:
    """The parts of the page that hold commands; each is complete, but for the files of the parts before it."""
    return [part for part in re.split(r"^## ", text, flags=re.MULTILINE) if "```bash" in part]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for the whole page, with all of its files in it."""
    place = tmp_path_factory.mktemp("own")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for name, kind, code in BLOCK.findall(page("en")):
            if name:
                Path(name).write_text(code, encoding="utf-8")
            elif kind == "python":
                exec(compile(code, "own-data.md", "exec"), {})
    return place


@pytest.mark.slow
@pytest.mark.parametrize("section", sections(page("en")), ids=lambda text: text.splitlines()[0])
def test_every_example_runs_from_the_page(
    section: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    monkeypatch.setenv("GLASSFORMER_CACHE", str(folder / "cache"))  # one command clears it
    found = commands(section)
    assert found
    for program, *arguments in found:
        assert program == "glassformer"
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        out, err = capsys.readouterr()
        assert stop.value.code == 0, (arguments, err)
        assert [line for line in err.splitlines() if not line.startswith("warmup=")] == []  # the page speaks of it
        assert out


def test_both_languages_give_the_same_commands() -> None:
    assert commands(page("en")) == commands(page("ko"))


def test_every_task_is_there_with_train_use_and_evaluate() -> None:
    verbs = {command[1] for command in commands(page("en"))}
    assert {"translate", "classify", "generate", "fill", "recognise", "forecast", "evaluate", "recipes"} <= verbs
    trained = [command for command in commands(page("en")) if command[1] == "train"]
    assert len([command for command in trained if "--dry-run" not in command]) >= 7
    for files in own_files().values():
        assert f"`{files.recipe}`" in page("en") and f"`{files.recipe}`" in page("ko")


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("table", ["data", "text", "train"])
def test_every_key_is_documented_with_its_default(lang: str, table: str) -> None:
    """Where a key, its meaning or its default has changed: put `key_table(lang, table)` into the page."""
    assert key_table(lang, table) in page(lang)
