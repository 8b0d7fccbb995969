"""`glassformer export RUN --to run`: a run folder with only what its use needs, to be given to others.

Weights, rounded, with their manifest; tokenizer, words seen, scales; a configuration that names no file of this
machine; and the card. No state of the optimiser, no pictures; of checkpoints and log only what is asked for.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from glassformer.config.recipe import RunConfig
from glassformer.config.values import Choice
from glassformer.errors import FileError, InputError, choose, reason, warn
from glassformer.hub.empty_model import parameter_count
from glassformer.hub.export import EXPORT_FOLDER
from glassformer.hub.store import COMPANION_FILES, KEPT
from glassformer.hub.weights import write_tensors
from glassformer.loading import Loaded, choose_device, load, recipes, trained_folders
from glassformer.runs import Run, choose_weights, write_manifest
from glassformer.runs.manifest import sha256
from glassformer.runs.output import claim_folder, drafted, is_made
from glassformer.runs.paths import data_files
from glassformer.runs.weights import AUTO, WEIGHTS_FILE, read_tensors
from glassformer.sharing.card import METRICS, ModelCard
from glassformer.sharing.licences import licences
from glassformer.sharing.way import compact, kept_steps, write_log
from glassformer.tasks.evaluation import evaluate, score_split
from glassformer.tasks.result import Evaluation, ExampleProgress
from glassformer.tasks.schemas import schemas
from glassformer.text import Vocabularies

DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}
SEEN = "seen.json"
FILES = (SEEN, "scaler.json", "linear.safetensors")  # what a task keeps beside its weights, if it does
NOT_SCORED = "none"
SAID = ("--steps", "--seed", "--set")  # options of `train` that change what is learned


def share_run(
    run: str | Path,
    out: str | Path,
    *,
    dtype: str = "float16",
    checkpoint: str | int = AUTO,
    checkpoints: Sequence[int] = (),
    split: str = "validation",
    force: bool = False,
    progress: ExampleProgress = lambda done, total: None,
) -> ModelCard:
    """Write a run for others, and its card. The whole folder appears, or nothing.

    `checkpoints`: these steps, and the points of the curves up to the last of them, which is the one that is scored;
    none: only `checkpoint`. `split`: where both the trained and the rounded weights are scored; "none": nowhere.
    `force`: write into a folder that is not empty; a run that was trained there is never replaced.
    """
    kind, opened, out = choose("dtype", dtype, DTYPES), Run.open(run), Path(out)
    if (out / "config.toml").exists() and not is_made(out, EXPORT_FOLDER):
        raise FileError("run_kept", path=out)
    claim_folder(out, EXPORT_FOLDER, force=force, inputs=[opened.folder])
    steps = kept_steps(opened, checkpoints)
    *others, chosen = [choose_weights(opened, step) for step in steps or (checkpoint,)]
    config = without_paths(opened.config)
    with drafted(out, EXPORT_FOLDER, force=force, inputs=[opened.folder]) as folder:
        draft = Run(folder)
        draft.write_config(opened.config)  # with its data, until it has been scored
        for file in (*others, chosen):
            weights = folder / file.parent.relative_to(opened.folder)
            _write_weights(rounded(read_tensors(file), kind, file), weights)
        if steps:
            write_log(opened, folder, steps[-1])
        _carry(opened, folder)
        before = None if split == NOT_SCORED else _score(opened.folder, split, chosen.parent.name, progress)
        after = None if before is None else score_split(_load(folder), split, progress=progress)
        draft.write_config(config, schemas(config))
        card = _card(opened, out.name, weights, dtype, split, before, after)
        card.write(folder)
    return card


def rounded(tensors: Mapping[str, Tensor], dtype: torch.dtype, path: Path) -> dict[str, Tensor]:
    """The weights in another type; raises if a number is too large for it."""
    found = {}
    for name, x in tensors.items():
        found[name] = x.to(dtype) if x.is_floating_point() else x
        if bool(x.isfinite().all()) and not bool(found[name].isfinite().all()):
            kind, most = str(dtype).removeprefix("torch."), f"{float(x.abs().max()):.3g}"
            raise FileError("rounded_to_infinity", path=path, name=name, value=most, dtype=kind)
    return found


def _write_weights(tensors: Mapping[str, Tensor], folder: Path) -> None:
    folder.mkdir(parents=True)
    forms = {name: (x.dtype, tuple(x.shape)) for name, x in tensors.items()}
    write_tensors(folder / WEIGHTS_FILE, forms, lambda name: tensors[name])
    write_manifest(folder)


def without_paths(config: RunConfig) -> RunConfig:
    """The configuration without the files of this machine, each of which is named in a warning."""
    source, start = config.data.source, config.train.start
    if start is not None and start not in trained_folders():
        warn("start_left_out", path=start)
        config = replace(config, train=replace(config.train, start=None))
    paths = data_files(config)
    for path in paths:
        warn("path_left_out", path=path)
    kept = {name: value for name, value in source.options.items() if not _names(value, paths)}
    return replace(config, data=replace(config.data, source=Choice(source.kind, kept)))


def _names(value: object, paths: Sequence[str]) -> bool:
    """Whether an option is one of these paths, or a list of some."""
    return any(_names(one, paths) for one in value) if isinstance(value, list | tuple) else value in paths


def _carry(run: Run, folder: Path) -> None:
    """What a task, a tokenizer or an import keeps beside the weights."""
    text = run.config.model.input.kind == "tokens" and run.config.text.tokenizer.kind != "none"
    if text:
        Vocabularies.open(run.folder).save(folder)
        compact(sorted(folder.glob("tokenizer*/*.json")))
    kept = (*FILES, *(f"{KEPT}/{name}" for name in COMPANION_FILES))
    for name in kept:
        if (run.folder / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(run.folder / name, folder / name)
    compact([path for path in (folder / SEEN,) if path.is_file()])


def _load(folder: Path, checkpoint: str | int = AUTO) -> Loaded:
    return load(folder, device=choose_device("auto"), checkpoint=checkpoint)


def _score(folder: Path, split: str, checkpoint: str, progress: ExampleProgress) -> Evaluation[Any] | None:
    """The weights as they were trained, and a line in the run's own evaluations.jsonl; None without the data."""
    try:
        return evaluate(_load(folder, checkpoint), split, progress=progress)
    except (InputError, FileError) as error:
        warn("card_not_scored", why=reason(error))
        return None


