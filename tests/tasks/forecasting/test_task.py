from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glassformer.config.recipe import DataConfig
from glassformer.data.panel import Scaler
from glassformer.errors import ConfigError, FileError, InputError
from glassformer.ledger.parameters import count
from glassformer.loading import open_recipe, recipes
from glassformer.losses import mean_squared_error
from glassformer.models.build import build
from glassformer.runs import Run
from glassformer.tasks.forecasting.task import Forecasting
from glassformer.trace.edit import edit, zero
from glassformer.trace.record import record
from glassformer.training.begin import begin
from glassformer.training.loop import train
from glassformer.training.sweep import plan_trials, sweep
from shared_data import need
from small_forecaster import hours, written
from tiny_tasks import tiny

CONTEXT, HORIZON = 24, 4
MODEL = tiny("forecasting").model


def series(count: int = 400) -> list[float]:
    random = np.random.default_rng(0)
    return (np.sin(np.arange(count) / 4) + 0.1 * random.standard_normal(count)).round(6).tolist()


def from_file(folder: Path, values: list[float], **train_keys: Any) -> Any:
    """The tiny recipe on values of one's own; split 280, 40, 80."""
    source = {"kind": "csv", "path": str(written(folder, hours(len(values), values)))}
    return tiny("forecasting", data={"source": source}, train=train_keys)


def weights_and_losses(config: Any, folder: Path) -> tuple[dict[str, torch.Tensor], list[float]]:
    job = begin(config, folder)
    list(train(job))
    return job.model.state_dict(), [line["loss"] for line in Run.open(folder).log.read() if line["kind"] == "train"]


def test_nothing_after_the_training_part_is_learned_from(tmp_path: Path) -> None:
    """Shuffle validation and test: scaler, weights and training losses stay bit for bit."""
    values = series(400)
    future = np.random.default_rng(1).permutation(values[280:]).tolist()
    found = []
    for name, some in (("one", values), ("other", [*values[:280], *future])):
        (tmp_path / name).mkdir()
        config = from_file(tmp_path / name, some)
        found.append((*weights_and_losses(config, tmp_path / name / "run"), Scaler.open(tmp_path / name / "run")))
    (ours, our_losses, our_scaler), (theirs, their_losses, their_scaler) = found
    assert our_losses == their_losses and our_losses and our_scaler == their_scaler
    assert all(torch.equal(value, theirs[key]) for key, value in ours.items())


def test_a_change_in_the_training_part_is_noticed(tmp_path: Path) -> None:
    """The test above can fail: one value before the cut changes what is learned."""
    values = series(400)
    found = []
    for name, some in (("one", values), ("other", [*values[:279], 9.0, *values[280:]])):
        (tmp_path / name).mkdir()
        found.append(weights_and_losses(from_file(tmp_path / name, some), tmp_path / name / "run"))
    assert found[0][1] != found[1][1]


@pytest.mark.parametrize("instance_norm", ["mean", "last", "none"])
def test_a_forecast_does_not_depend_on_the_future_of_its_window(instance_norm: str) -> None:
    task = Forecasting(horizon=HORIZON, instance_norm=instance_norm)
    model = build(MODEL, seed=0).eval()
    random = np.random.default_rng(0)
    pasts = random.standard_normal((3, CONTEXT)).astype(np.float32)
    one, other = (
        task.collate([(past, random.standard_normal(HORIZON).astype(np.float32)) for past in pasts]) for _ in range(2)
    )
    assert not torch.equal(one.targets, other.targets)
    assert torch.equal(task.predict(model, one.inputs), task.predict(model, other.inputs))


def test_no_training_window_reaches_beyond_its_part(tmp_path: Path) -> None:
    material = Forecasting.begin(from_file(tmp_path, series()))
    ends = {part: some.starts + CONTEXT + HORIZON for part, some in material.windows.items()}
    assert ends["train"].max() == 280 and ends["validation"].max() == 320 and ends["test"].max() == 400
    assert (material.windows["validation"].starts + CONTEXT).min() == 280
    assert np.shares_memory(material.training[0][0], material.windows["test"].values)


