"""A run is used and continued from any folder, with the same command as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.cli.app import main
from small_translator import ENGLISH, KOREAN, write_lines, write_recipe
from typed import typed

called = typed()


def furnished(home: Path) -> Path:
    """A folder with files and a recipe that names others; the files are named on the command line, relative."""
    write_recipe(home, steps=2)
    write_lines(home / "own.ko", KOREAN)
    write_lines(home / "own.en", ENGLISH)
    return home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = furnished(tmp_path / "home")
    monkeypatch.chdir(home)
    return home


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a run, for those that are refused: nothing changes there."""
    home = furnished(tmp_path_factory.mktemp("begun") / "home")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as stop:
        patch.chdir(home)
        main(COMMAND)
    assert stop.value.code == 0
    return home


FILES = '["own.ko", "own.en"]'
SETS = ["data.source=files", *(f"data.source.{part}={FILES}" for part in ("train", "validation", "test"))]
COMMAND = ["train", "small.toml", "--out", "run", *(word for each in SETS for word in ("--set", each))]


@pytest.mark.slow
def test_the_same_command_with_resume_goes_on(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert called(capsys, *COMMAND)[0] == 0
    code, out, err = called(capsys, *COMMAND, "--resume")
    assert (code, err) == (0, "") and "goes on from step 2" in out
    code, out, err = called(capsys, *COMMAND, "--resume", "--set", "train.steps=4")
    assert (code, err) == (0, "") and "done after 4 steps" in out


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("data.source.train", '["own.en", "own.ko"]'),
        ("model.d_ff", "65"),
        ("train.optimizer", "sgd"),
        ("task.start", "eos"),
        ("run.task", "classification"),
    ],
)
def test_another_value_is_named(
    key: str, value: str, begun: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(begun)
    code, _, err = called(capsys, *COMMAND, "--resume", "--set", f"{key}={value}")
    assert code == 1 and err.startswith(f"{key}=") and "is not what run was begun with" in err, err


@pytest.mark.slow
def test_from_another_folder(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert called(capsys, *COMMAND)[0] == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    run = Path("..") / "home" / "run"
    for command in (["evaluate", run], ["translate", run, "나는"], ["train", run, "--resume"]):
        code, _, err = called(capsys, *command)
        assert (code, err) == (0, ""), command
    (home / "own.ko").unlink()
    code, _, err = called(capsys, "evaluate", run)
    assert code == 1 and err == f"{home / 'own.ko'}: no such file; check the path\n"


@pytest.mark.many
@pytest.mark.parametrize(
    ("given", "line"),
    [
        ("train.device=banana", "device='banana' is not a device"),
        ("train.device=meta", "device='meta' is not a device"),
        ("train.precision=fp8", "precision='fp8'"),
        ("train.optimizer=adamm", "optimizer='adamm'"),
        ("train.optimizer.beta3=1", "optimizer.beta3"),
        ("train.best=blue", "best='blue' is not among the metrics"),
        ("train.schedule=nome", "schedule='nome'"),
        ("train.loss=hinge", "loss='hinge'"),
        ("train.loss=mse", "mse"),
        ("train.start=nothing", "nothing"),
        ("run.task.begin=1", "task.begin"),
        ("run.name=../x", "name='../x' cannot name a folder"),
        ("model.n_heads=5", "n_heads=5"),
        ("text.tokenizer=bpf", "tokenizer='bpf'"),
        ("text.tokenizer.x=1", "tokenizer.x"),
    ],
)
def test_what_can_be_refused_is_refused_before_the_data_is_read(
    given: str, line: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = '["absent.ko", "absent.en"]'
    code, _, err = called(capsys, "train", "small.toml", "--set", f"data.source.train={absent}", "--set", given)
    assert code == 1 and line in err and "absent" not in err, err
    assert not (home / "runs").exists() or not list((home / "runs").iterdir())


def test_a_folder_that_cannot_be_written_is_refused_before_the_data_is_read(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "file").write_text("x")
    for out in ("file/run", "file", "x" * 300):
        absent = '["absent.ko", "absent.en"]'
        code, _, err = called(capsys, "train", "small.toml", "--set", f"data.source.train={absent}", "--out", out)
        assert code == 1 and "absent" not in err and err.count("\n") == 1, err


@pytest.mark.slow
def test_what_a_schedule_does_is_said_in_one_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = called(capsys, *COMMAND, "--set", "train.warmup=100")
    assert code == 0 and err.startswith("warmup=100 is more than steps=2") and err.count("\n") == 1
    code, _, err = called(capsys, *COMMAND[:2], "--out", "noam", "--set", "train.schedule=noam", "--lang", "ko")
    assert code == 0 and "learning_rate=0.01 값은 쓰이지 않습니다" in err


@pytest.mark.slow
def test_a_run_that_may_only_be_read_is_evaluated(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert called(capsys, *COMMAND)[0] == 0
    (home / "run" / "evaluations.jsonl").mkdir()  # nobody can append to it, whoever they are
    code, out, err = called(capsys, "evaluate", "run", "--json")
    assert code == 0 and '"readings": 1' in out
    assert "evaluations.jsonl cannot be written (Is a directory)" in err and err.count("\n") == 1
