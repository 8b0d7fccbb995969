from __future__ import annotations

import inspect
import pickle
import re
import subprocess
import sys
import tomllib
from typing import Any

import pytest

from glassformer.config.model import ModelConfig
from glassformer.config.recipe import KINDS, TABLES, DataConfig, RunConfig, TextConfig, TrainConfig, override
from glassformer.config.values import Choice
from glassformer.errors import ConfigError
from glassformer.losses import LOSSES
from glassformer.training.optimizer import OPTIMIZERS
from glassformer.training.schedule import SCHEDULES


def complete() -> RunConfig:
    return RunConfig(
        name="ko-en",
        model=ModelConfig(d_model=64, head=Choice("language_model")),
        data=DataConfig(source=Choice("files", {"source": "a.ko", "target": "a.en"}), max_length=50),
        text=TextConfig(tokenizer=Choice("unigram"), vocab_size=500, joint=False),
        train=TrainConfig(
            steps=10,
            clip=0.5,
            optimizer=Choice("adamw", {"weight_decay": 0.1}),
            loss=Choice("focal", {"gamma": 1.0}),
            learning_rate=1e-3,
        ),
    )


@pytest.mark.parametrize("config", [RunConfig(), complete()], ids=["defaults", "complete"])
def test_a_recipe_survives_toml(config: RunConfig) -> None:
    assert RunConfig.from_dict(tomllib.loads(config.to_toml())) == config


def test_a_recipe_can_be_copied_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(complete())) == complete()


def test_only_what_differs_from_the_defaults_is_written() -> None:
    assert RunConfig().to_dict() == {
        "run": {"name": "run", "task": "translation"},
        "model": {},
        "data": {},
        "text": {},
        "train": {},
    }
    assert complete().to_dict()["train"]["optimizer"] == {"kind": "adamw", "weight_decay": 0.1}


def test_the_defaults_are_the_papers() -> None:
    train = TrainConfig()
    assert train.optimizer.options == {"beta1": 0.9, "beta2": 0.98, "eps": 1e-9, "weight_decay": 0.0}
    assert train.loss.options == {"smoothing": 0.1}
    assert (train.steps, train.warmup, train.schedule.kind, train.peak) == (100_000, 4000, "noam", 1.0)


def test_the_peak_is_the_learning_rate_where_one_is_given() -> None:
    assert TrainConfig(learning_rate=2.0, schedule=Choice("linear")).peak == 2.0
    assert TrainConfig(schedule=Choice("cosine")).peak == 5e-4


@pytest.mark.parametrize(
    ("key", "known"), [("optimizer", OPTIMIZERS), ("schedule", SCHEDULES), ("loss", LOSSES)], ids=lambda x: str(x)[:9]
)
def test_kinds_and_options_are_those_of_the_functions(key: str, known: dict[str, Any]) -> None:
    given = ("ignore", "mask", "weights")  # by a task
    assert list(KINDS[key]) == list(known)
    for kind, function in known.items():
        keywords = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
        assert list(KINDS[key][kind]) == [name for name in keywords if name not in given], kind


