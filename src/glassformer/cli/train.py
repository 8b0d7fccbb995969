"""`glassformer train RECIPE`: train, show how it goes, leave a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer.cli.options import Debug, Json, Lang, Set, overrides
from glassformer.cli.output import print_json
from glassformer.errors import UsageError
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.train import Job

Recipe = Annotated[str, typer.Argument(help=say("help.recipe"), metavar="RECIPE", show_default=False)]
Out = Annotated[Path | None, typer.Option("--out", help=say("help.out"), show_default=False)]
Resume = Annotated[bool, typer.Option("--resume", help=say("help.resume"))]


def command(
    recipe: Recipe,
    out: Out = None,
    resume: Resume = False,
    set_: Set = None,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    """Exit code 0 where training came to its end; 1 where Ctrl-C or SIGTERM ended it, with everything saved.

    --resume where nothing has begun yet begins: a job that is started again and again needs one command.
    """
    changes = overrides(set_)
    from glassformer.cli.progress import preparing, show
    from glassformer.train.watch import watched

    with preparing(quiet=json):
        job, resumed = prepare(recipe, out, resume, changes)
    last = show(watched(job, resume=resumed), job, quiet=json)
    if json:
        print_json({"run": str(job.run.folder), **last})
    if last.get("reason") not in ("finished", "early"):
        raise typer.Exit(1)


def prepare(recipe: str, out: Path | None, resume: bool, changes: dict[str, Any]) -> tuple[Job, bool]:
    """The job, and whether it goes on with a run. A run folder instead of a recipe goes on with that run."""
    from glassformer.open import recipes
    from glassformer.train.begin import again, begin_or_again

    if recipe not in recipes() and Path(recipe).is_dir():
        if out is not None and out.resolve() != Path(recipe).resolve():
            raise UsageError("resume_out", path=recipe)
        return again(recipe, changes), True
    return begin_or_again(recipe, out, resume, changes)
