from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig
from glassformer.config.values import Choice
from glassformer.errors import ConfigError, FileError
from glassformer.loading import name_of, open_config, open_recipe, recipes
from glassformer.models.presets import PRESETS
from glassformer.runs import Run
from reference import reference
from small_translator import trained

TABLE = {"family": "encoder", "vocab_size": 100, "d_model": 32, "n_heads": 4}


def written(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# --- every way to name a model ---


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_opened_by_name(name: str) -> None:
    assert open_config(name) == PRESETS[name]()


def test_a_table_a_configuration_and_a_file_are_the_same(tmp_path: Path) -> None:
    path = written(tmp_path, '[model]\nfamily = "encoder"\nvocab_size = 100\nd_model = 32\nn_heads = 4\n')
    config = ModelConfig(**TABLE)
    assert open_config(TABLE) == open_config(config) == open_config(path) == open_config(str(path)) == config


def test_a_file_needs_no_particular_ending(tmp_path: Path) -> None:
    path = written(tmp_path, '[model]\nfamily = "decoder"\n', name="settings.txt")
    assert open_config(path).family == "decoder"


def test_other_tables_of_a_file_do_not_matter(tmp_path: Path) -> None:
    path = written(tmp_path, '[train]\nsteps = 5\n[model]\nfamily = "decoder"\n')
    assert open_config(path).family == "decoder"


def test_a_table_may_start_from_a_preset(tmp_path: Path) -> None:
    path = written(tmp_path, '[model]\npreset = "gpt2"\nd_ff = 1024\n')
    given = {"preset": "gpt2", "d_ff": 1024}
    expected = ModelConfig.from_dict(PRESETS["gpt2"]().to_dict() | {"d_ff": 1024})
    assert open_config(path) == open_config(given) == expected
    assert given == {"preset": "gpt2", "d_ff": 1024}  # what was given stays as it was


def test_names_for_titles(tmp_path: Path) -> None:
    assert name_of("gpt2") == "gpt2"
    assert name_of(tmp_path) == str(tmp_path)
    assert name_of(TABLE) == name_of(ModelConfig()) == "model"


# --- layers and overrides ---


@pytest.mark.parametrize(
    ("name", "expected"), [("bert-base", (3, 0)), ("gpt2", (0, 3)), ("paper-base", (3, 3)), ("bart-base", (3, 3))]
)
def test_layers_are_those_of_every_side(name: str, expected: tuple[int, int]) -> None:
    config = open_config(name, layers=3)
    assert (config.encoder_layers, config.decoder_layers) == expected


@pytest.mark.parametrize(
    ("overrides", "key", "expected"),
    [
        ({"d_ff": 1024}, "d_ff", 1024),
        ({"model.d_ff": 1024}, "d_ff", 1024),
        ({"position": "rotary"}, "position", Choice("rotary")),
        ({"position.base": 500}, "position", Choice("sinusoidal", {"base": 500})),
        ({"position": "rotary", "position.base": 500}, "position", Choice("rotary", {"base": 500})),
        ({"position.kind": "alibi"}, "position", Choice("alibi")),
        ({"head.classes": 3}, "head", Choice("classifier", {"classes": 3, "pool": "cls"})),
        ({"input.kind": "vectors"}, "input", Choice("vectors")),
        ({"tie_embeddings": True}, "tie_embeddings", "all"),
        ({"d_k": None}, "d_k", None),
    ],
)
def test_any_key_can_be_overridden(overrides: dict[str, Any], key: str, expected: object) -> None:
    assert getattr(open_config("mini-classifier", overrides=overrides), key) == expected


def test_overriding_leaves_the_preset_as_it_was() -> None:
    before = PRESETS["mini-classifier"]()
    open_config("mini-classifier", layers=1, overrides={"head.classes": 9})
    assert PRESETS["mini-classifier"]() == before == open_config("mini-classifier")


# --- what is refused ---


@pytest.mark.parametrize(
    ("model", "line"),
    [
        ("gpt-2", "'gpt-2' is neither a preset nor a trained model nor a file; did you mean gpt2?"),
        ("zzz", "'zzz' is neither a preset nor a trained model nor a file; there are: bart-base, bert-base, "),
        ("", "'' is neither a preset nor a trained model nor a file; there are: "),
        ("  ", "'  ' is neither a preset nor a trained model nor a file; there are: "),
        ("a\nb\0c", "'a\\nb\\x00c' is neither a preset nor a trained model nor a file; there are: "),
        ({"preset": "gtp2"}, "'gtp2' is not a preset; did you mean gpt2?"),
        ({"preset": 5}, "5 is not a preset; there are: "),
    ],
)
def test_an_unknown_model_is_answered_with_the_nearest(model: Any, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_config(model)
    assert str(caught.value).startswith(line)


@pytest.mark.parametrize("model", [None, 3, 1.5, b"gpt2", ["gpt2"]])
def test_what_is_no_model_at_all(model: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        open_config(model)
    assert (
        str(caught.value)
        == f"{model!r} is not a model; use the name of a preset or of a trained model, a file, a table or a ModelConfig"
    )
    assert "모델이 아닙니다" in caught.value.in_language("ko")


def test_a_file_that_is_not_there_is_a_file_and_no_preset() -> None:
    with pytest.raises(FileError, match=r"^gpt2\.toml: no such file; check the path"):
        open_config("gpt2.toml")


def test_a_name_longer_than_a_file_name_can_be() -> None:
    with pytest.raises(FileError, match="cannot be read: File name too long"):
        open_config("a" * 5_000)


@pytest.mark.parametrize("text", ["", "[train]\nsteps = 1\n", "model = 5\n", "[[model]]\nd_ff = 5\n"])
def test_a_file_without_a_model(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FileError) as caught:
        open_config(path)
    assert str(caught.value) == f"{path} has no [model] table; put the keys of the model under [model]"


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        ({"d_modl": 5}, "d_modl: no such key; did you mean d_model?"),
        ({"positon.base": 5}, "positon.base: no such key; did you mean position?"),
        ({"d_model.base": 5}, "d_model.base: no such key; there are: feed_forward, head, input, norm, position"),
        ({"to_dict.kind": 5}, "to_dict.kind: no such key; there are: feed_forward, head, input, norm, position"),
        ({"__doc__.kind": 5}, "__doc__.kind: no such key; there are: feed_forward, head, "),
        ({"": 5}, ": no such key; there are: "),
        ({".": 5}, ".: no such key; there are: "),
        ({"head.kind": 5}, "head.kind=5 is of the wrong type; use a word in quotes"),
        ({"d_model": -5}, "d_model=-5 is out of range; use 1 to 2147483647"),
    ],
)
def test_an_override_that_fits_no_key(overrides: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_config("mini-classifier", overrides=overrides)
    assert str(caught.value).startswith(line)


@pytest.mark.parametrize("layers", [-1, 10_001, True, 1.5])
def test_impossible_numbers_of_layers(layers: Any) -> None:
    with pytest.raises(ConfigError, match=r"^n_encoder_layers="):
        open_config("mini-classifier", layers=layers)


# --- recipes ---


def test_the_recipes_of_the_package_can_be_opened() -> None:
    assert "ko-en" in recipes()
    for name in recipes():
        config = open_recipe(name)
        assert RunConfig.from_dict(config.to_dict()) == config


def test_a_recipe_is_a_name_or_a_file_and_any_key_can_be_set(tmp_path: Path) -> None:
    path = written(tmp_path, '[run]\nname = "mine"\n[model]\npreset = "paper-base"\nd_ff = 64\n[train]\nsteps = 7\n')
    config = open_recipe(path, {"train.steps": 9, "train.optimizer.beta2": 0.9, "model.d_ff": 32})
    assert (config.name, config.train.steps, config.model.d_ff, config.model.d_model) == ("mine", 9, 32, 512)
    whole = {"beta1": 0.9, "beta2": 0.9, "eps": 1e-9, "weight_decay": 0.0}  # what a run writes down names every option
    assert config.train.optimizer == Choice("adam", whole)
    assert open_recipe(str(path)).train.steps == 7


def test_a_run_folder_is_a_recipe(tmp_path: Path) -> None:
    run = trained(tmp_path)
    assert open_recipe(run) == Run.open(run).config
    assert open_recipe(str(run), {"train.steps": 9, "model.d_ff": 32}).model.d_ff == 32
    (run / "config.toml").unlink()
    with pytest.raises(FileError, match=r"is not a run: it has no config\.toml"):
        open_recipe(run)


@pytest.mark.parametrize(
    ("recipe", "line"),
    [
        ("ko-em", "'ko-em' is neither a recipe nor a TOML file; did you mean ko-en?"),
        ("nowhere.toml", "'nowhere.toml' is neither a recipe nor a TOML file; there are: "),
    ],
)
def test_a_recipe_that_is_not_there(recipe: str, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_recipe(recipe)
    assert str(caught.value).startswith(line) and "레시피" in caught.value.in_language("ko")


def test_a_folder_of_hugging_face_and_its_config_are_models(tmp_path: Path) -> None:
    folder = reference("llama")[1]
    found = open_config(folder)
    assert (found.family, found.d_model, found.n_kv_heads) == ("decoder", 24, 2)
    assert open_config(str(folder / "config.json")) == found
    assert open_config(folder, layers=1, overrides={"d_ff": 8}).d_ff == 8
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(FileError, match=r"other\.json has no key 'model_type'"):
        open_config(tmp_path / "other.json")