@pytest.mark.parametrize("key", KINDS)
def test_every_default_passes_its_own_check(key: str) -> None:
    for known in KINDS[key].values():
        for name, each in known.items():
            assert each.check(name, each.default) == each.default


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"step": 5}, "step: no such key; did you mean steps?"),
        ({"steps": 0}, "steps=0 is out of range; use 1 to 2147483647"),
        ({"batch_tokens": "4096"}, "batch_tokens='4096' is of the wrong type; use a whole number, such as 512"),
        ({"clip": -1.0}, "clip=-1.0 is not positive and finite"),
        ({"learning_rate": float("nan")}, "learning_rate=nan is not positive"),
        ({"precision": "fp8"}, "precision='fp8' is unknown; use one of: float32, bf16, fp16"),
        ({"ema": 1.0}, "ema=1.0 is not a rate"),
        ({"compile": "yes"}, "compile='yes' is unknown; use one of: true, false, accelerator"),
        ({"compile": 1}, "compile=1 is unknown; use one of: true, false, accelerator"),
        ({"loss": "hinge"}, "loss='hinge' is unknown; use one of: cross_entropy, focal"),
        ({"loss": {"kind": "focal", "gama": 1}}, "loss.gama: 'focal' has no such option; did you mean gamma?"),
        ({"loss": {"kind": "focal", "gamma": -1}}, "loss.gamma=-1 is not positive"),
        ({"schedule": {"kind": "noam", "floor": 0.1}}, "schedule.floor: 'noam' has no such option; there are: factor"),
        ({"schedule": {"kind": "cyclic", "mode": "sine"}}, "schedule.mode='sine' is unknown"),
        ({"optimizer": {"beta1": 0.9}}, "optimizer is a table without kind"),
        ({"optimizer": {"kind": "adam", "beta2": 1.0}}, "optimizer.beta2=1.0 is not a rate"),
        ({"average": 5, "keep": 3}, "average=5 needs that many checkpoints, and keep=3; set keep=5 or more"),
        ({"patience": 2, "evaluate_every": 0}, "patience=2 needs evaluations, and evaluate_every=0"),
    ],
)
def test_a_wrong_key_of_training_is_answered(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        RunConfig.from_dict({"train": keys})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"training": {}}, "training: no such key; did you mean train?"),
        ({"train": 5}, "train=5 is of the wrong type; use a table of keys"),
        ({"run": {"nam": "x"}}, "nam: no such key; did you mean name?"),
        ({"run": {"name": 5}}, "name=5 is of the wrong type; use a word in quotes"),
        ({"run": {"task": 5}}, "task=5 is of the wrong type"),
        ({"model": {"d_modle": 5}}, "d_modle: no such key; did you mean d_model?"),
        ({"data": {"max_len": 5}}, "max_len: no such key; did you mean max_length?"),
        ({"text": {"joint": "yes"}}, "joint='yes' is of the wrong type; use true or false"),
    ],
)
def test_a_wrong_table_is_answered(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        RunConfig.from_dict(tables)
    assert str(caught.value).startswith(message)


def test_the_vocabulary_comes_from_the_tokenizer() -> None:
    joint = RunConfig().with_vocabulary(500)
    assert (joint.model.vocab_size, joint.model.target_vocab_size) == (500, None)
    separate = RunConfig().with_vocabulary(500, 400)
    assert (separate.model.vocab_size, separate.model.target_vocab_size) == (500, 400)
    assert separate.model.output_vocab_size == 400
    assert RunConfig().with_vocabulary(500, 500).model.target_vocab_size is None


def test_one_key_is_overridden() -> None:
    tables = {"train": {"steps": 5}}
    assert override(tables, "train.steps", 6) == {"train": {"steps": 6}}
    assert override(tables, "model.d_ff", 9) == {"train": {"steps": 5}, "model": {"d_ff": 9}}
    assert override(tables, "run.name", "x")["run"] == {"name": "x"}
    assert override(tables, "steps", 6) == {"train": {"steps": 6}}  # the only table that has it
    assert override(tables, "optimizer.beta2", 0.9)["train"]["optimizer"]["beta2"] == 0.9
    assert tables == {"train": {"steps": 5}}


def test_a_key_inside_a_choice_is_overridden() -> None:
    changed = override({}, "train.optimizer.beta2", 0.99)
    assert (
        RunConfig.from_dict(changed).train.optimizer == TrainConfig(optimizer=Choice("adam", {"beta2": 0.99})).optimizer
    )
    changed = override({"train": {"loss": "focal"}}, "train.loss.gamma", 3)
    assert RunConfig.from_dict(changed).train.loss == Choice("focal", {"gamma": 3})
    smoothed = override({}, "train.loss.smoothing", 0.2)
    assert RunConfig.from_dict(smoothed).train.loss == Choice("cross_entropy", {"smoothing": 0.2})
    assert override({}, "run.task.kind", "x") == {"run": {"task": {"kind": "x"}}}


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("vocab_size", "vocab_size: there are two of that name; say which: model.vocab_size or text.vocab_size"),
        ("d_fff", "d_fff: no such key; there are: data, model, run, text, train"),
        ("trian.steps", "trian.steps: no such key; did you mean train?"),
        ("train.optimiser.beta2", "train.optimiser.beta2: no such key; did you mean optimizer?"),
        ("train.steps.x", "train.steps.x: no such key; there are: loss, optimizer, schedule"),
        ("model.positon.base", "model.positon.base: no such key; did you mean position?"),
        ("run.name.x", "run.name.x: no such key; there are: task"),
        ("train", "train=1 is of the wrong type; use a table of keys"),
    ],
)
def test_a_wrong_override_is_answered(key: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        override({}, key, 1)
    assert str(caught.value).startswith(message)


def test_a_recipe_needs_no_torch() -> None:
    code = "import sys, glassformer.config.recipe; assert 'torch' not in sys.modules and 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_options_of_the_task_have_a_short_name() -> None:
    assert override({}, "task.context", 8) == override({}, "run.task.context", 8)


@pytest.mark.parametrize(
    "name", ["../../evil", "a/b", "a\\b", "..", ".", "", "  ", ".hidden", "a\nb", "a\x00b", "x" * 121, "가" * 41, 5]
)
def test_a_name_is_that_of_one_folder(name: object) -> None:
    with pytest.raises(ConfigError, match=r"^name=.*(cannot name a folder|is longer than 120 bytes|wrong type)"):
        RunConfig.from_dict({"run": {"name": name}})
    assert RunConfig(name="나의 모델-2").name == "나의 모델-2"


def test_what_a_run_writes_down_is_the_whole_recipe() -> None:
    for config in (RunConfig(), complete()):
        text = config.to_toml()
        tables = tomllib.loads(text)
        assert RunConfig.from_dict(tables) == config
        for name, kind in TABLES.items():
            unset = set(re.findall(r"^# (\w+) =$", text, re.MULTILINE))
            missing = set(kind.schema()) - set(tables[name])
            assert missing <= unset and all(getattr(getattr(config, name), key) is None for key in missing)
    assert tables["train"]["optimizer"] == {"kind": "adamw", **complete().train.optimizer.options}


def test_eq_3_sets_its_own_rate() -> None:
    assert TrainConfig(learning_rate=0.003).peak == TrainConfig().peak == 1.0
    with pytest.raises(ConfigError, match=r"schedule\.factor=0 is not positive"):
        TrainConfig(schedule=Choice("noam", {"factor": 0}))
