from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from glassformer.lessons import fingerprint as module
from glassformer.lessons.catalogue import LESSONS, module_of
from glassformer.lessons.fingerprint import ABOUT, ELSEWHERE, PACKAGE, closure, code, fingerprint, trained_by
from glassformer.sharing.card import CARD

MEASURES = '''"""A lesson."""
from glassformer.part import factor
from glassformer.brush import paint

TIMES = 1
COLOUR = "blue"


def run():
    """Measure."""
    return _twice(factor())  # twice


def _twice(x):
    return 2 * x * TIMES


def verdicts(data):
    return data > 1


def draw(data):
    return paint(COLOUR, _wide(data))


def _wide(data):
    return 3 * data


LESSON = (run, verdicts, draw)
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small package in the place of ours."""
    monkeypatch.setattr(module, "PACKAGE", tmp_path)
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons/one.py").write_text(MEASURES)
    (tmp_path / "brush.py").write_text("def paint(colour, x):\n    return x\n")
    (tmp_path / "part.py").write_text("def factor():\n    return 3\n")
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "begin.py").write_text("STEPS = 1\n")
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "one.toml").write_text("steps = 1\n")
    _forget()
    yield tmp_path
    _forget()


def _forget() -> None:
    for known in (module.imports, module.code, module.strings, module._tree, module._idle, module._shared):
        known.cache_clear()


def changed(package: Path, file: str, old: str, new: str, recipes: tuple[str, ...] = ()) -> bool:
    """Whether the fingerprint is another one after an edit."""
    before = fingerprint("lessons.one", recipes)
    path = package / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    _forget()
    return fingerprint("lessons.one", recipes) != before


def test_code_that_measures_changes_it(package: Path) -> None:
    assert changed(package, "lessons/one.py", "2 * x", "4 * x")
    assert changed(package, "lessons/one.py", "TIMES = 1", "TIMES = 2")
    assert changed(package, "part.py", "return 3", "return 5")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# twice", "# two times"),
        ("Measure.", "Look."),
        ("data > 1", "data > 7"),
        ("A lesson.", "One."),
        ("3 * data", "4 * data"),
        ("blue", "red"),
    ],
)
def test_comments_docstrings_rules_and_drawings_do_not(package: Path, old: str, new: str) -> None:
    assert not changed(package, "lessons/one.py", old, new)


def test_what_only_a_drawing_needs_does_not(package: Path) -> None:
    assert not changed(package, "brush.py", "return x", "return 2 * x")
    assert "brush" not in closure("lessons.one")


def test_what_another_lesson_takes_from_it_does(package: Path) -> None:
    (package / "lessons" / "two.py").write_text("from glassformer.lessons.one import COLOUR\n")
    _forget()
    assert changed(package, "lessons/one.py", "blue", "red")


def test_a_model_of_the_package_counts_and_its_training_does_not(package: Path) -> None:
    assert CARD in ABOUT
    folder = package / "trained" / "one"
    folder.mkdir(parents=True)
    (folder / "weights").write_bytes(b"1")
    (folder / CARD).write_text("{}")
    before = fingerprint("lessons.one", models=("one",))
    (folder / CARD).write_text("[]")
    (package / "recipes" / "one.toml").write_text("steps = 5\n")
    (package / "training" / "begin.py").write_text("STEPS = 5\n")
    _forget()
    assert fingerprint("lessons.one", models=("one",)) == before
    (folder / "weights").write_bytes(b"2")
    assert fingerprint("lessons.one", models=("one",)) != before
    assert fingerprint("lessons.one", models=("two",)) == fingerprint("lessons.one", ("two",))  # it has to be trained


def test_the_number_of_seeds_changes_it(package: Path) -> None:
    assert fingerprint("lessons.one", (), 5) != fingerprint("lessons.one", (), 6)


def test_a_recipe_that_it_trains_changes_it(package: Path) -> None:
    assert not changed(package, "recipes/one.toml", "steps = 1", "steps = 2")
    assert changed(package, "recipes/one.toml", "steps = 2", "steps = 3", ("one",))
    (package / "lessons" / "experiment.py").write_text('RECIPE = "one"\n')
    (package / "part.py").write_text("from glassformer.lessons.experiment import RECIPE\n")
    _forget()
    assert changed(package, "recipes/one.toml", "steps = 3", "steps = 4")


def test_what_trains_a_model_counts_where_a_model_is_looked_into(package: Path) -> None:
    assert not changed(package, "training/begin.py", "STEPS = 1", "STEPS = 2")
    assert changed(package, "training/begin.py", "STEPS = 2", "STEPS = 3", ("one",))


def test_the_words_of_the_corpus_count_where_it_is_used(package: Path) -> None:
    lexicon = package / "data" / "grammar" / "lexicon"
    lexicon.mkdir(parents=True)
    (lexicon.parent / "__init__.py").write_text("")
    (lexicon / "nouns.toml").write_text("cat = 1\n")
    assert not changed(package, "data/grammar/lexicon/nouns.toml", "cat", "dog")
    (package / "part.py").write_text("from glassformer.data.grammar import pairs\n")
    _forget()
    assert changed(package, "data/grammar/lexicon/nouns.toml", "dog", "cow")


@pytest.mark.slow
def test_what_only_speaks_or_draws_is_left_out() -> None:
    found = closure("lessons.attention.scaled_scores")
    assert "layers.attention.kernel" in found
    assert not {name for name in found if name.startswith(("words", "show"))}


def loaded_at_once(path: Path) -> Iterator[str]:
    """What a module imports when it is imported itself: outside of its functions."""
    waiting: list[ast.AST] = [*ast.parse(path.read_text(encoding="utf-8")).body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module or "", *(f"{node.module}.{each.name}" for each in node.names))
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += ast.iter_child_nodes(node)


def test_kernels_that_are_left_out_are_loaded_only_where_an_accelerator_asks_for_them() -> None:
    left_out = {f"glassformer.{name}" for name in ELSEWHERE if name.startswith("kernels.")}
    for path in PACKAGE.rglob("*.py"):
        own = f"glassformer.{path.relative_to(PACKAGE).with_suffix('').as_posix().replace('/', '.')}"
        assert own in left_out or not set(loaded_at_once(path)) & left_out, own
    assert all((PACKAGE / f"{name.replace('.', '/')}.py").is_file() for name in ELSEWHERE)


def test_a_lesson_is_read_without_what_judges_and_draws_its_result() -> None:
    speaking = re.compile(r"^(def draw|def verdicts|LESSON)\b", re.MULTILINE)
    lesson = Path(module.__file__).parents[1] / "lessons" / "attention" / "scaled_scores.py"
    assert {"def draw", "def verdicts", "LESSON"} == set(speaking.findall(lesson.read_text(encoding="utf-8")))
    assert not speaking.search(code("lessons.attention.scaled_scores"))


def test_a_training_is_followed_into_what_learns_and_not_into_what_judges(package: Path) -> None:
    """Every training knows the table of all tasks, and each line of that table all that a task can do."""
    folder = package / "tasks" / "sorting"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("from glassformer.tasks.sorting.kind import SORTING\n")
    (folder / "kind.py").write_text(
        "from glassformer.tasks.sorting.evaluation import judge\n"
        "from glassformer.tasks.sorting.samples import sample\n"
        "from glassformer.tasks.sorting.task import Sorting\n"
    )
    (folder / "task.py").write_text("RATE = 1\n")
    (folder / "samples.py").write_text("SHOWN = 1\n")
    (folder / "evaluation.py").write_text('COLUMN = "right"\n')
    (package / "training" / "begin.py").write_text("from glassformer.tasks import TASKS\n")
    _forget()
    assert not changed(package, "tasks/sorting/evaluation.py", "right", "wrong", ("one",))
    assert changed(package, "tasks/sorting/task.py", "RATE = 1", "RATE = 2", ("one",))
    assert changed(package, "tasks/sorting/samples.py", "SHOWN = 1", "SHOWN = 2", ("one",))
    (package / "part.py").write_text("from glassformer.tasks.sorting.evaluation import COLUMN\n")
    _forget()
    assert changed(package, "tasks/sorting/evaluation.py", "wrong", "right")  # a lesson that evaluates imports it


@pytest.mark.slow
def test_a_training_counts_with_its_loop_its_steps_and_its_optimiser() -> None:
    assert {f"training.{name}" for name in ("loop", "state", "step", "optimizer", "seed", "meter")} <= trained_by()


@pytest.mark.slow
def test_no_evaluation_makes_a_trained_result_stale() -> None:
    found = trained_by()
    assert {"tasks.translation.task", "tasks.translation.samples", "tasks.object_queries.task"} <= found
    assert not {name for name in found if name.endswith((".show", ".evaluation", ".kind"))}
    assert not {"tasks.result", "tasks.evaluation_log", "metrics.forecasting", "metrics.language"} & found


@pytest.mark.many
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_evaluates_by_the_evaluation_of_its_task(name: str) -> None:
    """`tasks.evaluation` finds it in the table of all tasks, where no fingerprint follows."""
    assert "tasks.evaluation" not in closure(module_of(name))
