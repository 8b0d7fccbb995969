from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glassformer.bench.gpt_step import STEPS, decoder, flops, one_batch
from glassformer.bench.training_step import SETTINGS, trained_model
from glassformer.ledger import reached
from glassformer.ledger.devices import DEVICES, MEASURED, Device
from glassformer.ledger.job import Job
from glassformer.ledger.plan import UTILISATION, Plan, plan
from glassformer.ledger.reached import reached_share, recorded_steps
from glassformer.ledger.work import work
from glassformer.models.presets import PRESETS
from glassformer.show.sheet import as_text

CEILING, H200 = 700e12, DEVICES["h200"]
SECONDS = {"gpt2": 0.061, "shakespeare-char": 0.0055, "paper-base": 0.032}


def gpt_rows() -> list[dict[str, Any]]:
    return [
        {
            "model": name,
            "batch": step.batch,
            "length": step.shape.block_size,
            "seconds": {"glassformer": {"median": SECONDS[name]}, "nanogpt": {"median": 1.0}},
            "flops": {"glassformer": flops(step, step.vocab_size), "nanogpt": 1},
            "parameters": one_batch(step, step.vocab_size).parameters,
        }
        for name, step in STEPS.items()
    ]


def training_numbers(device: str, seconds: float) -> dict[str, Any]:
    setting = SETTINGS[device]
    done = work(trained_model(setting), Job(batch=setting.batch, length=setting.length))
    slow = {"compiled": False, "seconds": {"glassformer": {"median": 2 * seconds}}}
    rows = [slow, {"compiled": True, "seconds": {"glassformer": {"median": seconds}}}]
    return {"setting": setting._asdict(), "flops": done.model, "parameters": done.parameters, "rows": rows}


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Both benchmarks as an H200 would record them."""
    monkeypatch.setattr(reached, "RESULTS", tmp_path)
    write(tmp_path / "gpt-step.h200.json", {"ceiling": CEILING, "rows": gpt_rows()})
    write(tmp_path / "training-step.h200.json", {"ceiling": CEILING, **training_numbers("cuda", SECONDS["paper-base"])})
    return tmp_path


def write(path: Path, numbers: dict[str, Any], accelerator: str = "NVIDIA H200") -> None:
    path.write_text(json.dumps({"name": path.name, "numbers": numbers, "machine": {"accelerator": accelerator}}))


def planned(name: str, device: Device) -> Plan:
    if name == "paper-base":
        setting = SETTINGS["cuda"]
        config, job = trained_model(setting), Job(batch=setting.batch, length=setting.length)
    else:
        step = STEPS[name]
        config = decoder(step.shape, step.vocab_size)
        job = Job(batch=step.batch, length=step.shape.block_size)
    return plan(name, config, tokens=1, device=device, job=job)


@pytest.mark.parametrize("name", SECONDS)
def test_a_plan_gives_the_recorded_time_of_a_recorded_step(name: str, records: Path) -> None:
    made = planned(name, H200)
    assert made.reached is not None and made.reached.step.model == name
    assert made.step == pytest.approx(SECONDS[name], rel=0.01)


def test_here_it_is_a_share_of_what_was_measured(records: Path) -> None:
    here = replace(H200, name=MEASURED, peaks={"bfloat16": CEILING})
    assert planned("gpt2", here).step == pytest.approx(SECONDS["gpt2"], rel=0.01)
    assert (planned("gpt2", here).utilisation or 0) > (planned("gpt2", H200).utilisation or 0)


@pytest.mark.parametrize(
    ("preset", "nearest"), [("llama3-405b", "gpt2"), ("gpt2", "gpt2"), ("paper-base", "paper-base")]
)
def test_the_nearest_model_speaks_and_is_named(preset: str, nearest: str, records: Path) -> None:
    made = plan(preset, PRESETS[preset](), tokens=1, device=H200, job=Job(length=512))
    assert made.reached is not None and made.reached.step.model == nearest
    said = f"{made.utilisation} of the peak, as glassformer bench {made.reached.step.bench} recorded for {nearest} on"
    assert f"{said} NVIDIA H200" in " ".join(as_text(made).split())
    assert made.to_json()["assumptions"]["utilisation_from"]["model"] == nearest


def test_a_step_can_be_predicted_from_the_others(records: Path) -> None:
    own = next(step for step in recorded_steps() if step.model == "gpt2")
    flops = own.flops / own.tokens
    with_it, without = reached_share(H200, flops), reached_share(H200, flops, own)
    assert with_it is not None and with_it.step == own
    assert without is not None and without.step.model == "paper-base"


def test_the_smaller_model_of_a_cpu_has_its_own_name(records: Path) -> None:
    write(records / "training-step.json", {"ceiling": 10**11, **training_numbers("cpu", 1.0)}, accelerator="")
    assert {step.model for step in recorded_steps() if not step.accelerator} == {"small-translator"}


def test_what_is_given_comes_first(records: Path) -> None:
    given = plan("gpt2", PRESETS["gpt2"](), tokens=1, device=H200, job=Job(), utilisation=0.3)
    stated = plan("gpt2", PRESETS["gpt2"](), tokens=1, device=H200, job=Job(), mfu=0.3)
    assert (given.utilisation, given.reached, stated.utilisation, stated.reached) == (0.3, None, None, None)


def test_a_cpu_is_measured_by_cpus(records: Path) -> None:
    cpu = replace(H200, name=MEASURED, peaks={"float32": 10**11}, accelerator=False)
    assert reached_share(cpu, 10**8) is None
    write(records / "training-step.json", {"ceiling": 10**11, **training_numbers("cpu", 1.0)}, accelerator="")
    found = reached_share(cpu, 10**8)
    assert found is not None and 0 < found.share < 1 and found.step.accelerator == ""


def test_a_share_is_never_more_than_the_peak(records: Path) -> None:
    write(records / "gpt-step.h200.json", {"ceiling": CEILING / 100, "rows": gpt_rows()})
    assert planned("gpt2", replace(H200, name=MEASURED, peaks={"bfloat16": CEILING})).utilisation == 1.0


def test_records_from_before_the_ceiling_do_not_count(records: Path) -> None:
    write(records / "gpt-step.h200.json", {"rows": gpt_rows()})
    write(records / "training-step.h200.json", training_numbers("cuda", 0.04))
    assert list(recorded_steps()) == []
    made = planned("gpt2", H200)
    assert (made.utilisation, made.reached) == (UTILISATION, None)
    assert made.to_json()["assumptions"]["utilisation_from"] is None


def test_the_records_of_the_package_can_be_read() -> None:
    for step in recorded_steps():
        sheet = step.sheet
        assert 0 < step.share(H200 if sheet is None else sheet) < 1