def _card(
    run: Run,
    name: str,
    weights: Path,
    dtype: str,
    split: str,
    before: Evaluation[Any] | None,
    after: Evaluation[Any] | None,
) -> ModelCard:
    config, file = run.config, weights / WEIGHTS_FILE
    recipe = config.name if config.name in recipes() else ""
    metric = METRICS[config.task.kind][0] if config.task.kind in METRICS else ""
    number = weights.name.removeprefix("step-")
    return ModelCard(
        name=name,
        task=config.task.kind,
        recipe=recipe,
        command=_command(run),
        seed=config.train.seed,
        steps=int(number) if number.isdecimal() else int(run.status.get("step", config.train.steps)),
        parameters=parameter_count(config.model),
        bytes=file.stat().st_size,
        dtype=dtype,
        data=licences(config.data.source),
        split="" if after is None else split,
        metric=metric,
        score=_main(after, metric),
        score_before=_main(before, metric),
        groups=_groups(after, metric),
        beside=_beside(after, metric),
        sha256=sha256(file),
    )


def _command(run: Run) -> str:
    """The command that trained it, with the options that change what is learned; "" unless it was a recipe of ours."""
    words = [str(word) for word in run.environment.get("command", ())][1:]
    if words[:1] != ["train"] or len(words) < 2 or words[1] not in recipes():
        return ""
    given = [f"{one} {other}" for one, other in pairwise(words[2:]) if one in SAID]
    given += [word for word in words[2:] if word.partition("=")[0] in SAID and "=" in word and word not in SAID]
    return " ".join(["glassformer", *words[:2], *given])


def _main(found: Evaluation[Any] | None, metric: str) -> float | None:
    """The number by which the task is judged, of the whole split; a share may come with its interval."""
    return None if found is None else _number(found.total.to_json(), metric)


def _groups(found: Evaluation[Any] | None, metric: str) -> dict[str, float]:
    """The same number of every group of the split; none where there is but one; a digit has only its share."""
    every = {} if found is None or len(found.groups) < 2 else found.to_json()["groups"]
    numbers = {name: _number(each if metric in each else {metric: each}, metric) for name, each in every.items()}
    return {name: number for name, number in numbers.items() if number is not None}


def _number(scores: Mapping[str, Any], metric: str) -> float | None:
    value = scores.get(metric)
    value = value.get("value") if isinstance(value, Mapping) else value
    return float(value) if isinstance(value, int | float) else None


def _beside(found: Evaluation[Any] | None, metric: str) -> dict[str, float]:
    """The same number of the baselines, where a task has any: an error alone says little."""
    others = {} if found is None else found.to_json().get("beside", {})
    return {name: float(each[metric]) for name, each in others.items() if isinstance(each.get(metric), float)}
