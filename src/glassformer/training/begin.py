"""From a recipe to a `Training`: the task's material, a model and a run folder; or from a run folder, to resume."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from glassformer.config.recipe import RunConfig, override
from glassformer.errors import ConfigError, FileError
from glassformer.files import TEMPORARY, disk
from glassformer.loading import Loaded, choose_device
from glassformer.models.build import build
from glassformer.models.check import check
from glassformer.ranks import ALONE, Ranks
from glassformer.runs import Run, locked
from glassformer.runs.folder import SeenRun
from glassformer.runs.paths import absolute
from glassformer.tasks import Material, kind_of
from glassformer.tasks.own import open_recipe_or_data
from glassformer.tasks.schemas import schemas
from glassformer.text.kinds import check_tokenizer
from glassformer.training.compile import settled
from glassformer.training.job import Training
from glassformer.training.schedule import heed
from glassformer.training.start import keep, open_start, put_weights, take
from glassformer.training.validate import make_sampler

GROWS = "train.steps"
BeforeReading = Callable[[RunConfig], None]


def quietly(config: RunConfig) -> None:
    """The default when called from Python: report nothing."""


def begin(config: RunConfig, out: str | Path, reading: BeforeReading = quietly, ranks: Ranks = ALONE) -> Training:
    """A new run: read the data, learn the vocabulary or scales, write the folder, build the model.

    `reading` is called just before the data is read, after everything that can be checked without it. Of several ranks,
    the first begins the run; the others wait until its folder is there.
    """
    made = ranks.after_first("begin", lambda: _begin(config, out, reading, ranks))
    return _joining(Path(out), ranks) if made is None else made


def _begin(config: RunConfig, out: str | Path, reading: BeforeReading, ranks: Ranks) -> Training:
    _refuse_early(Path(out))
    given, config = config, absolute(for_ranks(config, ranks))
    start = ready(config)
    reading(given)
    material = kind_of(config).task.begin(config)
    taken = None if start is None else take(start, material.config.model)

    def fill(run: Run) -> None:
        material.fill(run)
        if taken is not None:
            keep(run, *taken)

    complete = settled(with_steps(material), choose_device(config.train.device))
    return job(Run.create(out, complete, fill=fill, options=schemas(complete)), material, ranks)


def for_ranks(config: RunConfig, ranks: Ranks) -> RunConfig:
    """The recipe for so many ranks: its run remembers them, and takes the same steps on any other number.

    Raises if the micro-batches of a step cannot be shared among those that are here.
    """
    if config.train.ranks is None and ranks.world > 1:
        config = replace(config, train=replace(config.train, ranks=ranks.world))
    ranks.share_of(config.train.micro_batches)
    return config


def _joining(folder: Path, ranks: Ranks) -> Training:
    """The run that rank 0 has begun or resumes, as another rank sees it."""
    run = SeenRun(Run.open(folder).folder)
    return job(run, kind_of(run.config).task.again(run), ranks)


def with_steps(material: Material) -> RunConfig:
    """The recipe with its number of steps: `train.epochs` times those of the first pass over the examples."""
    config, train = material.config, material.config.train
    if train.epochs is None:
        return config
    batches = train.epochs * len(make_sampler(material.training, material.task, train).batches(0))
    counted = replace(train, steps=-(-batches // train.micro_batches))
    heed(counted, config.model.d_model)
    return replace(config, train=counted)


def ready(config: RunConfig) -> Loaded | None:
    """Check everything that does not need the data; return the weights to start from, if any."""
    sketch = kind_of(config).task.sketch(config).model
    check(sketch)
    judged = kind_of(config).task.judged
    if config.train.best not in judged:
        raise ConfigError("no_such_metric", metric=config.train.best, known=", ".join(judged))
    choose_device(config.train.device)
    if config.model.input.kind == "tokens" and config.train.start is None:
        check_tokenizer(config.text.tokenizer.kind, config.text.tokenizer.options)
    if config.train.epochs is None:  # else the number of steps depends on the data: see `with_steps`
        heed(config.train, config.model.d_model)
    start = open_start(config)
    if start is not None:
        take(start, sketch)
    return start


def begin_or_again(
    recipe: str | Path,
    out: str | Path | None,
    resume: bool,
    changes: Mapping[str, Any],
    reading: BeforeReading = quietly,
    ranks: Ranks = ALONE,
) -> tuple[Training, bool]:
    """A new run, or with `resume` the one in the folder; and whether it was resumed."""
    config = open_recipe_or_data(recipe, changes)
    folder = Path("runs") / config.name if out is None else Path(out)
    if not ranks.from_first(lambda: resume and (folder / "config.toml").is_file()):
        return begin(config, folder, reading, ranks), False
    begun = Run.open(folder).config.name
    if begun != config.name:
        raise ConfigError("resume_other", path=folder, begun=begun, recipe=config.name)
    return again(folder, changes, ranks), True


def again(folder: str | Path, changes: Mapping[str, Any] | None = None, ranks: Ranks = ALONE) -> Training:
    """A run that was begun before, with its vocabulary and its data. Its config.toml counts, not the recipe.

    `changes` may repeat values of config.toml; only `train.steps` may grow, and `train.parallel` be another: the step
    stays the same. config.toml is then rewritten, and a schedule that ends with the last step, such as cosine, follows
    the longer curve.
    """
    made = ranks.after_first("again", lambda: _again(Path(folder), changes, ranks))
    return _joining(Path(folder), ranks) if made is None else made


def _again(folder: Path, changes: Mapping[str, Any] | None, ranks: Ranks) -> Training:
    run = Run.open(folder)
    ranks.share_of(run.config.train.micro_batches)
    with locked(run.folder):
        begun = settled(run.config, choose_device(run.config.train.device))  # by the steps that it had
        config = changed(run, changes or {})
        config = replace(config, train=replace(config.train, compile=begun.train.compile))
        if config != run.config:
            run.write_config(config, schemas(config))
            run = Run.open(folder)
    return job(run, kind_of(run.config).task.again(run), ranks)


def changed(run: Run, changes: Mapping[str, Any]) -> RunConfig:
    """The configuration of a run with more steps, or shared among ranks in another way.

    Any other change would make it a different run.

    Changes are compared together: `data.source=files` alone differs from the same with its file names.
    """
    config, tables = run.config, run.config.to_dict()
    for key, value in changes.items():
        tables = override(tables, key, value)
    wanted = absolute(RunConfig.from_dict(tables))
    if wanted.train.epochs is not None:  # those that the run was begun with, or they are refused below
        wanted = replace(wanted, train=replace(wanted.train, steps=config.train.steps))
    if wanted.train.ranks is None:
        wanted = replace(wanted, train=replace(wanted.train, ranks=config.train.ranks))
    steps = wanted.train.steps
    epochs = config.train.epochs if wanted.train.epochs else None
    shared = wanted.train.parallel
    longer = replace(config, train=replace(config.train, steps=steps, epochs=epochs, parallel=shared))
    if not _same(wanted, longer):
        closest = sorted(changes, key=lambda key: -key.count("."))
        key = next((key for key in closest if _differs(key, wanted, longer)), closest[0])
        raise ConfigError("resume_differs", key=key, value=changes[key], path=run.folder)
    if steps < config.train.steps:
        raise ConfigError("resume_shorter", key=GROWS, value=steps, steps=config.train.steps)
    return longer


def _same(one: RunConfig, other: RunConfig) -> bool:
    """Whether two recipes agree, apart from what the data determines, such as the vocabulary size."""
    if one.task.kind != other.task.kind:
        return False
    task = kind_of(one).task
    return task.sketch(one).to_dict() == task.sketch(other).to_dict()


def _differs(key: str, one: RunConfig, other: RunConfig) -> bool:
    """Whether a key has another value: `train.steps`, or inside a choice `data.source.train`."""
    table, outer, *inner = (f"run.{key}" if key.startswith("task.") else key).split(".")
    ours, theirs = (each.to_dict().get(table, {}).get(outer) for each in (one, other))
    for name in inner:
        ours, theirs = (each.get(name) if isinstance(each, Mapping) else None for each in (ours, theirs))
    return bool(ours != theirs)


def _refuse_early(out: Path) -> None:
    """Check that the folder is free and can be written before minutes are spent on a vocabulary."""
    if (out / "config.toml").exists():
        raise FileError("run_exists", path=out)
    with disk(out):
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise FileError("folder_not_empty", path=out)
        out.parent.mkdir(parents=True, exist_ok=True)
        draft = out.with_name(TEMPORARY + out.name)
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        draft.rmdir()


def job(run: Run, material: Material, ranks: Ranks = ALONE) -> Training:
    """The `Training` of a run. Without validation examples there is no evaluation."""
    config, validation = run.config, material.validation
    if validation is not None:
        make_sampler(validation, material.task, config.train)  # refuses too long examples now, not after hours
    model, kind = build(config.model, seed=config.train.seed), kind_of(config)
    samples = kind.samples(run, material)
    return Training(
        run=run,
        model=model,
        task=material.task,
        training=material.training,
        validation=validation,
        measure=samples if kind.samples_judge else None,
        show=None if kind.samples_judge else samples,
        start=put_weights(run, model),
        ranks=ranks,
    )
