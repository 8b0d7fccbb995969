"""One rule for damaged checkpoints and one pair of options, over every verb that reads a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from torch.nn import Linear
from torch.nn.modules.module import register_module_forward_hook

import glassformer as gf
from glassformer.errors import GlassformerWarning
from tiny_runs import KINDS, trained, use
from typed import typed

SAID = "a checkpoint was passed over and step-00000006 is used instead: "


called = typed()


def damaged(kind: str, folder: Path, file: str = "model.safetensors") -> Path:
    """The newest checkpoint, which is also the best, has one byte that was never written."""
    run = trained(kind, folder)
    (run / "best.json").write_text(json.dumps({"step": 8}))
    path = run / "checkpoints" / "step-00000008" / file
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    return run


def verbs(run: Path, folder: Path) -> list[list[str]]:
    """Every verb that reads the weights of a translator."""
    return [
        use("translation", run, folder),
        ["embed", str(run), "나는"],
        ["evaluate", str(run)],
        ["trace", str(run), "나는", "--json"],
        ["compare", str(run), str(run)],
    ]


@pytest.mark.many
@pytest.mark.parametrize("kind", KINDS)
def test_the_everyday_verb_of_every_task_says_which_it_uses(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = damaged(kind, tmp_path)
    code, _, err = called(capsys, *use(kind, run, tmp_path))
    assert code == 0 and err.startswith(SAID) and err.count("\n") == 1, err
    assert "step-00000008/model.safetensors is not what was written" in err
    code, _, err = called(capsys, *use(kind, run, tmp_path), "--checkpoint", "4", "--device", "cpu")
    assert (code, err) == (0, "")
    assert called(capsys, *use(kind, run, tmp_path), "--checkpoint", "8")[0] == 1
    code, _, err = called(capsys, *use(kind, run, tmp_path), "--device", "abacus")
    assert code == 1 and "abacus" in err and err.count("\n") == 1


@contextmanager
def types_of_layers() -> Iterator[set[torch.dtype]]:
    """The types of the numbers that leave the layers of whatever model runs meanwhile."""
    found: set[torch.dtype] = set()

    def look(module: torch.nn.Module, given: object, output: object) -> None:
        if isinstance(module, Linear) and isinstance(output, torch.Tensor):
            found.add(output.dtype)

    hook = register_module_forward_hook(look)
    try:
        yield found
    finally:
        hook.remove()


@pytest.mark.many
@pytest.mark.parametrize(
    "kind", [*(kind for kind in KINDS if kind not in ("object_queries", "prompted_objects")), "embed"]
)
def test_every_everyday_verb_computes_in_the_type_that_is_asked_for(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = trained("translation" if kind == "embed" else kind, tmp_path)
    typed = ["embed", str(run), "나는"] if kind == "embed" else use(kind, run, tmp_path)
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        with types_of_layers() as found:
            code, out, _ = called(capsys, *typed, "--device", "cpu", "--dtype", str(dtype).removeprefix("torch."))
        assert (code, found) == (0, {dtype}) and out
    code, out, err = called(capsys, *typed, "--dtype", "int4")
    assert (code, out) == (1, "")
    assert err == "dtype='int4' is unknown; use one of: float64, float32, bfloat16, float16, int8, keep\n"


@pytest.mark.many
@pytest.mark.parametrize("number", range(5))
def test_other_verbs_say_it_too(number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = called(capsys, *verbs(damaged("translation", tmp_path), tmp_path)[number])
    assert code == 0 and SAID in err


def test_an_export_says_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = damaged("image_classification", tmp_path)
    code, _, err = called(capsys, "export", run, "--out", tmp_path / "hf")
    assert code == 0 and err.startswith(SAID)
    assert called(capsys, "export", run, "--out", tmp_path / "four", "--checkpoint", "4")[0] == 0
    ours, theirs = run / "checkpoints" / "step-00000004" / "model.safetensors", tmp_path / "four" / "model.safetensors"
    assert ours.stat().st_size > 0 and theirs.is_file()


def test_the_chapter_of_a_report_says_it_too(tmp_path: Path) -> None:
    from glassformer.textbook.run import RunChapter

    with pytest.warns(GlassformerWarning, match=SAID):
        assert RunChapter(damaged("translation", tmp_path)).loaded is not None


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_optimiser_blocks_no_verb(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = damaged(kind, tmp_path, "optimizer.safetensors")
    code, _, err = called(capsys, *use(kind, run, tmp_path))
    assert (code, err) == (0, "")


def test_korean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = damaged("translation", tmp_path)
    assert "체크포인트 하나를 건너뛰고" in called(capsys, "translate", run, "나는", "--lang", "ko")[2]


@pytest.mark.slow
@pytest.mark.parametrize("quiet", [(), ("--json",)])
def test_resuming_needs_all_files_and_says_it(
    quiet: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = damaged("translation", tmp_path, "optimizer.safetensors")
    code, _, err = called(capsys, "train", run, "--resume", *quiet)
    assert code == 0 and SAID in err and "optimizer.safetensors is not what was written" in err


def test_in_python_it_is_a_warning(tmp_path: Path) -> None:
    run = damaged("translation", tmp_path)
    with pytest.warns(GlassformerWarning, match=SAID):
        assert gf.load(run).checkpoint.name == "step-00000006"
    assert gf.load(run, checkpoint="4").checkpoint.name == "step-00000004"


def test_a_preset_has_no_checkpoints(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = called(capsys, "trace", "paper-base", "a b", "--checkpoint", "best")
    assert code == 2 and "paper-base is not trained" in err
