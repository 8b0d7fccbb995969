"""A model of ours as a folder that `transformers` opens: config.json, model.safetensors with their names, tokenizer."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from glassformer.config import ModelConfig
from glassformer.errors import ConfigError, FileError, GlassformerError, choose, shown
from glassformer.hub.families import FAMILIES
from glassformer.hub.family import At, Family
from glassformer.hub.foreign import Foreign
from glassformer.hub.header import read_header
from glassformer.hub.names import their_shape, to_theirs
from glassformer.hub.settled import differing
from glassformer.hub.weights import SINGLE, Weights
from glassformer.hub.write import write_tensors
from glassformer.recipe import RunConfig
from glassformer.runs import Run, read_manifest, verify
from glassformer.runs.files import TEMPORARY, disk, sync, write_json
from glassformer.runs.weights import EMA, MODEL
from glassformer.text import Vocabularies

Form = tuple[torch.dtype, tuple[int, ...]]
Progress = Callable[[int, int], None]  # bytes written, bytes in all


@dataclass(frozen=True)
class Exported:
    """What an export has written. `tokenizer`: whether `transformers` can read it too; None where there is none."""

    folder: Path
    family: str
    architecture: str
    parameters: int
    tokenizer: bool | None


@dataclass(frozen=True)
class Source:
    """A model to be written: its configuration, the form of every tensor, and how to get one by name."""

    config: RunConfig
    forms: Mapping[str, Form]
    give: Callable[[str], Tensor]
    tokenizers: Vocabularies | None


def export_run(
    run: str | Path, out: str | Path, *, family: str | None = None, progress: Progress | None = None
) -> Exported:
    """The preferred checkpoint of a run; its numbers keep their type. One tensor is in memory at a time."""
    opened = Run.open(run)
    checkpoint = opened.preferred
    if checkpoint is None:
        raise FileError("no_checkpoint", path=opened.folder)
    verify(checkpoint)
    name = EMA if EMA in read_manifest(checkpoint) else MODEL
    weights = Weights(checkpoint, read_header(checkpoint / name))
    forms = {key: (weights.dtype(key), stored.shape) for key, stored in weights.tensors.items()}
    config = opened.config
    text = config.model.input.kind == "tokens" and config.text.tokenizer.kind != "none"
    tokenizers = Vocabularies.open(opened.folder) if text else None
    return export(Source(config, forms, weights.read, tokenizers), out, family=family, progress=progress)


def export(source: Source, out: str | Path, *, family: str | None = None, progress: Progress | None = None) -> Exported:
    """All of the folder appears, or nothing."""
    config, out = source.config, Path(out)
    chosen, model, table = choose_family(config, family)
    architecture = next(name for name, task in chosen.tasks.items() if task == config.task.kind)
    dtype = next(iter(source.forms.values()))[0]
    table |= {"architectures": [architecture], "dtype": str(dtype).removeprefix("torch.")}
    table = {**_tokens(source), **table, **_labels(config)}
    with disk(out):
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise FileError("folder_not_empty", path=out)
        out.parent.mkdir(parents=True, exist_ok=True)
        draft = out.with_name(TEMPORARY + out.name)
        shutil.rmtree(draft, ignore_errors=True)
        try:
            draft.mkdir()
            write_json(draft / "config.json", table)
            _write_weights(draft / SINGLE, source, chosen, model, progress)
            if source.tokenizers is not None:
                source.tokenizers.source.save(draft)
            if out.exists():
                out.rmdir()
            draft.rename(out)
            sync(out.parent)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    readable = None if source.tokenizers is None else (out / "tokenizer.json").is_file()
    count = sum(torch.Size(shape).numel() for _, shape in source.forms.values())
    return Exported(out, chosen.name, architecture, count, readable)


def choose_family(config: RunConfig, name: str | None = None) -> tuple[Family, ModelConfig, dict[str, Any]]:
    """The family that has exactly this model: the one asked for, else the first; with its config.json.

    Where none has it, the key that the nearest one cannot express is named.
    """
    families = FAMILIES if name is None else {name: choose("family", name, FAMILIES)}
    nearest: tuple[int, str, str, object, object] | None = None
    for family in families.values():
        if config.task.kind not in family.tasks.values():
            continue
        try:
            table = family.describe(config.model, config.task.kind)
            described = family.configure(Foreign(table, Path("config.json")), config.task.kind)
        except (GlassformerError, KeyError):  # sizes or words that it does not know at all
            continue
        found = differing(config.model, described)
        if not found:
            return family, described, table
        key, (ours, theirs) = next(iter(found.items()))
        if nearest is None or len(found) < nearest[0]:
            nearest = len(found), family.name, key, ours, theirs
    if nearest is None:
        raise ConfigError("hub_no_family", task=config.task.kind, known=", ".join(families))
    _, best, key, ours, theirs = nearest
    raise ConfigError("hub_inexpressible", family=best, key=key, value=shown(ours), theirs=shown(theirs))


def _write_weights(path: Path, source: Source, family: Family, config: ModelConfig, progress: Progress | None) -> None:
    """Their names, their layout; a body without a head has no prefix."""
    groups: dict[str, list[tuple[str, At]]] = {}
    for ours, at in family.names(config).items():
        key = at.key.removeprefix(family.prefix) if source.config.task.kind == "features" else at.key
        groups.setdefault(key, []).append((ours, at))
    forms: dict[str, Form] = {}
    for key, parts in groups.items():
        parts.sort(key=lambda each: each[1].part)
        dtype, shape = source.forms[parts[0][0]]
        forms[key] = dtype, their_shape(shape, parts[0][1])
    total, done = sum(torch.Size(shape).numel() * dtype.itemsize for dtype, shape in forms.values()), 0

    def give(key: str) -> Tensor:
        nonlocal done
        x = to_theirs(groups[key][0][1], [source.give(ours) for ours, _ in groups[key]])
        done += x.numel() * x.element_size()
        if progress is not None:
            progress(done, total)
        return x

    write_tensors(path, forms, give)


def _tokens(source: Source) -> dict[str, Any]:
    """The ids of the special tokens, and what a decoder begins with."""
    if source.tokenizers is None:
        return {}
    special, options = source.tokenizers.target.specials, source.config.task.options
    table: dict[str, Any] = {f"{role}_token_id": getattr(special, role) for role in ("pad", "bos", "eos")}
    if source.config.task.kind == "translation":
        table["decoder_start_token_id"] = special.need(str(options.get("start", "bos")))
        if "first" in options:
            table["forced_bos_token_id"] = special.need(str(options["first"]))
    return table


def _labels(config: RunConfig) -> dict[str, Any]:
    labels = config.task.options.get("labels")
    if not labels:
        return {}
    return {
        "id2label": {str(i): str(label) for i, label in enumerate(labels)},
        "label2id": {str(label): i for i, label in enumerate(labels)},
    }
