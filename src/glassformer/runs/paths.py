"""The files that a run was trained on: stored so that they are found again from any folder, also after a move.

A path is stored absolute, or relative to the run folder if it lies inside, so that both can be moved together.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from glassformer.config.recipe import RunConfig
from glassformer.config.values import Choice

PARTS = ("train", "validation", "test")
PATHS: dict[str, tuple[str, ...]] = {"files": PARTS, "folder": PARTS, "csv": ("path",)}  # kind of source → its paths


def absolute(config: RunConfig) -> RunConfig:
    """The configuration with absolute paths, from the current folder."""
    return _changed(config, _full)


def stored(config: RunConfig, folder: Path) -> RunConfig:
    """The configuration as in the config.toml of a run in `folder`."""
    home = _full(folder)

    def inside(path: str) -> str:
        full = Path(_full(path))
        return str(full.relative_to(home)) if full.is_relative_to(home) else str(full)

    return _changed(config, inside)


def resolve_paths(config: RunConfig, folder: Path) -> RunConfig:
    """The configuration as used: relative paths lie in the run folder or, for older versions, in the current one."""

    def seen(path: str) -> str:
        inside = Path(_full(folder)) / path
        return str(inside) if inside.exists() else _full(path)

    return _changed(config, seen)


def data_files(config: RunConfig) -> list[str]:
    """Every file and folder that the examples of a run are read from."""
    named: list[str] = []
    _changed(config, lambda path: named.append(path) or path)  # type: ignore[func-returns-value]
    return named


def _full(path: str | Path) -> str:
    """Absolute and without `..`; a link stays a link."""
    return os.path.normpath(Path(path).absolute())


def _changed(config: RunConfig, change: Callable[[str], str]) -> RunConfig:
    source, start = config.data.source, config.train.start
    names = PATHS.get(source.kind, ())
    moved = {name: _each(source.options[name], change) for name in names if name in source.options}
    if moved:
        config = replace(config, data=replace(config.data, source=Choice(source.kind, {**source.options, **moved})))
    if start is not None and Path(start).exists():
        config = replace(config, train=replace(config.train, start=change(start)))
    return config


def _each(value: object, change: Callable[[str], str]) -> object:
    """One path or several; anything else is left for the reader of the data to refuse."""
    match value:
        case str() if value:
            return change(value)
        case list() | tuple():
            return [_each(one, change) for one in value]
    return value
