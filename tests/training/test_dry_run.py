from __future__ import annotations

from pathlib import Path

import pytest
import torch

from glassformer.config.recipe import RunConfig
from glassformer.errors import InputError
from glassformer.show.sheet import as_text
from glassformer.tasks import Material, kind_of
from glassformer.training import dry_run as previews
from glassformer.training.dry_run import dry_run
from tiny_tasks import TINY


@pytest.mark.many
@pytest.mark.parametrize("task", TINY)
def test_every_task_tells_its_plan_and_writes_nothing(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = dry_run(RunConfig.from_dict(TINY[task]))
    assert found.parameters > 0 and found.memory > 0 and found.training > 0 and found.seconds is not None
    assert found.first and all(found.first)
    assert f"{found.parameters:,}" in as_text(found)
    assert found.to_json()["first_batch"] == list(found.first)
    assert not list(tmp_path.iterdir())


def test_the_first_batch_is_text() -> None:
    source, target = dry_run(RunConfig.from_dict(TINY["translation"])).first[0].split(" → ")
    assert any("가" <= c <= "힣" for c in source) and target.isascii()
    assert dry_run(RunConfig.from_dict(TINY["classification"])).first[0].split(" → ")[1] in (
        "negative",
        "neutral",
        "positive",
    )


def test_numbers_below_nought_have_a_minus_sign() -> None:
    shown = " ".join(dry_run(RunConfig.from_dict(TINY["forecasting"])).first)
    assert "−" in shown and "-" not in shown


def test_a_step_that_takes_long_is_not_tried() -> None:
    large = {**TINY["translation"], "train": TINY["translation"]["train"] | {"batch_tokens": 400_000_000}}
    found = dry_run(RunConfig.from_dict(large))
    assert found.seconds is None
    assert "glassformer plan" in as_text(found)


def test_momentum_takes_memory() -> None:
    """By default sgd has it: a number of four bytes for each parameter."""
    recipe = TINY["classification"]
    optimizers = ({"kind": "sgd"}, {"kind": "sgd", "momentum": 0.0})
    tables = [{**recipe, "train": recipe["train"] | {"optimizer": optimizer}} for optimizer in optimizers]
    default, plain = (dry_run(RunConfig.from_dict(table)) for table in tables)
    assert default.memory - plain.memory == 4 * plain.parameters


def test_a_cpu_prepares_nothing_ahead_and_measures_no_memory() -> None:
    found = dry_run(RunConfig.from_dict(TINY["translation"]))
    assert (found.measured_memory, found.ahead) == (None, 0)


def test_an_accelerator_is_tried_in_the_settings_of_training_and_a_full_one_is_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[tuple[bool, int]] = []

    def full(material: Material, device: torch.device) -> None:
        tried.append((torch.are_deterministic_algorithms_enabled(), torch.get_num_threads()))
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(previews, "_steps_on_accelerator", full)
    monkeypatch.setattr("glassformer.training.room.memory_of", lambda device: 0)
    recipe = TINY["translation"]
    config = RunConfig.from_dict({**recipe, "train": recipe["train"] | {"deterministic": True, "threads": 1}})
    with pytest.raises(InputError, match=r"the memory is full in step 0: .* use a smaller model"):
        previews._on_accelerator(kind_of(config).task.begin(config), torch.device("cpu"))
    assert tried == [(True, 1)]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
@pytest.mark.filterwarnings("ignore")  # torch's own compiler warns about itself
def test_an_accelerator_tries_the_steps_of_training_itself() -> None:
    recipe = TINY["translation"]
    found = dry_run(RunConfig.from_dict({**recipe, "train": recipe["train"] | {"device": "cuda", "precision": "bf16"}}))
    assert found.seconds is not None and found.seconds > 0
    assert found.measured_memory is not None and found.measured_memory > 4 * found.parameters
    assert found.ahead > 0 and "GiB" in as_text(found)
