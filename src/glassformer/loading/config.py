"""Any MODEL that a person names, a preset, a trained model, a file, a folder or a table → its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig, override
from glassformer.config.toml import read_toml
from glassformer.config.values import path_of
from glassformer.errors import ConfigError, FileError, shown, suggest
from glassformer.hub.open import foreign_config, is_foreign
from glassformer.hub.unsupported import refuse_stranger
from glassformer.loading.trained import exists, resolve_model, trained_folders
from glassformer.models.presets import PRESETS
from glassformer.runs import Run, is_run

Model = str | Path | ModelConfig | Mapping[str, Any]


def open_config(model: Model, *, layers: int | None = None, overrides: Mapping[str, Any] | None = None) -> ModelConfig:
    """The configuration behind a name: a preset's first, then a trained model's.

    `layers` sets the depth of every side; `overrides` sets any key.
    """
    table = _table(model)
    for key, value in (overrides or {}).items():
        table = ModelConfig.override(table, key.removeprefix("model."), value)
    if layers is not None:
        family = ModelConfig.from_dict(table).family.split("-")
        table |= {f"n_{side}_layers": layers for side in family}
    return ModelConfig.from_dict(table)


def open_recipe(recipe: str | Path, overrides: Mapping[str, Any] | None = None) -> RunConfig:
    """A recipe of the package by name, a TOML file or a run folder.

    `overrides`: {"train.steps": 500, "model.d_ff": 1024}.
    """
    tables = _recipe_tables(path_of("recipe", recipe), recipes())
    for key, value in (overrides or {}).items():
        tables = override(tables, key, value)
    return RunConfig.from_dict(tables)


def recipes() -> dict[str, Path]:
    """The recipes that come with the package, by name."""
    return {path.stem: path for path in sorted((Path(__file__).parents[1] / "recipes").glob("*.toml"))}


def name_of(model: Model) -> str:
    """The name of a model for titles."""
    return str(model) if isinstance(model, str | Path) else "model"


def _table(model: Model) -> dict[str, Any]:
    if isinstance(model, ModelConfig):
        return model.to_dict()
    if isinstance(model, Mapping):
        return _on_preset(dict(model))
    if not isinstance(model, str | Path):
        raise ConfigError("model_type", value=shown(model))
    if str(model) in PRESETS:
        return PRESETS[str(model)]().to_dict()
    path = Path(resolve_model(model))
    refuse_stranger(model)
    if not str(model).strip() or (path.suffix != ".toml" and not exists(path)):
        raise ConfigError("unknown_model", model=str(model), hint=suggest(str(model), {*PRESETS, *trained_folders()}))
    if is_foreign(path):
        return foreign_config(path).to_dict()
    if path.is_dir():
        return Run.open(path).config.model.to_dict()
    tables = read_toml(path)
    if not isinstance(tables.get("model"), dict):
        raise FileError("no_model_table", path=path)
    return _on_preset(tables["model"])


def _recipe_tables(recipe: str | Path, known: Mapping[str, Path]) -> dict[str, Any]:
    path = known.get(str(recipe), Path(recipe))
    if is_run(path):
        return Run.open(path).config.to_dict()
    if path.suffix != ".toml" or not exists(path):
        raise ConfigError("unknown_recipe", recipe=str(recipe), hint=suggest(str(recipe), known))
    tables = read_toml(path)
    if isinstance(tables.get("model"), dict):
        tables["model"] = _on_preset(dict(tables["model"]))
    return tables


def _on_preset(table: dict[str, Any]) -> dict[str, Any]:
    """`preset = "gpt2"` in a table: that preset, with the other keys on top."""
    if "preset" not in table:
        return table
    preset = table.pop("preset")
    if not isinstance(preset, str) or preset not in PRESETS:
        raise ConfigError("unknown_preset", preset=preset, hint=suggest(str(preset), PRESETS))
    return PRESETS[preset]().to_dict() | table
