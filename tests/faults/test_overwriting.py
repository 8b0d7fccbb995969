"""No command writes over a file that is there, unless it is told to; none over what it reads, whatever it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference import reference
from tiny_runs import trained, use
from typed import typed

OUTPUTS = {
    "trace": lambda folder: ["trace", "mini-classifier", "a b", "--save"],
    "evaluate": lambda folder: ["evaluate", str(trained("classification", folder)), "--hypotheses"],
    "recognise": lambda folder: [
        *use("image_classification", trained("image_classification", folder), folder),
        "--rollout",
    ],
    "forecast": lambda folder: [*use("forecasting", trained("forecasting", folder), folder), "--out"],
    "lesson": lambda folder: ["lesson", "noam_schedule", "--picture"],
}
NAMES = {"trace": "x.safetensors", "evaluate": "x.txt"}


called = typed()


@pytest.mark.many
@pytest.mark.parametrize("verb", OUTPUTS)
def test_a_file_is_replaced_only_by_force(verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / NAMES.get(verb, "x.png")
    path.write_text("precious")
    command = OUTPUTS[verb](tmp_path)
    code, _, err = called(capsys, *command, path)
    assert code == 1 and err == f"{path} exists already; choose another name, or replace it with --force\n"
    assert path.read_text() == "precious"
    code, _, err = called(capsys, *command, path, "--force")
    assert code == 0 and path.read_bytes() != b"precious", err
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".tmp")]


def test_the_image_that_is_recognised_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = use("image_classification", trained("image_classification", tmp_path), tmp_path)
    image = Path(command[-1])
    before = image.read_bytes()
    code, _, err = called(capsys, *command, "--rollout", image, "--force")
    assert code == 1 and "is also read by this command" in err and image.read_bytes() == before


def test_a_folder_of_somebody_else_is_no_place_for_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    code, _, err = called(capsys, "report", "--out", tmp_path)
    assert code == 1 and "is not empty and was not made by this command (report)" in err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_of_somebody_else_is_no_place_for_a_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sweep.png").write_text("mine")
    code, _, err = called(capsys, "sweep", "characters", "--out", tmp_path)
    assert code == 1 and "is not empty and was not made by this command (sweep)" in err
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.png"]


def test_a_benchmark_renews_its_own_record_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "initial-loss.json"
    path.write_text('{"name": "mine"}')
    code, _, err = called(capsys, "bench", "initial-loss", "--record", tmp_path)
    assert code == 1 and "exists already" in err and path.read_text() == '{"name": "mine"}'


@pytest.mark.slow
def test_models_go_in_and_out_by_the_same_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`import` and `export`: their own folder is renewed, somebody else's needs --force, an input never."""
    steps = {"import": (reference("gpt2")[1], tmp_path / "run"), "export": (tmp_path / "run", tmp_path / "hf")}
    for verb, (source, out) in steps.items():
        for _ in range(2):
            assert called(capsys, verb, source, "--out", out)[0] == 0
        (tmp_path / f"{verb}ed").mkdir()
        (tmp_path / f"{verb}ed" / "mine").write_text("mine")
        code, _, err = called(capsys, verb, source, "--out", tmp_path / f"{verb}ed")
        assert code == 1 and f"was not made by this command ({verb})" in err
        assert called(capsys, verb, source, "--out", tmp_path / f"{verb}ed", "--force")[0] == 0
        assert (tmp_path / f"{verb}ed" / "mine").read_text() == "mine"
        code, _, err = called(capsys, verb, source, "--out", source, "--force")
        assert code == 1 and "is also read by this command" in err