def test_instance_normalisation_by_hand() -> None:
    model = build(MODEL, seed=0).eval()
    past = torch.randn(2, CONTEXT) * 3 + 5
    for kind, centre in (("mean", past.mean(1, keepdim=True)), ("last", past[:, -1:])):
        deviation = (past.var(1, unbiased=False, keepdim=True) + 1e-5).sqrt()
        expected = centre + deviation * model(((past - centre) / deviation)[:, None])
        found = Forecasting(horizon=HORIZON, instance_norm=kind).predict(model, past)
        torch.testing.assert_close(found, expected)


def test_a_series_moved_and_stretched_is_forecast_moved_and_stretched() -> None:
    task, model = Forecasting(horizon=HORIZON), build(MODEL, seed=0).eval()
    past = torch.randn(2, CONTEXT)
    torch.testing.assert_close(
        task.predict(model, past * 7 - 3), task.predict(model, past) * 7 - 3, atol=1e-3, rtol=1e-3
    )


def test_from_the_last_value_a_silent_model_is_persistence() -> None:
    model = build(MODEL, seed=0).eval()
    with torch.no_grad():
        for parameter in model.head.parameters():
            parameter.zero_()
    past = torch.randn(3, CONTEXT)
    found = Forecasting(horizon=HORIZON, instance_norm="last").predict(model, past)
    assert torch.equal(found, past[:, -1:].expand(3, HORIZON))


def test_scores_hold_persistence_beside_the_model() -> None:
    task, model = Forecasting(horizon=HORIZON), build(MODEL, seed=0).eval()
    examples = [(np.arange(CONTEXT, dtype=np.float32), np.full(HORIZON, 25.0, dtype=np.float32))]
    with torch.no_grad():
        scores = task.scores(model, task.collate(examples))
    assert scores["persistence"].mean.item() == 4.0 and scores["mse"].count == HORIZON
    assert set(task.metrics(scores)) == {"loss", "mse", "mae", "persistence"}
    assert task.with_loss(mean_squared_error).criterion is mean_squared_error


def test_channels_are_series_of_their_own(tmp_path: Path) -> None:
    rows = [f"2024-01-{1 + i // 24:02d} {i % 24:02d}:00,{np.sin(i)},{np.cos(i) * 100 + 7}" for i in range(300)]
    path = written(tmp_path, "\n".join(["date,a,b", *rows, ""]))
    made = Forecasting.begin(tiny("forecasting", data={"source": {"kind": "csv", "path": str(path)}}))
    assert len(made.training) == 2 * (210 - CONTEXT - HORIZON + 1)
    assert made.scaler.scales["b"].mean == pytest.approx(7, abs=1)
    assert abs(made.training.values[300 : 300 + 210].mean()) < 1e-5


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"model": {"input": "tokens", "vocab_size": 9}},
            "forecasting needs input=series and head=regression, here input=tokens",
        ),
        (
            {"model": {"input": {"kind": "series", "context": 24, "length": 6, "stride": 3, "channels": 2}}},
            "input.channels=2: in forecasting every channel goes through",
        ),
        (
            {"run": {"task": {"kind": "forecasting", "saison": 3}}},
            "task.saison: 'forecasting' has no such option; did you mean season?",
        ),
        (
            {"run": {"task": {"kind": "forecasting", "season": 99}}},
            "task.season=99 is longer than input.context=24; use a shorter season",
        ),
        (
            {"run": {"task": {"kind": "forecasting", "instance_norm": "first"}}},
            "task.instance_norm='first' is unknown; use one of: mean, last, none",
        ),
        (
            {"train": {"loss": "cross_entropy"}},
            "the task 'forecasting' cannot be learned with the loss 'cross_entropy'; use one of: mse, mae, huber",
        ),
        ({"data": {"source": {"kind": "waves", "split": [1, 2]}}}, "data.source.split=[1, 2] is not a split"),
    ],
)
def test_what_is_no_forecaster_is_refused(changes: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Forecasting.begin(tiny("forecasting", **changes))
    assert str(caught.value).startswith(line)


def test_another_family_is_refused() -> None:
    decoder = build(tiny("translation").with_vocabulary(50).model, seed=0)
    with pytest.raises(ConfigError, match="forecasting"):
        Forecasting(horizon=2).predict(decoder, torch.zeros(1, CONTEXT))
    with pytest.raises(ConfigError, match="forecasting"):
        Forecasting.sketch(tiny("forecasting", model={"family": "encoder-decoder"}))


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        (hours(20), InputError, "load has 14 rows before 2024-01-01 14:00, and a window takes 24 + 4 = 28"),
        (hours(400, [5.0] * 400), FileError, "load: load is 5.0 in all of 280 rows; a series that never changes"),
    ],
)
def test_a_series_that_cannot_be_learned_is_one_line(text: str, kind: Any, line: str, tmp_path: Path) -> None:
    source = {"kind": "csv", "path": str(written(tmp_path, text))}
    with pytest.raises(kind) as caught:
        begin(tiny("forecasting", data={"source": source}), tmp_path / "run")
    assert str(caught.value).startswith(line) and not (tmp_path / "run").exists()


