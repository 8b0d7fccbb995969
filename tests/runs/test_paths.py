from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.config.recipe import RunConfig
from glassformer.config.toml import read_toml
from glassformer.config.values import Choice
from glassformer.runs import Run
from glassformer.runs.paths import absolute
from small_run import run_config


def on(kind: str, **options: object) -> RunConfig:
    config = run_config()
    return replace(config, data=replace(config.data, source=Choice(kind, options)))


def stored(run: Run) -> dict[str, object]:
    return dict(read_toml(run.folder / "config.toml")["data"]["source"])


def test_paths_are_stored_absolute_or_relative_to_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    inside = str(tmp_path / "run" / "data" / "a.tsv")
    run = Run.create("run", on("files", train=inside, validation="b.tsv", test=["../c.tsv", inside], columns=[1, 2]))
    assert stored(run) == {
        "kind": "files",
        "train": "data/a.tsv",
        "validation": str(tmp_path / "b.tsv"),
        "test": [str(tmp_path.parent / "c.tsv"), "data/a.tsv"],
        "columns": [1, 2],
    }


def test_a_run_that_is_moved_finds_what_lies_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = Run.create("run", on("csv", path="run/series.csv"))
    (tmp_path / "run" / "series.csv").write_text("x")
    run.folder.rename("moved")
    monkeypatch.chdir("/")
    assert Run.open(tmp_path / "moved").config.data.source.options["path"] == str(tmp_path / "moved" / "series.csv")


def test_a_run_of_an_older_version_looks_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run.create(tmp_path / "run", on("folder", train="/x"))
    path = run.folder / "config.toml"
    path.write_text(path.read_text().replace('"/x"', '"images"'))
    monkeypatch.chdir(tmp_path)
    assert Run.open(run.folder).config.data.source.options["train"] == str(tmp_path / "images")


@pytest.mark.parametrize("options", [{"train": 5}, {"train": ""}, {"train": [1]}])
def test_what_is_no_path_is_left_for_the_reader_to_refuse(options: dict[str, object]) -> None:
    assert absolute(on("files", **options)) == on("files", **options)


def test_a_source_without_files_is_left_alone() -> None:
    assert absolute(on("grammar", test=3)) == on("grammar", test=3)


def test_where_it_starts_from_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    for start, kept in (("other", str(tmp_path / "other")), ("of-the-package", "of-the-package")):
        assert absolute(run_config(start=start)).train.start == kept
