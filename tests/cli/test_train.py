from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import warm
from glassformer.cli.app import main
from glassformer.runs import Run, locked
from own_files import PAIRS, REVIEWS, photos, table
from tiny_translator import SET
from typed import typed

run = typed("train")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("train") / "run"
    with pytest.raises(SystemExit) as stop:
        main(["train", "ko-en", "--out", str(folder), *SET, "--json"])
    assert stop.value.code == 0
    return folder


def test_from_a_recipe_to_a_run_that_translates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "my run"
    code, out, err = run(capsys, "ko-en", "--out", folder, *SET)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "reading and preparing the data …"
    assert lines[1].endswith(" parameters, 6 steps, on cpu")
    assert [line.split(":")[0] for line in lines[2:5]] == ["step 2", "step 3, validation", "step 4"]
    assert lines[-5] == "done after 6 steps"
    assert lines[-4:-2] == [f"run: {folder}", "next:"]
    assert lines[-1] == f"  glassformer evaluate '{folder}'"
    suggested = shlex.split(lines[-2])
    with pytest.raises(SystemExit) as stop:
        main(suggested[1:])
    assert stop.value.code == 0


@pytest.mark.slow
def test_json_is_the_only_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "ko-en", "--out", tmp_path / "run", *SET, "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["run"] == str(tmp_path / "run")
    assert (document["step"], document["reason"]) == (6, "finished")
    assert set(document["metrics"]) == {"loss", "accuracy", "perplexity", "sample_bleu", "exact"}


@pytest.mark.slow
def test_it_speaks_korean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "ko-en", "--out", tmp_path / "run", *SET, "--lang", "ko")
    assert (code, err) == (0, "")
    for part in ("준비하는 중", "6스텝으로 끝났습니다", "실행 폴더: ", "다음에 해 볼 것:"):
        assert part in out
    assert (tmp_path / "run" / "status.txt").read_text(encoding="utf-8").startswith("상태         끝남\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "lang", "line"),
    [
        ("texts", "en", "nothing is held out for validation, so training is judged by nothing; give more data"),
        ("images", "ko", "검증용으로 떼어 둔 데이터가 없으므로 학습 중에 성능을 재지 않습니다."),
    ],
)
def test_nothing_to_validate_on_is_said_for_every_task(
    task: str, lang: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = table(tmp_path / "a.csv", REVIEWS, ",", "text,label") if task == "texts" else photos(tmp_path / "photos")
    options = ("--steps", "1", "--lang", lang)
    code, out, _ = run(capsys, own, "--out", tmp_path / "none", *options, "--set", "data.validation=0")
    assert code == 0 and sum(each.startswith(line) for each in out.splitlines()) == 1
    code, out, _ = run(capsys, own, "--out", tmp_path / "some", *options)
    assert code == 0 and line not in out
    code, out, _ = run(capsys, own, "--out", tmp_path / "json", *options, "--set", "data.validation=0", "--json")
    assert code == 0 and line not in out


@pytest.mark.slow
def test_a_run_folder_goes_on_as_a_recipe_would(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, trained, "--set", "train.steps=8")
    assert (code, err) == (0, "")
    assert f"goes on from step 6 ({trained / 'checkpoints' / 'step-00000006'})" in out
    assert "done after 8 steps" in out
    code, out, _ = run(capsys, "ko-en", "--out", trained, "--resume", "--set", "train.steps=9")
    assert (code, "goes on from step 8" in out, Run.open(trained).config.train.steps) == (0, True, 9)


@pytest.mark.slow
def test_resume_begins_where_nothing_has_begun(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "ko-en", "--out", tmp_path / "run", "--resume", *SET, "--json")
    assert (code, json.loads(out)["step"]) == (0, 6)


# --- refused: one line, exit code 1 or 2, nothing changed ---


def refused(capsys: pytest.CaptureFixture[str], line: str, *arguments: str | Path, code: int = 1) -> None:
    found, out, err = run(capsys, *arguments, "--json")
    assert (found, out, err.count("\n")) == (code, "", 1)
    assert line in err


def test_a_run_that_exists(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = f"{trained} holds a run already; continue it with --resume, or choose another folder"
    refused(capsys, line, "ko-en", "--out", trained)


def test_an_unknown_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, "'ko-em' is neither a recipe nor a TOML file; did you mean", "ko-em")


def test_a_folder_that_is_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, f"{tmp_path} is neither a run (it has no config.toml) nor a folder of images", tmp_path)


def test_a_folder_in_use(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with locked(trained):
        refused(capsys, f"{trained} is in use: another process trains there", trained)


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="no folder here that even root cannot write to")
def test_a_read_only_folder(capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, "/sys/kernel/run cannot be written: ", "ko-en", "--out", "/sys/kernel/run")


