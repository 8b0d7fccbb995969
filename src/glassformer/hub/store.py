"""An imported model as a run folder of ours: what `load` opens, with the weights in their original type.

The original files and the tensors of other heads, which a run does not use, are kept for an export.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from glassformer.errors import FileError
from glassformer.files import disk, write_json
from glassformer.hub.empty_model import parameter_count, shapes
from glassformer.hub.generation import GENERATION_FILE
from glassformer.hub.names import check_copies, read_into
from glassformer.hub.open import CONFIG_FILE, Folder, inspect_folder
from glassformer.hub.pixels import PREPROCESSOR_FILE
from glassformer.hub.run_config import read_run_config
from glassformer.hub.sentence import SENTENCE_FILES
from glassformer.hub.weights import STORED_DTYPES, StoredForm, write_tensors
from glassformer.models.check import box_options
from glassformer.runs import Run, write_manifest
from glassformer.runs.output import claim_folder, drafted, is_made
from glassformer.runs.weights import WEIGHTS_FILE, check_finite_weight

KIND = "import"
KEPT = "foreign"  # the folder of a run for the original files
COMPANION_FILES = (CONFIG_FILE, GENERATION_FILE, PREPROCESSOR_FILE, *SENTENCE_FILES)
ASIDE = "aside.safetensors"
ByteProgress = Callable[[int, int], None]  # bytes written, bytes in all


@dataclass(frozen=True)
class Brought:
    """What an import has made. `aside`: tensors of other heads, which were left out."""

    run: Run
    family: str
    task: str
    parameters: int
    dtypes: tuple[str, ...]
    tokenizer: str  # its kind, or "none"
    aside: tuple[str, ...]


def store(
    source: str | Path,
    out: str | Path,
    *,
    dtype: torch.dtype | None = None,
    family: str | None = None,
    finite: bool = True,
    force: bool = False,
    progress: ByteProgress | None = None,
) -> Brought:
    """A folder of Hugging Face → a run folder. All of it appears, or nothing; one tensor is in memory at a time.

    `family` is for a config.json that does not name its own. `finite`: refuse weights that are NaN or infinite.
    `force`: write into a folder that is not empty; a run that has been trained is never replaced.
    """
    found = inspect_folder(source, family)
    check_free(Path(out), force=force, inputs=[found.path])
    config, tokenizers = read_run_config(found.path, found.foreign, found.family, found.task, found.config)
    check_copies(found.weights, found.located)
    forms = {
        name: (dtype or found.weights.dtype(found.located.names[name].key), shape)
        for name, shape in shapes(found.config).items()
    }

    def fill(draft: Run) -> None:
        if tokenizers is not None:
            tokenizers.save(draft.folder)
        folder = draft.checkpoint(0)
        folder.mkdir(parents=True)
        with disk(Path(out)):
            write_tensors(folder / WEIGHTS_FILE, forms, _giver(found, forms, finite, progress))
            _keep(found, draft.folder / KEPT)
        write_json(folder / "state.json", {"step": 0, "imported": found.family.name})
        write_manifest(folder)

    with drafted(Path(out), KIND, force=force, inputs=[found.path]) as folder:
        boxes = {f"model.{key}": options for key, options in box_options(config.model).items()}
        Run(folder).write_new(config, Path(out), fill, boxes)
    kinds = dict.fromkeys(str(kind).removeprefix("torch.") for kind, _ in forms.values())
    return Brought(
        run=Run(Path(out)),
        family=found.family.name,
        task=found.task,
        parameters=parameter_count(found.config),
        dtypes=tuple(kinds),
        tokenizer=config.text.tokenizer.kind,
        aside=found.located.aside,
    )


def check_free(out: Path, *, force: bool, inputs: Iterable[str | Path] = ()) -> None:
    """Raises if the folder cannot be written; a run that was trained, here or since its import, is never replaced."""
    trained = not is_made(out, KIND) or any((out / name).exists() for name in ("log.jsonl", "status.json"))
    if (out / "config.toml").exists() and trained:
        raise FileError("run_kept", path=out)
    claim_folder(out, KIND, force=force, inputs=inputs)


def _keep(found: Folder, folder: Path) -> None:
    folder.mkdir()
    for name in COMPANION_FILES:
        if (found.path / name).is_file():
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(found.path / name, folder / name)
    others = (*found.located.aside, *found.located.computed)
    aside = [name for name in others if found.weights.tensors[name].dtype in STORED_DTYPES]
    if aside:
        forms = {name: (found.weights.dtype(name), found.weights.tensors[name].shape) for name in aside}
        write_tensors(folder / ASIDE, forms, found.weights.read)


def _giver(
    found: Folder, forms: dict[str, StoredForm], finite: bool, progress: ByteProgress | None
) -> Callable[[str], Tensor]:
    sizes = {name: torch.Size(shape).numel() * kind.itemsize for name, (kind, shape) in forms.items()}
    total, done = sum(sizes.values()), 0

    def give(name: str) -> Tensor:
        nonlocal done
        kind, shape = forms[name]
        x = torch.empty(shape, dtype=kind)
        at = found.located.names[name]
        read_into(found.weights, at, x)
        if finite:
            check_finite_weight(at.key, x, found.weights.folder)
        done += sizes[name]
        if progress is not None:
            progress(done, total)
        return x

    return give