def test_the_run_keeps_scales_and_maps(tmp_path: Path) -> None:
    begin(tiny("forecasting"), tmp_path / "run")
    assert list(json.loads((tmp_path / "run" / "scaler.json").read_text())["channels"]) == ["waves"]
    assert (tmp_path / "run" / "linear.safetensors").is_file()


def test_a_forecaster_is_counted_traced_and_edited_like_any_model() -> None:
    model = build(MODEL, seed=0).eval()
    assert count("tiny", MODEL).total.trained == sum(each.numel() for each in model.parameters())
    past = torch.randn(2, 1, CONTEXT)
    with record(model) as trace:
        plain = model(past)
    assert trace.attention()[0].shape == (2, 2, 7, 7) and torch.equal(trace["head.output"], plain)
    with edit(model, {"encoder.blocks.0.self_attention.heads": zero(head=1)}):
        changed = model(past)
    assert not torch.equal(plain, changed)


@pytest.mark.slow
def test_a_sweep_varies_it(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(tiny("forecasting", train={"steps": 2, "evaluate_every": 2}).to_toml())
    trials = plan_trials(recipe, {"run.task.instance_norm": ["mean", "last"]}, 1, tmp_path / "out")
    list(sweep(trials))
    assert [Run.open(trial.folder).status["state"] for trial in trials] == ["finished", "finished"]
    assert [trial.config.task.options["instance_norm"] for trial in trials] == ["mean", "last"]


@pytest.mark.parametrize("name", ["prices", "etth1-96"])
def test_the_recipes_are_forecasters(name: str) -> None:
    assert name in recipes()
    config = open_recipe(name)
    assert Forecasting.sketch(config) == config


SECOND = {"seasons": {"kind": "seasons", "series": 2, "count": 1200}, "csv": {"kind": "csv", "path": "series.csv"}}


@pytest.mark.parametrize("kind", SECOND)
def test_the_recipe_of_etth1_learns_any_hourly_series(kind: str, tmp_path: Path) -> None:
    """Nothing but `data.source` knows of ETTh1."""
    source = dict(SECOND[kind])
    if kind == "csv":
        stamps = np.datetime64("2024-01-01T00") + np.arange(1200)
        rows = [f"{stamp},{np.sin(i / 4) + i % 7 / 10:.4f}" for i, stamp in enumerate(stamps)]
        source["path"] = str(written(tmp_path, "\n".join(["date,load", *rows, ""])))
    shorter = {"train.steps": 60, "train.evaluate_every": 10, "train.max_sentences": 32}
    config = open_recipe("etth1-96", {"data.source": source, **shorter})
    assert replace(config, data=open_recipe("etth1-96").data) == open_recipe("etth1-96", shorter)
    assert not re.search("ett|8640|2880", replace(config, name="x", data=DataConfig()).to_toml().lower())
    list(train(begin(config, tmp_path / "run")))
    first, *_, last = (line["mse"] for line in Run.open(tmp_path / "run").log.read() if line["kind"] == "evaluation")
    assert last < first / 2


@pytest.mark.slow
def test_etth1_has_the_windows_of_the_literature(monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "ett")
    config = open_recipe("etth1-96", {"model.input.context": 48, "model.head.outputs": 24, "model.input.length": 16})
    made = Forecasting.begin(config)
    assert len(made.training) == 7 * (8640 - 72 + 1)
    first = made.training.values.reshape(7, 17_420)[:, :8640]
    np.testing.assert_allclose(first.mean(1), 0, atol=1e-4)
    np.testing.assert_allclose(first.std(1), 1, atol=1e-4)
