"""A folder of Hugging Face → the same model in our boxes, with its tokenizers and its task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig
from glassformer.config.values import Choice
from glassformer.errors import ConfigError, FileError
from glassformer.hub.empty_model import allocated, empty_model, shapes, shapes_of
from glassformer.hub.families import FAMILIES
from glassformer.hub.family import Family
from glassformer.hub.foreign import Foreign, read_foreign
from glassformer.hub.header import Stored
from glassformer.hub.names import Located, check_copies, lent, locate_tensors, not_as_computed, read_into
from glassformer.hub.run_config import read_run_config
from glassformer.hub.unsupported import refuse_stranger
from glassformer.hub.weights import StoredWeights
from glassformer.models.build import free_memory
from glassformer.runs.weights import check_finite_weight
from glassformer.text import Vocabularies

CONFIG_FILE = "config.json"


@dataclass(frozen=True)
class Imported:
    """A model from a foreign folder. `aside`: tensors of other heads, which were left out."""

    model: nn.Module
    config: RunConfig
    tokenizers: Vocabularies | None
    family: str
    aside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Folder:
    """What is known of a folder before weights are read: family, task, configuration, and where every tensor lies.

    `empty`: the model on `meta`, whose shapes the tensors were compared with; to be filled.
    """

    path: Path
    foreign: Foreign
    family: Family
    task: str
    config: ModelConfig
    weights: StoredWeights
    located: Located
    empty: nn.Module


def is_foreign(path: Path) -> bool:
    """A folder of Hugging Face, or its config.json: no run of ours has one."""
    if path.is_dir():
        return (path / CONFIG_FILE).is_file() and not (path / "config.toml").exists()
    return path.suffix == ".json" and path.is_file()


def foreign_config(path: str | Path) -> ModelConfig:
    """A folder or a config.json → our configuration. No weights are needed."""
    path = Path(path)
    foreign = read_foreign(path / CONFIG_FILE if path.is_dir() else path)
    family = find_family(foreign)
    return family.configure(foreign, _declared_task(family, foreign) or next(iter(family.tasks.values())))


def open_foreign(
    folder: str | Path,
    *,
    device: str | torch.device | None = None,
    dtype: torch.dtype | None = None,
    family: str | None = None,
    finite: bool = True,
    mapped: bool = True,
) -> Imported:
    """The model with its numbers, in float32 unless `dtype` says otherwise; never two copies in memory.

    `mapped`: on the CPU, large weights of that type stay where they are, in the mapped file, copy-on-write, and are not
    copied; a matrix that is stored transposed is turned by its strides. False gives every weight contiguous memory of
    its own; `StoredWeights.mapped` says when that is worth its time.
    `family`: the model_type for an old config.json that names none. `finite`: refuse NaN and infinity.
    """
    found = inspect_folder(folder, family)
    model = found.empty.to(dtype or torch.float32)
    refuse_too_large(model, device)
    tensors = _tensors(found, model, torch.device(device or "cpu"), mapped=mapped, finite=finite)
    model.load_state_dict(tensors, assign=True)
    model = allocated(model, device or "cpu").eval()
    check_copies(found.weights, found.located)
    config, tokenizers = read_run_config(found.path, found.foreign, found.family, found.task, found.config)
    return Imported(model, config, tokenizers, found.family.name, found.located.aside)


def _tensors(found: Folder, model: nn.Module, device: torch.device, *, mapped: bool, finite: bool) -> dict[str, Tensor]:
    """Every tensor of the model, itself on `meta`: lent by the mapped file where that is possible, else read."""
    tensors: dict[str, Tensor] = {}
    forms = model.state_dict()
    for name, at in found.located.names.items():
        x = lent(found.weights, at, forms[name]) if mapped and device.type == "cpu" else None
        if x is None:
            x = torch.empty(forms[name].shape, dtype=forms[name].dtype, device=device)
            read_into(found.weights, at, x)
        if finite:
            check_finite_weight(at.key, x, found.weights.folder)
        tensors[name] = x
    return tensors


def inspect_folder(folder: str | Path, family_name: str | None = None) -> Folder:
    """Everything about a folder except its weights; anything wrong with it is refused here."""
    refuse_stranger(folder)
    folder = Path(folder)
    if (folder / "config.toml").is_file() and not (folder / CONFIG_FILE).is_file():
        raise FileError("hub_own_run", path=folder)
    foreign = read_foreign(folder / CONFIG_FILE)
    _refuse_quantised(foreign)
    family = find_family(foreign, family_name)
    weights = StoredWeights.open(folder)
    task = _declared_task(family, foreign) or _task_of_keys(family, foreign, weights.tensors, folder)
    config = family.configure(foreign, task)
    if task == "features":
        config = _without_missing_head(family, config, weights.tensors)
    empty, located = _compared(family, config, weights)
    if _has_own_head(family, config, weights, located):
        config = family.apart(config)
        empty, located = _compared(family, config, weights)
    stored = not_as_computed(weights, config, located)
    if stored is not None:
        if family.stored_positions is None:
            raise FileError("hub_computed", path=folder, key=stored, family=family.name)
        config = family.stored_positions(config)
        empty, located = _compared(family, config, weights)
    return Folder(folder, foreign, family, task, config, weights, located, empty)


def _compared(family: Family, config: ModelConfig, weights: StoredWeights) -> tuple[nn.Module, Located]:
    """The model without its numbers, and where each of them lies; raises where a shape differs."""
    empty = empty_model(config)
    return empty, locate_tensors(family, config, shapes_of(empty), weights.tensors, weights.folder)


def _refuse_quantised(foreign: Foreign) -> None:
    """Raises for quantised weights, integers of few bits with scales, which our boxes cannot use."""
    if foreign.table.get("quantization_config") is not None:
        table = foreign.within("quantization_config").table
        how = [str(table[key]) for key in ("quant_method", "bits") if table.get(key) is not None]
        raise FileError("hub_quantised", path=foreign.path, how=", ".join(how) or "?")


def find_family(foreign: Foreign, given: str | None = None) -> Family:
    """The family, by its model_type, or `given` if the config.json has none."""
    model_type = foreign.word("model_type", given)
    for family in FAMILIES.values():
        if model_type in family.model_types:
            return family
    known = ", ".join(name for family in FAMILIES.values() for name in family.model_types)
    raise FileError("hub_unsupported", path=foreign.path, key="model_type", value=model_type, known=known)


def _declared_task(family: Family, foreign: Foreign) -> str | None:
    """The task of the class that wrote the file; None if no class is named."""
    named = foreign.words("architectures")
    for name in named:
        if name in family.tasks:
            return family.tasks[name]
    if named:
        known = ", ".join(family.tasks)
        raise FileError("hub_unsupported", path=foreign.path, key="architectures", value=named[0], known=known)
    return None


def _task_of_keys(family: Family, foreign: Foreign, stored: Mapping[str, Stored], folder: Path) -> str:
    """The first task whose tensors are all present with none left over; else the first that fits at all."""
    fitting: list[str] = []
    for task in dict.fromkeys(family.tasks.values()):
        try:
            config = family.configure(foreign, task)
            located = locate_tensors(family, config, shapes(config), stored, folder)
        except FileError:
            continue
        if not located.aside:
            return task
        fitting.append(task)
    return next(iter([*fitting, *family.tasks.values()]))


def _without_missing_head(family: Family, config: ModelConfig, stored: Mapping[str, Stored]) -> ModelConfig:
    """The configuration without a pooler, if none is stored."""
    ours = [at.key for name, at in family.names(config).items() if name.startswith("head.")]
    if not ours or any(key in stored or key.removeprefix(family.prefix) in stored for key in ours):
        return config
    return replace(config, head=Choice("none"), tie_embeddings="none")


def _has_own_head(family: Family, config: ModelConfig, weights: StoredWeights, located: Located) -> bool:
    """Whether the stored head differs from the embedding, in a family that says "tied" for every model."""
    tied = set(family.copies(config)) - set(family.copies(family.apart(config)))
    return any(not weights.equal(first, second) for second, first in located.copies.items() if second in tied)


def refuse_too_large(model: nn.Module, device: str | torch.device | None) -> None:
    """Raises if a model, still on `meta`, would not fit into the memory that is free."""
    if torch.device(device or "cpu").type != "cpu":
        return
    needed = sum(x.numel() * x.element_size() for x in (*model.parameters(), *model.buffers()))
    available = free_memory()
    if available is not None and needed > available:
        raise ConfigError("does_not_fit", needed=f"{needed / 2**30:,.1f}", available=f"{available / 2**30:,.1f}")
