"""A model of ours as a folder that `transformers` opens: config.json, model.safetensors with their names, tokenizer.

A family lists the tasks for which `transformers` has a class; the keys of config.json differ from class to class.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig
from glassformer.errors import ConfigError, GlassformerError, choose
from glassformer.files import write_json
from glassformer.hub.companion_files import save_tokenizers, write_beside
from glassformer.hub.computed_buffers import sinusoid_buffer
from glassformer.hub.effective_config import as_toml, differing_keys, one_by_one
from glassformer.hub.empty_model import parameter_count
from glassformer.hub.families import FAMILIES
from glassformer.hub.family import At, Family
from glassformer.hub.foreign import Foreign, read_foreign
from glassformer.hub.header import read_header
from glassformer.hub.names import their_shape, to_theirs
from glassformer.hub.open import CONFIG_FILE, find_family
from glassformer.hub.store import ASIDE, COMPANION_FILES, KEPT, ByteProgress
from glassformer.hub.weights import SINGLE, StoredForm, StoredWeights, write_tensors
from glassformer.runs import Run, choose_weights
from glassformer.runs.output import claim_folder, drafted
from glassformer.runs.shards import SHARDED
from glassformer.runs.weights import AUTO, read_tensors
from glassformer.text import Vocabularies

EXPORT_FOLDER = "export"


@dataclass(frozen=True)
class Exported:
    """What an export has written. `tokenizer`: whether `transformers` can read it too; None if there is none.

    `another_norm`: for a translator, whose beam search in `transformers` divides by |Y|^α, here by GNMT's norm.
    """

    folder: Path
    family: str
    architecture: str
    parameters: int
    tokenizer: bool | None
    another_norm: bool


@dataclass(frozen=True)
class Source:
    """A model to be written: its configuration, the form of every tensor, and how to get one by name.

    `kept`: the folder with the original files, if the model was imported.
    """

    config: RunConfig
    forms: Mapping[str, StoredForm]
    give: Callable[[str], Tensor]
    tokenizers: Vocabularies | None
    kept: Path | None = None


def export_run(
    run: str | Path,
    out: str | Path,
    *,
    family: str | None = None,
    checkpoint: str = AUTO,
    force: bool = False,
    progress: ByteProgress | None = None,
) -> Exported:
    """The weights of a run; its numbers keep their type. One tensor is in memory at a time.

    `force`: write into a folder that is not empty and was not made by an export.
    """
    source = run_source(run, out, checkpoint=checkpoint, force=force)
    return export(source, out, family=family, force=force, progress=progress)


def run_source(run: str | Path, out: str | Path, *, checkpoint: str = AUTO, force: bool = False) -> Source:
    """A run to be written into `out`, which must be free; its tensors are read one by one."""
    opened = Run.open(run)
    claim_folder(Path(out), EXPORT_FOLDER, force=force, inputs=[opened.folder])
    chosen = choose_weights(opened, checkpoint)
    read, forms = _stored(chosen)
    config = opened.config
    text = config.model.input.kind == "tokens" and config.text.tokenizer.kind != "none"
    tokenizers = Vocabularies.open(opened.folder) if text else None
    kept = opened.folder / KEPT if (opened.folder / KEPT / CONFIG_FILE).is_file() else None
    return Source(config, forms, read, tokenizers, kept)


def _stored(chosen: Path) -> tuple[Callable[[str], Tensor], Mapping[str, StoredForm]]:
    """How to read a tensor of a run, and the form of each; those in shards are put together at once."""
    if chosen.name == SHARDED:
        tensors = read_tensors(chosen)
        return tensors.__getitem__, {key: (x.dtype, tuple(x.shape)) for key, x in tensors.items()}
    weights = StoredWeights(chosen.parent, read_header(chosen))
    return weights.read, {key: (weights.dtype(key), stored.shape) for key, stored in weights.tensors.items()}


def export(
    source: Source,
    out: str | Path,
    *,
    family: str | None = None,
    force: bool = False,
    progress: ByteProgress | None = None,
) -> Exported:
    """Write a model. The whole folder appears, or nothing."""
    out = Path(out)
    plan = _plan(source, family)
    with drafted(out, EXPORT_FOLDER, force=force) as draft:
        _write_weights(draft / SINGLE, source, plan, progress)
        if plan.kept is not None:
            for name in COMPANION_FILES:
                if (plan.kept / name).is_file():
                    (draft / name).parent.mkdir(exist_ok=True)
                    shutil.copyfile(plan.kept / name, draft / name)
        write_json(draft / CONFIG_FILE, plan.table)
        if plan.kept is None:
            readable = write_beside(source.config, source.tokenizers, draft)
        else:
            readable = None if source.tokenizers is None else save_tokenizers(source.tokenizers, draft)
    return Exported(
        folder=out,
        family=plan.family.name,
        architecture=plan.table["architectures"][0],
        parameters=parameter_count(source.config.model),
        tokenizer=readable,
        another_norm=plan.kept is None and source.config.task.kind == "translation",
    )


@dataclass(frozen=True)
class _Plan:
    """The family and its config.json; `kept` if that is the model's original one."""

    family: Family
    config: ModelConfig
    table: dict[str, Any]
    kept: Path | None = None


