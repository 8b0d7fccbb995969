"""`glassformer train RECIPE|FILE`: train, show how it goes, leave a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer.cli.options import Debug, Json, Lang, Set, overrides
from glassformer.cli.output import print_found, print_json
from glassformer.errors import FileError, GlassformerError, UsageError, reason, warn
from glassformer.words import language, say

if TYPE_CHECKING:
    from glassformer.config.recipe import RunConfig
    from glassformer.ranks import Ranks
    from glassformer.training import Training
    from glassformer.training.begin import BeforeReading

Recipe = Annotated[str, typer.Argument(help=say("help.recipe"), metavar="RECIPE|FILE", show_default=False)]
Out = Annotated[Path | None, typer.Option("--out", help=say("help.out"), show_default=False)]
Resume = Annotated[bool, typer.Option("--resume", help=say("help.resume"))]
Task = Annotated[str | None, typer.Option("--task", help=say("help.own_task"), show_default=False)]
Steps = Annotated[int | None, typer.Option("--steps", help=say("help.train_steps"), show_default=False)]
Seed = Annotated[int | None, typer.Option("--seed", help=say("help.train_seed"), show_default=False)]
Device = Annotated[str | None, typer.Option("--device", help=say("help.train_device"), show_default=False)]
DryRun = Annotated[bool, typer.Option("--dry-run", help=say("help.dry_run"))]


def command(
    recipe: Recipe,
    out: Out = None,
    resume: Resume = False,
    task: Task = None,
    steps: Steps = None,
    seed: Seed = None,
    device: Device = None,
    dry_run: DryRun = False,
    set_: Set = None,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    """Exit code 0 if training reached its end; 1 if Ctrl-C or SIGTERM stopped it, with everything saved.

    --resume without an earlier run begins a new one: a job that is restarted again and again needs one command.
    """
    given = {"run.task": task, "train.steps": steps, "train.seed": seed, "train.device": device}
    changes = together(overrides(set_), {key: value for key, value in given.items() if value is not None})
    from glassformer.cli.lasting import lasting
    from glassformer.cli.progress import preparing, show
    from glassformer.torchrun import ranks_here
    from glassformer.training.events import COMPLETE
    from glassformer.training.watch import train_watched

    def reading(config: RunConfig) -> None:
        if not json:
            introduce(recipe, changes, config)

    if dry_run:
        with ranks_here() as ranks:
            if ranks.first:
                _show_dry_run(recipe, out, resume, changes, reading, json)
        return

    def speaking(ranks: Ranks) -> dict[str, Any]:
        """Train and show it; the last values of everything."""
        with lasting():
            with preparing(quiet=json):
                job, resumed = prepare(recipe, out, resume, changes, reading, ranks)
            if job.validation is None and not (resumed or json):
                print(say("train.no_validation"))
            return {"run": str(job.run.folder), **show(train_watched(job, resume=resumed), job, quiet=json)}

    def silent(ranks: Ranks) -> dict[str, Any]:
        """Train as one of the others."""
        job, resumed = prepare(recipe, out, resume, changes, lambda config: None, ranks)
        *_, last = train_watched(job, resume=resumed)
        return {"reason": getattr(last, "reason", "")}

    with ranks_here(always="train.parallel" in changes) as ranks:
        ranks.from_first(lambda: refuse_recipe(recipe, changes))
        found = speaking(ranks) if ranks.first else silent(ranks)
    if json and ranks.first:
        print_json(found)
    if found.get("reason") not in COMPLETE:
        raise typer.Exit(1)


def together(changes: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """--set and the short options together; a key may be given only once."""
    for key in given:
        if key in changes:
            raise UsageError("said_twice", key=key, option=f"--{key.partition('.')[2]}")
    return {**changes, **given}


def refuse_recipe(recipe: str, changes: dict[str, Any]) -> None:
    """Refuse a wrong recipe or key before a line says that anything is being prepared."""
    from glassformer.tasks.own import open_recipe_or_data

    if not _goes_on(recipe):
        open_recipe_or_data(recipe, changes)


def introduce(recipe: str, changes: dict[str, Any], config: RunConfig) -> None:
    """How the user's own files are read, and which recipe was chosen for them; nothing for a run that is resumed."""
    from glassformer.loading import recipes
    from glassformer.tasks.own import own_file_lines, own_recipe

    for phrase in own_file_lines(config):
        print(phrase.say(language()))
    own = None if recipe in recipes() else own_recipe(recipe, str(changes.get("run.task", "")), known=changes)
    if own is not None:
        print(say("own.chosen", task=say(f"data.tasks.{own.task}"), recipe=own.recipe))
        print(f"  {own.command}")  # not wrapped, so that it can be copied


def _refuse_run(recipe: str, out: Path | None, resume: bool, changes: dict[str, Any], name: str) -> None:
    """Raise what a training would raise because of its run folder; a dry run, which works for any, warns of it."""
    from glassformer.runs import Run
    from glassformer.training.begin import changed

    folder = Path("runs") / name if out is None else out
    if _goes_on(recipe):
        _refuse_other_folder(recipe, out)
        changed(Run.open(recipe), changes)
    elif not resume and (folder / "config.toml").exists():
        raise FileError("run_exists", path=folder)


def _refuse_other_folder(recipe: str, out: Path | None) -> None:
    if out is not None and out.resolve() != Path(recipe).resolve():
        raise UsageError("resume_out", path=recipe)


def _goes_on(recipe: str) -> bool:
    """A run folder in place of a recipe resumes that run."""
    from glassformer.loading import is_run, recipes

    return recipe not in recipes() and is_run(recipe)


def _show_dry_run(
    recipe: str, out: Path | None, resume: bool, changes: dict[str, Any], reading: BeforeReading, json: bool
) -> None:
    from glassformer.tasks.own import open_recipe_or_data
    from glassformer.training.dry_run import dry_run

    config = open_recipe_or_data(recipe, changes)
    print_found(dry_run(config, reading), json=json)
    try:
        _refuse_run(recipe, out, resume, changes, config.name)
    except GlassformerError as error:
        warn("dry_run_refused", why=reason(error))


def prepare(
    recipe: str, out: Path | None, resume: bool, changes: dict[str, Any], reading: BeforeReading, ranks: Ranks
) -> tuple[Training, bool]:
    """The job, and whether it resumes a run."""
    from glassformer.training.begin import again, begin_or_again

    if _goes_on(recipe):
        _refuse_other_folder(recipe, out)
        return again(recipe, changes, ranks), True
    return begin_or_again(recipe, out, resume, changes, reading, ranks)
