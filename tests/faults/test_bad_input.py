"""Whatever is wrong with what a person gives, the command line says it in one line and loses nothing."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import warm
from glassformer.cli.app import main
from glassformer.data.pair_corpus import pair_corpus
from glassformer.loading import open_recipe
from glassformer.runs import Run
from small_disk import no_file_larger_than
from small_translator import ENGLISH, KOREAN, trained, write_lines, write_recipe

HANGUL = re.compile(r"[가-힣]")
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1", "GLASSFORMER_LANG": "en"}


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """The exit code, and what stands in stderr."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return int(stop.value.code or 0), capsys.readouterr().err


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line, in English; the same is said in Korean, both with exit code 1."""
    code, korean = run(capsys, *arguments, "--lang", "ko")
    assert (code, korean.count("\n")) == (1, 1) and HANGUL.search(korean), korean
    code, english = run(capsys, *arguments, "--lang", "en")
    assert (code, english.count("\n")) == (1, 1) and not HANGUL.search(english.replace("물", "")), english
    return english


def begun(capsys: pytest.CaptureFixture[str], folder: Path, **source: object) -> str:
    """Training with a data source that is wrong: refused, and no folder is left behind."""
    line = refused(capsys, "train", write_recipe(folder, **source), "--out", folder / "run")
    assert not (folder / "run").exists() and not list(folder.glob(".tmp-*"))
    return line


# --- files ---


def test_different_numbers_of_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = [write_lines(tmp_path / "a.ko", KOREAN), write_lines(tmp_path / "a.en", ENGLISH[:-1])]
    line = begun(capsys, tmp_path, train=both)
    assert "a.ko" in line and "a.en" in line and "20" in line and "19" in line


def test_what_is_no_utf8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.ko").write_bytes("물\n".encode() + "학교\n".encode("cp949"))
    both = [str(tmp_path / "a.ko"), write_lines(tmp_path / "a.en", ["water", "school"])]
    line = begun(capsys, tmp_path, train=both)
    assert "a.ko" in line and "UTF-8" in line and "2" in line


@pytest.mark.slow
def test_an_empty_line_leaves_out_its_pair_and_shifts_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    korean, english = [*KOREAN, "", "물"], [*ENGLISH, "water", ""]
    both = [write_lines(tmp_path / "a.ko", korean), write_lines(tmp_path / "a.en", english)]
    recipe = write_recipe(tmp_path, steps=2, train=both)
    assert run(capsys, "train", recipe, "--out", tmp_path / "run", "--json")[0] == 0
    learned = pair_corpus(open_recipe(recipe).data).train
    assert (learned.sources, learned.targets, learned.skipped) == (KOREAN, ENGLISH, (21, 22))


def test_nothing_but_empty_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = [write_lines(tmp_path / "a.ko", ["", " ", "물"]), write_lines(tmp_path / "a.en", ["a", "b", ""])]
    assert "a.ko" in begun(capsys, tmp_path, train=both)


def test_an_empty_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = [write_lines(tmp_path / "a.ko", []), write_lines(tmp_path / "a.en", ["a"])]
    line = begun(capsys, tmp_path, train=both)
    assert "a.ko" in line and "empty" in line


def test_a_line_of_ten_megabytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = [write_lines(tmp_path / "a.ko", ["나", "a" * 10_000_000]), write_lines(tmp_path / "a.en", ["I", "b"])]
    line = begun(capsys, tmp_path, train=both)
    assert "a.ko" in line and "line 2" in line and len(line) < 500


@pytest.mark.many
@pytest.mark.parametrize(
    ("name", "text", "columns", "words"),
    [
        ("a.tsv", "ko\ten\n물\twater\n", ["ko", "de"], ("de", "ko, en")),
        ("a.tsv", "물\twater\n", [1, 3], ("3", "1–2")),
        ("a.tsv", "물\twater\n불\n", [1, 2], ("line 2",)),
        ("a.jsonl", '{"ko": "물", "en": "water"}\n', ["ko", "de"], ("de",)),
    ],
)
def test_a_missing_column(
    name: str,
    text: str,
    columns: list[object],
    words: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    line = begun(capsys, tmp_path, train=str(tmp_path / name), columns=columns)
    assert all(word in line for word in (name, *words)), line


def test_a_vocabulary_larger_than_the_data_can_give(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(capsys, "train", write_recipe(tmp_path), "--out", tmp_path / "run", "--set", "text.vocab_size=5000")
    assert line.startswith(
        "vocab_size=5000 is more than the tokenizer 'words' can learn from these texts; use 29 or less"
    )
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_data_that_went_away_after_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = write_recipe(tmp_path / "data", steps=2)
    assert run(capsys, "train", recipe, "--out", tmp_path / "run", "--json")[0] == 0
    (tmp_path / "data" / "text.ko").unlink()
    assert "text.ko" in refused(capsys, "evaluate", tmp_path / "run")
    assert run(capsys, "translate", tmp_path / "run", KOREAN[0], "--beam", 1) == (0, "")  # needs no data


# --- disks and folders ---


def test_a_disk_that_is_full_when_the_run_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    recipe = write_recipe(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    line = refused(capsys, "train", recipe, "--out", tmp_path / "run")
    assert "cannot be written: No space left on device; make room, or write somewhere else" in line
    assert not (tmp_path / "run").exists() and not list(tmp_path.glob(".tmp-*"))


@pytest.mark.slow
def test_a_disk_that_fills_up_while_training_loses_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe, folder = write_recipe(tmp_path, steps=2), tmp_path / "run"
    assert run(capsys, "train", recipe, "--out", folder, "--json")[0] == 0
    config = (folder / "config.toml").read_text(encoding="utf-8")
    (folder / "config.toml").write_text(config.replace("steps = 2", "steps = 4"), encoding="utf-8")
    saved = Run.open(folder).last
    assert saved is not None
    with no_file_larger_than(20_000):  # a checkpoint is larger, a line of the log is not
        code, err = run(capsys, "train", recipe, "--out", folder, "--resume", "--json")
    assert code == 1 and "cannot be written" in err.splitlines()[-1] and "Traceback" not in err
    assert Run.open(folder).last == saved
    assert run(capsys, "translate", folder, KOREAN[0], "--beam", 1) == (0, "")
    assert run(capsys, "train", recipe, "--out", folder, "--resume", "--json")[0] == 0
    assert Run.open(folder).status["step"] == 4


@pytest.mark.parametrize("command", [("translate", KOREAN[0]), ("evaluate", "--json")])
def test_output_to_a_full_disk(command: tuple[str, ...], tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this machine has no /dev/full")
    verb, *rest = command
    folder = trained(tmp_path)
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*warm.command(), verb, str(folder), *rest, "--beam", "1"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
            timeout=100,
        )
    assert done.returncode == 1
    assert done.stderr == "stdout cannot be written: No space left on device; make room, or write somewhere else\n"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["train", "sweep"])
def test_a_read_only_folder(command: str, tmp_path: Path) -> None:
    recipe, place = write_recipe(tmp_path / "data", steps=2), tmp_path / "read-only"
    place.mkdir()
    ours = f"exec '{sys.executable}' -m glassformer {command} '{recipe}' --out '{place}/run'"
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", f"mount -t tmpfs -o ro none '{place}' && {ours}"],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=100,
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("this machine lets nobody mount a read-only folder")
    assert done.returncode == 1
    assert "cannot be written: Read-only file system; make room, or write somewhere else\n" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_where_the_folder_should_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run").write_text("mine", encoding="utf-8")
    assert "is neither an empty folder nor a run" in refused(
        capsys, "train", write_recipe(tmp_path), "--out", tmp_path / "run"
    )
    assert (tmp_path / "run").read_text(encoding="utf-8") == "mine"


def test_a_run_that_is_in_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, recipe = trained(tmp_path), write_recipe(tmp_path)
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file())
    with (folder / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        line = refused(capsys, "train", recipe, "--out", folder, "--resume")
    assert "is in use: another process trains there; wait for it, or choose another folder" in line
    assert before == sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file())


def test_a_run_that_exists_is_not_trained_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = trained(tmp_path)
    assert "continue it with --resume" in refused(capsys, "train", write_recipe(tmp_path), "--out", folder)
    assert Run.open(folder).last is not None