def _plan(source: Source, name: str | None) -> _Plan:
    """The original config.json if the model has one that still describes it; else a new one."""
    config, task = source.config, source.config.task.kind
    dtype = str(next(iter(source.forms.values()))[0]).removeprefix("torch.")
    if source.kept is not None:
        foreign = read_foreign(source.kept / CONFIG_FILE)
        family = find_family(foreign)
        if name in (None, family.name) and task in family.tasks.values():
            found = family.configure(foreign, task)
            if not differing_keys(replace(config.model, head=found.head), found):
                table = {key: value for key, value in foreign.table.items() if key != "torch_dtype"}
                return _Plan(family, config.model, {**_usual(family, task), **table, "dtype": dtype}, source.kept)
    family, found, table = choose_family(config, name)
    tokens = {key: value for key, value in _tokens(source).items() if table.get(key) is None}
    table = {**_usual(family, task), **table, **tokens, "dtype": dtype, **_labels(config)}
    return _Plan(family, found, table)


def _usual(family: Family, task: str) -> dict[str, Any]:
    """The usual class of `transformers` for a task."""
    return {"architectures": [next(name for name, its in family.tasks.items() if its == task)]}


def choose_family(config: RunConfig, name: str | None = None) -> tuple[Family, ModelConfig, dict[str, Any]]:
    """The family that can express exactly this model: the one asked for, else the first; with its config.json.

    If there is none, the error names all keys that the nearest family cannot express, and the values it could.
    """
    families = FAMILIES if name is None else {name: choose("family", name, FAMILIES)}
    nearest: tuple[tuple[bool, int], str, dict[str, tuple[object, object]]] | None = None
    for family in families.values():
        if config.task.kind not in family.tasks.values():
            continue
        try:
            table = family.describe(config.model, config.task.kind)
            described = family.configure(Foreign(table, Path("config.json")), config.task.kind)
        except (GlassformerError, KeyError):  # sizes or names that it does not have
            continue
        found = differing_keys(config.model, described)
        if not found:
            return family, described, table
        distance = described.family != config.model.family, len(found)  # a decoder is never close to an encoder
        if nearest is None or distance < nearest[0]:
            nearest = distance, family.name, one_by_one(found)
    if nearest is None:
        tasks = sorted({task for family in FAMILIES.values() for task in family.tasks.values()} - {"features"})
        tried = ", ".join(families)
        raise ConfigError("hub_no_family", task=config.task.kind, known=tried, tasks=", ".join(tasks))
    _, best, keys = nearest
    raise ConfigError(
        "hub_inexpressible",
        family=best,
        differences=", ".join(f"{key}: {as_toml(ours)} → {as_toml(theirs)}" for key, (ours, theirs) in keys.items()),
        remedy=" ".join(f"--set 'model.{key}={as_toml(theirs)}'" for key, (_, theirs) in keys.items()),
    )


def _write_weights(path: Path, source: Source, plan: _Plan, progress: ByteProgress | None) -> None:
    """Write tensors under their names and in their layout; a model without a head has no prefix."""
    family = plan.family
    groups: dict[str, list[tuple[str, At, int]]] = {}  # their name → our tensors, where each lies, and which part it is
    for ours, at in family.names(plan.config).items():
        for piece, key in enumerate((at.key, *at.more)):
            key = key.removeprefix(family.prefix) if source.config.task.kind == "features" else key
            groups.setdefault(key, []).append((ours, at, piece))
    forms: dict[str, StoredForm] = {}
    for key, parts in groups.items():
        parts.sort(key=lambda each: each[1].part)
        dtype, shape = source.forms[parts[0][0]]
        forms[key] = dtype, their_shape(shape, parts[0][1])
    others = _aside(plan.kept)
    forms |= {key: (others.dtype(key), stored.shape) for key, stored in others.tensors.items()}
    waves = _waves(plan)
    forms |= {key: (next(iter(forms.values()))[0], tuple(x.shape)) for key, x in waves.items()}
    total, done = sum(torch.Size(shape).numel() * dtype.itemsize for dtype, shape in forms.values()), 0

    def give(key: str) -> Tensor:
        nonlocal done
        if key in groups:
            at = groups[key][0][1]
            parts = [source.give(ours).chunk(1 + len(at.more))[piece] for ours, _, piece in groups[key]]
            x = to_theirs(at, parts)
        elif key in waves:
            x = waves[key].to(forms[key][0])
        else:
            x = others.read(key)
        done += x.numel() * x.element_size()
        if progress is not None:
            progress(done, total)
        return x

    write_tensors(path, forms, give)


def _waves(plan: _Plan) -> dict[str, Tensor]:
    """Sinusoids for a family that stores them; an imported model keeps its own."""
    if plan.kept is not None or plan.config.position.kind != "sinusoidal":
        return {}
    shape = plan.config.max_len, plan.config.d_model
    stored = [key for key, rule in plan.family.computed.items() if rule is sinusoid_buffer]
    return {key: sinusoid_buffer(plan.config, shape) for key in stored}


def _aside(kept: Path | None) -> StoredWeights:
    """The tensors of other heads that an import kept."""
    if kept is None or not (kept / ASIDE).is_file():
        return StoredWeights(Path(), {})
    return StoredWeights(kept, read_header(kept / ASIDE))


def _tokens(source: Source) -> dict[str, Any]:
    """The ids of the special tokens, and the token that a decoder begins with."""
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
