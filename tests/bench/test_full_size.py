from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import warm
from glassformer.bench import full_size
from glassformer.bench.catalogue import BENCHMARKS
from glassformer.bench.full_size import Trainings, measured, of_the_bench, on_files, table
from glassformer.errors import ConfigError, InputError
from glassformer.loading import open_recipe

TINY = {"d_model": 32, "d_ff": 64, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1}
TOY = {f"model.{key}": value for key, value in TINY.items()} | {"text.vocab_size": 600, "data.validation": 20}
TOY |= {"train.device": "cpu", "train.precision": "float32", "train.batch_tokens": 512, "train.threads": 1}
TOY |= {"train.evaluate_every": 0}


@pytest.mark.slow
def test_the_recipe_is_prepared_trained_killed_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"STEPS": 300, "LOGGED": 10, "SAVED": 50, "KILLED": 80, "RANKED": 20, "WARM": 100}.items():
        monkeypatch.setattr(full_size, name, value)
    monkeypatch.setattr(full_size, "ALONE", warm.command())
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    found = measured(tmp_path, 400, TOY)
    assert found["pairs"] == 400 and found["prepare"]["seconds"] > 0
    assert 80 <= found["killed"]["at"] < 300
    assert (found["killed"]["equal"], found["killed"]["lines"], found["killed"]["weights"]) == (30, 30, True)
    for one in (found["timed"], found["exact"], *found["ranks"].values()):
        assert one["tokens_per_second"] > 100
    assert 0 < found["timed"]["start"] + found["timed"]["first"] < found["timed"]["whole"]
    assert all(0 <= rank["difference"] < 1e-5 for rank in found["ranks"].values()), found["ranks"]
    assert [len(row) for row in table(found, "en")] == [2] * 17
    with pytest.raises(
        InputError, match=r"train .*full-size\.toml .* ended with exit code 1"
    ):  # there is a run already
        Trainings(tmp_path / "full-size.toml", tmp_path, {}).run("timed", ())


def test_only_the_data_the_length_and_the_lines_differ_from_the_recipe() -> None:
    config, recipe = on_files([Path("/a"), Path("/b")], {}), open_recipe("wmt14-base")
    assert config.data.source.options == {"train": ["/a", "/b"]}
    assert (config.train.steps, config.train.log_every) == (200, 10)
    assert (config.model, config.text) == (recipe.model, recipe.text)
    assert config.train.batch_tokens == recipe.train.batch_tokens == 25_000


def test_the_speed_stands_beside_that_of_the_recorded_step() -> None:
    assert of_the_bench("NVIDIA H200") == pytest.approx(768 * 32 / 0.0252, rel=0.2)
    assert of_the_bench("a card that nobody has") is None


def numbers(**changed: Any) -> dict[str, Any]:
    speed = {"tokens_per_second": 900_000.0, "waiting": 0.001, "peak": 2**30}
    return {
        "accelerator": "NVIDIA H200",
        "cores": 16,
        "pairs": 4_500_000,
        "read": 1_000_000_000,
        "written": 60.0,
        "prepare": {"seconds": 170.0, "busy": 400.0, "anonymous": 0, "seen_after": None},
        "timed": {"start": 12.0, "first": 40.0, "step": 200, "whole": 90.0, **speed},
        "exact": speed,
        "killed": {"at": 130, "whole": 30.0, "lines": 20, "equal": 20, "weights": True},
        "ranks": {way: {**speed, "difference": 0.0} for way in full_size.WAYS},
        **changed,
    }


@pytest.mark.parametrize(("lang", "same"), [("en", "the same, bit for bit"), ("ko", "비트까지 같음")])
def test_the_table_says_each_thing_in_either_language(lang: str, same: str) -> None:
    titles, *rows = table(numbers(), lang)
    assert len(titles) == 2 and len(rows) == 16
    assert rows[3][1] == "–"  # where the system does not tell how much memory is anonymous
    assert rows[10][1] == "20 / 20" and "130" in rows[10][0] and rows[11][1] == same
    assert rows[12][0].endswith("초당 출력 토큰" if lang == "ko" else "DDP: target tokens/s")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is an accelerator")
def test_without_an_accelerator_it_says_so() -> None:
    with pytest.raises(ConfigError, match="full-size is measured on an accelerator, and there is none here"):
        BENCHMARKS["full-size"].run()
