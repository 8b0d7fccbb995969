from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from glassformer.cli.options import overrides
from glassformer.data.labelled_corpus import labelled_corpus
from glassformer.errors import ConfigError, FileError, InputError
from glassformer.loading import is_run, recipes
from glassformer.tasks import TASKS
from glassformer.tasks.own import open_recipe_or_data as open_recipe
from glassformer.tasks.own import own_files, own_recipe
from own_files import PAIRS, REVIEWS, photos, sales, table


def test_every_task_but_one_has_a_recipe_for_data_of_ones_own() -> None:
    """Objects are found on canvases that are drawn here: nobody has such files."""
    assert set(TASKS) - set(own_files()) == {"object_queries", "prompted_objects"}
    assert {files.recipe for files in own_files().values()} <= set(recipes())
    for task, files in own_files().items():
        assert open_recipe(files.recipe).task.kind == task


def test_the_command_in_full_gives_the_same_run(tmp_path: Path) -> None:
    files = [
        table(tmp_path / "my pairs.tsv", PAIRS),
        table(tmp_path / "reviews.csv", REVIEWS, ","),
        sales(tmp_path / "sales.csv"),
        photos(tmp_path / "photos"),
    ]
    for path in files:
        own = own_recipe(path)
        assert own is not None
        program, verb, recipe, *rest = shlex.split(own.command)
        assert (program, verb) == ("glassformer", "train")
        assert open_recipe(recipe, overrides(rest[1::2])) == open_recipe(path)


def test_a_tenth_is_kept_apart_and_the_run_is_called_as_the_file(tmp_path: Path) -> None:
    config = open_recipe(table(tmp_path / "my pairs.v2.tsv", PAIRS))
    assert (config.name, config.data.validation, config.task.kind) == ("my-pairs", 2, "translation")
    assert open_recipe(tmp_path / "my pairs.v2.tsv", {"data.validation": 7}).data.validation == 7


def test_what_could_be_two_things_is_answered_with_both_commands(tmp_path: Path) -> None:
    path = table(tmp_path / "my table.tsv", PAIRS[:5])
    with pytest.raises(InputError) as caught:
        open_recipe(path)
    quoted = shlex.quote(str(path))
    assert str(caught.value) == (
        f"{path} could be two things; say which: glassformer train {quoted} --task translation (sentence pairs) or "
        f"glassformer train {quoted} --task classification (texts with labels)"
    )


def test_what_it_is_for_may_be_said(tmp_path: Path) -> None:
    path = table(tmp_path / "a.tsv", PAIRS[:10] + PAIRS[:2])
    assert open_recipe(path, {"run.task": "classification"}).task.kind == "classification"
    lines = tmp_path / "a.txt"
    lines.write_text("".join(f"line {i}\n" for i in range(20)))
    config = open_recipe(lines, {"run.task": "masked_language_model"})
    assert (config.task.kind, config.task.options["whole_word"], config.data.validation) == (
        "masked_language_model",
        True,
        2,
    )
    with pytest.raises(ConfigError, match="task='object_queries'"):
        open_recipe(lines, {"run.task": "object_queries"})


def test_too_few_examples_are_refused_with_the_least_number(tmp_path: Path) -> None:
    path = table(tmp_path / "a.tsv", PAIRS[:9], header="ko\ten")
    with pytest.raises(InputError) as caught:
        open_recipe(path)
    assert str(caught.value) == f"{path}: 9 examples (sentence pairs) are too few to learn from; give 10 or more"


def test_a_short_text_gets_a_short_window_and_one_that_is_too_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("a tiger on a road. " * 20)  # 380 characters and a line break: 38 of them are judged by
    assert open_recipe(path).task.options["context"] == 37
    path.write_text("a tiger on a road. " * 100)
    assert open_recipe(path).task.options["context"] == 64
    path.write_text("a tiger on a road. " * 10)
    with pytest.raises(InputError) as caught:
        open_recipe(path)
    assert str(caught.value) == (
        f"{path}: 191 examples (characters of text) are too few to learn from; give 200 or more"
    )


def test_of_each_label_one_is_kept_apart(tmp_path: Path) -> None:
    config = open_recipe(table(tmp_path / "a.tsv", REVIEWS[:12], header="text\tlabel"))
    assert config.data.validation == 2
    assert sorted(labelled_corpus(config.data).validation.labels) == ["bad", "good"]


def test_a_file_that_is_not_there_is_called_so(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"nothing\.tsv: no such file"):
        open_recipe(tmp_path / "nothing.tsv")
    with pytest.raises(ConfigError, match="'nothing' is neither a recipe nor"):
        open_recipe("nothing")


def test_a_run_is_no_folder_of_images(tmp_path: Path) -> None:
    assert not is_run(photos(tmp_path / "photos"))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.toml").touch()
    assert is_run(tmp_path / "run")
    assert own_recipe(tmp_path / "run") is None
