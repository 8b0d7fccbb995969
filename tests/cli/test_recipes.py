from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from glassformer.bench.record import RESULTS, BenchResult
from glassformer.loading import open_recipe, recipe_text, recipes
from glassformer.tasks.schemas import schemas
from typed import typed


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    monkeypatch.setenv("COLUMNS", "200")


run = typed("recipes")


def test_the_list_names_all_with_task_needs_and_recorded_time(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    rows = {line.split("│")[1].strip(): line for line in out.splitlines() if line.startswith("│")}
    assert set(rows) == set(recipes())
    recorded = BenchResult.read(RESULTS / "translation.json")
    minutes = recorded.numbers["rows"][0]["seconds"] / 60
    assert "translation" in rows["ko-en"] and "nothing" in rows["ko-en"]
    assert f"{minutes:.1f} min ({recorded.machine['cores']} cores)" in rows["ko-en"]
    assert "extra 'images'" in rows["digits"] and "data: nsmc" in rows["nsmc"]
    assert "your own file" in rows["own-series"] and "–" in rows["own-series"]


def test_the_list_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "list", "--json")
    found = {row["name"]: row for row in json.loads(out)}
    assert set(found) == set(recipes())
    assert found["tatoeba-pydocs-ko-en"]["sets"] == ["tatoeba-kor-eng", "kor-eng-pydocs", "korean-english-school"]
    assert found["en-ko"]["seconds"] is None


def test_one_is_printed_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "show", "ko-en") == (0, recipes()["ko-en"].read_text(encoding="utf-8"), "")
    assert json.loads(run(capsys, "show", "ko-en", "--json")[1])["run"]["name"] == "ko-en"


@pytest.mark.many
@pytest.mark.parametrize("name", recipes())
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_in_full_it_is_the_same_recipe_and_every_default_can_be_uncommented(
    name: str, lang: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "show", name, "--full", "--lang", lang)
    path = tmp_path / "a.toml"
    path.write_text(out, encoding="utf-8")
    assert open_recipe(path) == open_recipe(name)
    body = re.sub(r"^# (\w+ = [^\s#])", r"\1", out[out.index("[run]") :], flags=re.MULTILINE)
    path.write_text(body, encoding="utf-8")
    assert tomllib.loads(body)["train"]["clip"] == open_recipe(name).train.clip
    assert open_recipe(path).train == open_recipe(name).train


@pytest.mark.parametrize("name", ["ko-en", "own-series", "object-queries"])
def test_in_full_the_options_that_are_left_as_they_are_stand_there_too(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "show", name, "--full")
    config, tables = open_recipe(name), out.split("\n[")
    for place, schema in schemas(config).items():
        table, key = place.split(".")
        chosen = config.task if place == "run.task" else getattr(getattr(config, table), key)
        (body,) = [text for text in tables if text.startswith(f"{table}]")]
        listed = [line.split()[1].partition(".")[2] for line in body.splitlines() if line.startswith(f"# {key}.")]
        assert listed == [option for option in schema if option not in chosen.options], place


def test_a_copy_keeps_the_comments_and_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    code, out, err = run(capsys, "copy", "ko-en", file)
    assert (code, out, err) == (0, f"{file}: change it, then glassformer train {file}\n", "")
    assert file.read_text(encoding="utf-8") == recipes()["ko-en"].read_text(encoding="utf-8")
    file.write_text("mine")
    code, out, err = run(capsys, "copy", "sentiment", file)
    assert (code, out) == (1, "")
    assert err == f"{file} exists already; choose another name, or replace it with --force\n"
    assert file.read_text() == "mine"
    assert run(capsys, "copy", "sentiment", file, "--force", "--json")[0] == 0
    assert open_recipe(file).name == "sentiment"


def test_the_next_command_can_be_pasted_whatever_the_file_is_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a b.toml"
    _, out, _ = run(capsys, "copy", "ko-en", file)
    assert shlex.split(out.split("then ")[1]) == ["glassformer", "train", str(file)]


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_copy_never_replaces_its_original(
    force: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = tmp_path / "ko-en.toml"
    original.write_bytes(recipes()["ko-en"].read_bytes())
    monkeypatch.setattr(recipe_text, "recipes", lambda: {"ko-en": original})
    before = original.read_bytes()
    code, out, err = run(capsys, "copy", "ko-en", original, "--full", *force)
    assert (code, out) == (1, "")
    assert err == f"{original} is also read by this command, and would be lost; choose another name\n"
    assert original.read_bytes() == before


def test_a_folder_is_no_file_to_copy_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.toml").mkdir()
    code, out, err = run(capsys, "copy", "ko-en", tmp_path / "a.toml", "--force")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"{tmp_path / 'a.toml'} is a folder")


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (("show", "koen"), 1, "no recipe is called 'koen'; did you mean ko-en?\n"),
        (("show",), 2, "NAME is missing"),
        (("copy", "ko-en"), 2, "FILE is missing"),
        (("copy", "ko-en", "a.txt"), 2, "a.txt: a recipe is a .toml file; give it that ending\n"),
        (("list", "extra"), 2, "recipes list takes no further argument extra; write glassformer recipes list"),
        (("show", "ko-en", "a.toml"), 2, "recipes show takes no further argument a.toml; write"),
        (("print",), 2, "recipes print is not valid; use list, show, copy\n"),
    ],
)
def test_wrong_use_is_one_line(
    arguments: tuple[str, ...], code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found, out, err = run(capsys, *arguments)
    assert (found, out, err.count("\n")) == (code, "", 1)
    assert err.startswith(line)
