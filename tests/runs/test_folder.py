from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from glassformer.errors import FileError
from glassformer.runs import Run, locked, write_manifest
from glassformer.runs.folder import Log
from small_disk import no_file_larger_than
from small_run import run_config


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    assert log.read() == []
    log.append({"step": 1, "loss": 2.5})
    log.append({"step": 2, "name": "한"})
    log.sync()
    assert log.read() == [{"step": 1, "loss": 2.5}, {"step": 2, "name": "한"}]
    assert log.path.read_text(encoding="utf-8").splitlines()[1] == '{"step": 2, "name": "한"}'


def test_no_number_is_null(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    log.append({"step": 1, "loss": float("nan"), "more": [float("inf"), {"x": -1.5}]})
    assert log.path.read_text() == '{"step": 1, "loss": null, "more": [null, {"x": -1.5}]}\n'


def test_a_half_written_line_is_no_line(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    log.append({"step": 1})
    for broken in (b'{"step": 2, "lo', b"[1]\n", b'{"loss": 2}\n', b"\xff\n"):
        log.path.write_bytes(b'{"step": 1}\n' + broken)
        assert log.read() == [{"step": 1}]


def test_what_comes_after_a_step_is_cut(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    for step in (1, 2, 2, 3):
        log.append({"step": step})
    with log.path.open("a") as file:
        file.write('{"step": 4, "lo')
    log.cut(2)
    assert log.path.read_text() == '{"step": 1}\n{"step": 2}\n{"step": 2}\n'


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    with no_file_larger_than(100), pytest.raises(FileError, match=r"log\.jsonl cannot be written: File too large"):
        for step in range(100):
            log.append({"step": step})
    assert log.read()[0] == {"step": 0}


HOLD = "import sys, time; from pathlib import Path; from glassformer.runs import locked\n"
HOLD += "with locked(Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(600)"


def test_one_at_a_time_in_one_process(tmp_path: Path) -> None:
    in_use = pytest.raises(FileError, match="is in use: another process trains there")
    with locked(tmp_path), in_use, locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE)
    assert other.stdout is not None
    assert other.stdout.readline() == b"held\n"
    with pytest.raises(FileError, match="is in use"), locked(tmp_path):
        pass
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    other.stdout.close()
    with locked(tmp_path):
        pass


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="none cannot be written: No such file or directory"), locked(tmp_path / "none"):
        pass


def checkpoint(run: Run, step: int, *, whole: bool = True) -> Path:
    path = run.checkpoint(step)
    path.mkdir()
    (path / "model.safetensors").write_bytes(b"x")
    if whole:
        write_manifest(path)
    return path


def test_a_run_is_found_again(tmp_path: Path) -> None:
    config = run_config()
    made = Run.create(tmp_path / "runs" / "first", config)
    run = Run.open(str(made.folder))
    assert run == made
    assert run.config == config
    assert (run.status, run.environment, run.log.read()) == ({}, {}, [])
    assert (run.checkpoints, run.last, run.best, run.averaged) == ([], None, None, None)
    assert run.samples.is_dir() and run.pictures.is_dir()
    assert [path.name for path in made.folder.parent.iterdir()] == ["first"]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config())
    run.write_status({"step": 3})
    run.write_environment({"torch": "2"})
    run.write_best({"step": 20})
    assert (run.status, run.environment, run.best) == ({"step": 3}, {"torch": "2"}, None)
    ten, twenty = checkpoint(run, 10), checkpoint(run, 20)
    checkpoint(run, 30, whole=False)
    (run.checkpoints_folder / "refused-step-00000040").mkdir()
    assert run.checkpoints == [ten, twenty]
    assert (run.last, run.best) == (twenty, twenty)
    run.write_best({"step": 10})
    assert (run.best_step, run.best) == (10, ten)
    run.averaged_folder.mkdir()
    write_manifest(run.averaged_folder)
    assert run.has_weights and run.averaged == run.folder / "averaged"
    assert sorted(run.checkpoints_by_step()) == [10, 20, 30]


def test_steps_of_more_than_eight_digits_are_in_order(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config())
    large, small = checkpoint(run, 100_000_000), checkpoint(run, 99_999_999)
    assert run.checkpoints == [small, large]


def test_the_tokenizer_is_there_when_the_run_is(tmp_path: Path) -> None:
    def fill(run: Run) -> None:
        run.tokenizer.mkdir()
        (run.tokenizer / "tokenizer.json").write_text("{}")
        assert not (tmp_path / "run").exists()

    run = Run.create(tmp_path / "run", run_config(), fill)
    assert (run.tokenizer / "tokenizer.json").read_text() == "{}"


def test_a_run_that_could_not_be_made_leaves_nothing(tmp_path: Path) -> None:
    def fill(run: Run) -> None:
        raise KeyboardInterrupt

    (tmp_path / "run").mkdir()
    with pytest.raises(KeyboardInterrupt):
        Run.create(tmp_path / "run", run_config(), fill)
    assert list(tmp_path.rglob("*")) == [tmp_path / "run"]


def test_a_run_is_not_overwritten(tmp_path: Path) -> None:
    Run.create(tmp_path / "run", run_config())
    with pytest.raises(FileError, match="run holds a run already; continue it with --resume"):
        Run.create(tmp_path / "run", run_config())


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    with pytest.raises(FileError, match="is neither an empty folder nor a run; choose a new folder"):
        Run.create(tmp_path, run_config())
    with pytest.raises(FileError, match="is neither an empty folder nor a run"):
        Run.create(tmp_path / "thesis.txt", run_config())
    with pytest.raises(FileError, match=r"is not a run: it has no config\.toml"):
        Run.open(tmp_path)


def test_a_table_that_is_none_is_empty(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run_config())
    (run.folder / "status.json").write_text("[]")
    assert run.status == {}


READ_ONLY = """
import sys
from small_run import run_config
from glassformer.errors import FileError
from glassformer.runs import Run
try:
    Run.create(sys.argv[1], run_config())
except FileError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_read_only_folder_is_one_line(tmp_path: Path) -> None:
    mount = f"mount -t tmpfs -o ro none '{tmp_path}' && exec '{sys.executable}' -c '{READ_ONLY}' '{tmp_path}/run'"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True, text=True, env=environment)
    if "unshare" in ran.stderr or "mount" in ran.stderr:
        pytest.skip("this machine lets nobody mount a read-only folder")
    why = "Read-only file system; make room, or write somewhere else"
    assert ran.stdout == f"{tmp_path}/run cannot be written: {why}\n"
