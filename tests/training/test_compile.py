from __future__ import annotations

from pathlib import Path

import pytest
import torch

from glassformer.config.recipe import RunConfig, TrainConfig
from glassformer.errors import GlassformerWarning
from glassformer.loading import open_recipe
from glassformer.tasks import kind_of
from glassformer.training import events
from glassformer.training.compile import (
    compile_parts,
    compiling_pays,
    is_compiled,
    missing_compiler,
    settled,
    wanted_compiled,
)
from small_run import examples, run_config, small_model, trained, translation


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # torch's own compiler warns about itself
@pytest.mark.parametrize("chunk", [0, 6])
def test_compiled_is_the_same_and_has_the_same_names(chunk: int) -> None:
    config = run_config({"dropout": 0.0}, chunk=chunk)
    task, store = translation(config), examples(12)
    batch = task.collate([store[i] for i in range(12)])
    plain, compiled = small_model(config), small_model(config)
    names = list(compiled.state_dict())
    fast = compile_parts(compiled, task, backend="aot_eager")  # all but the code that is generated
    assert list(compiled.state_dict()) == names
    for model, one in ((plain, task), (compiled, fast)):
        (one.loss(model, batch).total / batch.count).backward()
    for (name, a), b in zip(plain.named_parameters(), compiled.parameters(), strict=True):
        assert a.grad is not None and b.grad is not None
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-3, atol=1e-6, msg=name)


def test_without_a_compiler_training_goes_the_plain_way_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.warns(GlassformerWarning, match=r"no compiler for C\+\+ \(g\+\+\) is at hand"):
        _, told = trained(tmp_path / "run", run_config(compile=True))
    assert told[-1] == events.Stopped(12, "finished")


def test_what_triton_needs_on_an_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = torch.device("cuda")
    monkeypatch.setattr("glassformer.kernels.TRITON", False)
    assert missing_compiler(cuda) == "Triton"
    monkeypatch.setattr("glassformer.kernels.TRITON", True)
    monkeypatch.setenv("CC", "gcc")
    assert missing_compiler(cuda) is None
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.delenv("CC")
    assert missing_compiler(cuda) == "C (gcc)"
    with pytest.warns(GlassformerWarning, match=r"no compiler for C \(gcc\) is at hand"):
        assert not is_compiled(RunConfig(train=TrainConfig(compile=True)), cuda)


def test_on_a_cpu_nothing_is_compiled_unless_asked() -> None:
    cpu, cuda = torch.device("cpu"), torch.device("cuda")
    choices = (None, True, False, "accelerator")
    plain, yes, no, there = (RunConfig(train=TrainConfig(compile=choice)) for choice in choices)
    assert not is_compiled(plain, cpu) and is_compiled(yes, cpu) and not is_compiled(no, cuda)
    assert not is_compiled(there, cpu) and wanted_compiled(there, cuda)
    assert settled(plain, cpu) == plain
    assert all(settled(config, cuda) == config for config in (yes, no, there))  # as it is resumed


@pytest.mark.parametrize(
    ("recipe", "card", "changes", "pays"),
    [
        ("shakespeare-char", "NVIDIA H200", {}, False),  # 6 PFLOP: 6 s at its peak
        ("shakespeare-char", "NVIDIA H200", {"train.steps": 100_000}, True),
        ("shakespeare-char", "NVIDIA H200", {"train.accumulate": 20}, True),
        ("shakespeare-char", "Tesla T4", {"train.precision": "fp16"}, False),  # a slower card: 92 s
        ("shakespeare-char", "Tesla T4", {"train.precision": "fp16", "train.steps": 6000}, True),
        ("shakespeare-char", "a card of next year", {"train.steps": 6000}, True),  # as slow as the slowest
        ("wmt14-base", "NVIDIA H200", {}, True),
        ("multi30k-en-de", "NVIDIA H200", {}, False),
    ],
)
def test_compiling_pays_where_the_steps_are_long_or_many(
    recipe: str, card: str, changes: dict[str, object], pays: bool
) -> None:
    config = open_recipe(recipe, changes)
    assert compiling_pays(kind_of(config).task.sketch(config), card) == pays
