"""Every verb computes in every type that it is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tiny_runs import KINDS, trained, use
from typed import typed

TYPES = ("float64", "bfloat16", "float16", "int8", "keep")


@pytest.mark.many
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", TYPES)
def test_the_everyday_verb(dtype: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = trained(kind, tmp_path)
    code, out, err = typed(*use(kind, run, tmp_path))(capsys, "--device", "cpu", "--dtype", dtype)
    assert (code, err) == (0, "") and out


@pytest.mark.many
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", TYPES)
def test_evaluate(dtype: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = typed("evaluate")(capsys, trained(kind, tmp_path), "--device", "cpu", "--dtype", dtype)
    assert (code, err) == (0, "") and out


VERBS = ("translate", "generate", "evaluate", "classify", "fill", "embed", "recognise", "forecast")


@pytest.mark.parametrize(
    ("lang", "line"),
    [
        ("en", "dtype='int3' is unknown; use one of: float64, float32, bfloat16, float16, int8, keep"),
        (
            "ko",
            "dtype='int3': 알 수 없는 값입니다. 다음 중 하나를 쓰세요: float64, float32, bfloat16, float16, int8, keep",
        ),
    ],
)
@pytest.mark.parametrize("verb", VERBS)
def test_a_type_that_there_is_not(verb: str, lang: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = {"recognise": ["x.png"], "forecast": ["x.csv"]}.get(verb, [])
    code, out, err = typed(verb)(capsys, "./no-such-run", *words, "--dtype", "int3", "--lang", lang)
    assert (code, out, err) == (1, "", f"{line}\n")


@pytest.mark.parametrize("verb", VERBS)
def test_a_device_that_there_is_not(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = {"recognise": ["x.png"], "forecast": ["x.csv"]}.get(verb, [])
    code, out, err = typed(verb)(capsys, "./no-such-run", *words, "--device", "tpu", "--dtype", "int8")
    assert (code, out) == (1, "") and err.startswith(
        "device='tpu' is not a device of this machine; use one of: auto, cpu"
    )


def test_training_has_no_int8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = typed("train")(capsys, "ko-en", "--out", tmp_path / "run", "--set", "train.precision=int8")
    assert (code, err) == (1, "precision='int8' is unknown; use one of: float32, bf16, fp16\n")
