from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from glassformer.bench import real
from glassformer.bench.catalogue import BENCHMARKS
from glassformer.data.pair_corpus import pair_corpus
from glassformer.errors import ConfigError, InputError
from glassformer.loading import open_recipe, recipes
from shared_data import need

TINY = ("d_model=16", "n_heads=2", "d_ff=16")


def test_every_recipe_exists_and_takes_the_changes() -> None:
    for one in (one for runs in real.REAL.values() for one in runs):
        assert {one.recipe, one.after or one.recipe} <= {*recipes()}
        changes = dict(change.split("=") for change in one.changes)
        assert open_recipe(one.recipe, {key: int(value) for key, value in changes.items()})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["real-multi30k", "real-korean"])
def test_scores_are_of_test_sets_that_there_are(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for needed in ("multi30k", "tatoeba-kor-eng", "kor-eng-pydocs", "korean-english-news"):
        need(monkeypatch, needed)
    for one in real.REAL[name]:
        found = pair_corpus(open_recipe(one.recipe).data).split("test")
        assert [number.path for number in one.numbers] == [f"groups.{group}.bleu" for group in found]


@pytest.mark.slow
def test_a_recipe_is_trained_and_read_by_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need(monkeypatch, "ett")
    more = ["--steps", "2", "--device", "cpu", "--set", "train.warmup=1"]
    more += [word for change in TINY for word in ("--set", f"model.{change}")]
    one, *_ = real.REAL["real-series"]
    (row,) = real.measured([one], tmp_path, seeds=[3], more=more)
    assert (row["recipe"], row["seed"], row["steps"]) == ("etth1-96", 3, 2)
    assert row["changes"] == ["model.head.outputs=96"]
    assert row["values"]["mse"] > row["beside"]["beside.dlinear.mse"] > 0
    assert row["values"].keys() == {"mse", "dropped"}
    assert row["best"]["step"] == 2 and row["best"]["mse"] > 0  # chosen by validation
    assert row["readings"] == {"test": 1}


def test_a_command_that_fails_ends_it(tmp_path: Path) -> None:
    one = real.RealRun("digits", real.ACCURACY, changes=("model.d_modell=3",))
    with pytest.raises(InputError, match=r"glassformer train digits .* ended with exit code 1"):
        real.reached(one, 0, tmp_path)


@pytest.mark.parametrize(
    ("lang", "mse", "dropped", "rivals"),
    [
        (
            "en",
            "mean squared error",
            "mean squared error without the last batch, as published",
            "0.3750 DLinear · 0.3746 NLinear",
        ),
        (
            "ko",
            "평균 제곱 오차",
            "마지막 묶음을 뺀 제곱 오차(문헌의 방식)",
            "0.3750 선형(DLinear) · 0.3746 선형(NLinear)",
        ),
    ],
)
def test_a_line_has_every_seed_the_mean_and_the_rivals(lang: str, mse: str, dropped: str, rivals: str) -> None:
    beside = {"beside.dlinear.mse": 0.375, "beside.nlinear.mse": 0.3746}
    rows: list[dict[str, Any]] = [
        {"recipe": one.recipe, "changes": list(one.changes), "values": {"mse": value, "dropped": 0.3}, "beside": beside}
        for one in real.REAL["real-series"]
        for value in (0.37, 0.38, 0.39)
    ]
    _, first, second, *others = real.table({"rows": rows}, lang, name="real-series")
    about = "etth1-96 model.head.outputs=96"
    assert first == [about, mse, "0.3700 · 0.3800 · 0.3900", "0.3800", rivals]
    assert second == [about, dropped, "0.3000 · 0.3000 · 0.3000", "0.3000", "–"]
    assert [line[0].rpartition("=")[2] for line in others] == ["192", "192", "336", "336", "720", "720"]


def test_every_number_has_a_name_in_both_languages() -> None:
    for name, runs in real.REAL.items():
        rows = [
            {
                "recipe": one.recipe,
                "changes": list(one.changes),
                "values": {number.name: 0.5 for number in one.numbers},
                "beside": {path: 0.5 for number in one.numbers for path in number.rivals},
            }
            for one in runs
        ]
        english, korean = (real.table({"rows": rows}, lang, name=name) for lang in ("en", "ko"))
        assert len(english) == len(korean) == 1 + sum(len([*one.numbers]) for one in runs)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is an accelerator")
@pytest.mark.parametrize("name", sorted({*real.REAL} - {*real.SMALL}))
def test_without_an_accelerator_it_says_so(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is measured on an accelerator, and there is none here"):
        BENCHMARKS[name].run()