def test_another_value_than_the_run_was_begun_with(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = f"train.seed=5 is not what {trained} was begun with; only train.steps may grow"
    refused(capsys, line, trained, "--set", "train.seed=5")


def test_fewer_steps(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, "train.steps=2 is less than the ", trained, "--set", "train.steps=2")


def test_another_recipe(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = f"{trained} was begun from the recipe 'ko-en', not 'other'; name its own recipe"
    refused(capsys, line, "ko-en", "--out", trained, "--resume", "--set", "run.name=other")


def test_a_run_has_its_own_folder(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = f"{trained} is a run and goes on in its own folder; leave out --out"
    refused(capsys, line, trained, "--out", tmp_path / "other", code=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "line"),
    [(signal.SIGINT, "stopped by you at step "), (signal.SIGTERM, "asked to stop at step ")],
)
def test_a_signal_saves_and_loses_nothing(number: signal.Signals, line: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    more = ["--set", "train.steps=100000", "--set", "train.evaluate_every=0", "--set", "train.save_every=100000"]
    command = [*warm.command(), "train", "ko-en", "--out", str(folder), *SET, *more]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "OMP_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
    }
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("step 4"):
            assert process.poll() is None
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (1, "")
    assert line in out
    assert "--resume goes on" in out
    found = Run.open(folder)
    assert found.last == found.checkpoint(found.status["step"])
    assert found.status["state"] == {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}[number]


# --- data of one's own, and the short options ---

TINY = (
    "--set",
    "model.d_model=16",
    "--set",
    "model.d_ff=32",
    "--set",
    "train.warmup=1",
    "--set",
    "train.threads=1",
    "--device",
    "cpu",
)


@pytest.mark.slow
def test_a_table_of_ones_own_is_trained_on_and_all_that_was_found_out_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table(Path("pairs.tsv"), PAIRS, header="ko\ten")
    code, out, err = run(capsys, "pairs.tsv", "--steps", "2", "--seed", "5", *TINY)
    assert (code, err) == (0, "")
    ready, first, second, third, *_ = out.splitlines()
    assert ready == "reading and preparing the data …"
    assert first == "pairs.tsv: 24 pairs, separated by tabs, header 'ko, en' skipped"
    assert second == "translation: the recipe own-translation. The same in full:"
    assert shlex.split(third)[:3] == ["glassformer", "train", "own-translation"]
    config = Run.open(tmp_path / "runs" / "pairs").config
    assert (config.train.steps, config.train.seed, config.train.device) == (2, 5, "cpu")
    assert config.data.validation == 2 and config.model.vocab_size is not None and config.model.vocab_size < 1000


def test_what_could_be_two_things_is_refused_with_both_commands_and_either_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table(Path("a.tsv"), PAIRS[:10] + PAIRS[:4])
    code, out, err = run(capsys, "a.tsv")
    assert (code, out, err.count("\n")) == (1, "", 1)
    commands = re.findall(r"glassformer train a\.tsv --task \w+", err)
    assert len(commands) == 2
    for command in commands:
        code, out, err = run(capsys, *shlex.split(command)[2:], "--dry-run", *TINY)
        assert (code, err) == (0, "") and not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_a_dry_run_trains_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "ko-en", *SET, "--dry-run")
    assert (code, err) == (0, "") and "Nothing was trained, and nothing was written." in out
    code, out, err = run(capsys, "ko-en", *SET, "--dry-run", "--json", "--out", "x")
    document = json.loads(out)
    assert (code, err) == (0, "") and document["parameters"] > 0 and document["first_batch"]
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_dry_run_says_that_the_folder_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("runs/ko-en", "x"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "config.toml").touch()
    for place, options in (("runs/ko-en", ()), ("x", ("--out", "x"))):
        code, _, err = run(capsys, "ko-en", *SET, "--dry-run", "--json", *options)
        assert code == 0 and err.startswith(f"the training itself would be refused: {place} holds a run already")
        assert run(capsys, "ko-en", *SET, "--dry-run", "--json", "--resume", *options)[2] == ""


def test_a_dry_run_of_a_run_folder(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, trained, "--dry-run")
    assert (code, err) == (0, "") and "Nothing was trained, and nothing was written." in out
    assert json.loads(run(capsys, trained, "--dry-run", "--json")[1])["config"] == Run.open(trained).config.to_dict()
    for refused_too, line in (
        (("--set", "train.seed=5"), f"train.seed=5 is not what {trained} was begun with"),
        (("--out", "x"), f"{trained} is a run and goes on in its own folder"),
    ):
        code, _, err = run(capsys, trained, "--dry-run", "--json", *refused_too)
        assert code == 0 and err.startswith(f"the training itself would be refused: {line}")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("ko-en", "--steps", "3", "--set", "train.steps=4"),
            "train.steps is said twice; use either --set or --steps\n",
        ),
        (("ko-en", "--set", "seed=4"), "seed: there are two of that name; say which: data.seed or train.seed\n"),
        (("ko-en", "--steps", "0", "--dry-run"), "steps=0 is out of range"),
        (("nothing.csv",), "nothing.csv: no such file; check the path\n"),
    ],
)
def test_what_cannot_be_is_one_line(arguments: tuple[str, ...], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *arguments)
    assert code != 0 and out == "" and err.startswith(line)


@pytest.mark.slow
def test_every_set_of_the_help_is_one_that_works(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--help")
    shown = re.findall(r"--set\s+([a-z_.]+=\w+)", " ".join(out.replace("│", " ").split()))
    assert "model.d_ff=1024" in shown
    few = (
        "--set",
        "data.source.count=50",
        "--set",
        "data.validation=5",
        "--set",
        "train.steps=1",
        "--set",
        "train.warmup=0",
    )
    for item in shown:
        if item.endswith(("=N", "=D")):
            continue
        code, _, err = run(capsys, "characters", "--dry-run", "--json", "--set", item, *few)
        assert (code, err) == (0, ""), item


def test_a_key_without_its_table_is_that_of_the_only_one_that_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "ko-en", *SET, "--dry-run", "--json", "--set", "d_ff=48", "--set", "clip=2.0")
    config = json.loads(out)["config"]
    assert (code, config["model"]["d_ff"], config["train"]["clip"]) == (0, 48, 2.0)
