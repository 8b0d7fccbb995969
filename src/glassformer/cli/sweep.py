"""`glassformer sweep RECIPE --vary key=a,b --seeds 3`: train variants side by side, table and curves."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glassformer.cli.options import Debug, Force, Json, Lang, Set, overrides, parse_value
from glassformer.cli.output import print_json, print_rich
from glassformer.errors import UsageError
from glassformer.words import language, say

if TYPE_CHECKING:
    from glassformer.ranks import Ranks
    from glassformer.training.sweep import Trial

Vary = Annotated[list[str] | None, typer.Option("--vary", help=say("help.vary"), show_default=False)]


def command(
    recipe: Annotated[str, typer.Argument(help=say("help.recipe"), metavar="RECIPE", show_default=False)],
    vary: Vary = None,
    seeds: Annotated[int, typer.Option("--seeds", help=say("help.seeds"))] = 1,
    out: Annotated[Path | None, typer.Option("--out", help=say("help.sweep_out"), show_default=False)] = None,
    force: Force = False,
    set_: Set = None,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> int:
    varied, changes = variations(vary), overrides(set_)
    from glassformer.cli.lasting import lasting
    from glassformer.files import disk, write_json
    from glassformer.runs.output import claim_folder, mark_folder
    from glassformer.tasks.own import open_recipe_or_data
    from glassformer.torchrun import ranks_here
    from glassformer.training.sweep import plan_trials
    from glassformer.training.sweep_picture import draw_sweep
    from glassformer.training.sweep_results import compare_trials

    def claimed() -> tuple[str, Path, list[Trial]]:
        name = open_recipe_or_data(recipe, changes).name
        folder = out or Path("runs") / f"{name}-sweep"
        trials = plan_trials(recipe, varied, seeds, folder, changes)
        claim_folder(folder, "sweep", force=force or (folder / "sweep.json").is_file())  # older sweeps have no marker
        with disk(folder):
            folder.mkdir(parents=True, exist_ok=True)
        mark_folder(folder, "sweep")
        return name, folder, trials

    with ranks_here() as ranks, lasting():
        name, folder, trials = ranks.from_first(claimed)
        mine = _follow(trials, ranks, quiet=json or not ranks.first)
        ranks.when_all_have("swept")
        whole = not ranks.any(not mine)
    if not ranks.first:
        return 0 if whole else 1
    found = compare_trials(name, trials)
    write_json(folder / "sweep.json", found.to_json())
    draw_sweep(found, folder / "sweep.png")
    if json:
        print_json(found.to_json())
    else:
        print_rich(found, say("sweep.written", curves=folder / "sweep.json", picture=folder / "sweep.png"))
        if not whole:
            print_rich(say("sweep.stopped"))
    return 0 if whole else 1


def variations(given: list[str] | None) -> dict[str, list[Any]]:
    """["model.norm_order=pre,post"] → {"model.norm_order": ["pre", "post"]}; commas inside brackets do not separate."""
    table: dict[str, list[Any]] = {}
    for item in given or []:
        key, equals, text = item.partition("=")
        values = [parse_value(part) for part in _parts(text) if part.strip()]
        if not (equals and key.strip() and values):
            raise UsageError("bad_vary", given=item)
        if key.strip() in table:
            raise UsageError("sweep_twice", key=key.strip())
        table[key.strip()] = [value for number, value in enumerate(values) if value not in values[:number]]
    return table


def _parts(text: str) -> list[str]:
    depth, parts = 0, [""]
    for character in text:
        depth += (character in "[{") - (character in "]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _follow(trials: list[Trial], ranks: Ranks, *, quiet: bool) -> bool:
    """Train all trials of this rank, with a line at the beginning and the end of each; False if it was stopped."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from glassformer.training.sweep import sweep

    console = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
    columns = BarColumn(30), MofNCompleteColumn(), TextColumn("{task.description}", markup=False), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=quiet or not sys.stderr.isatty()) as bars:
        return _show(sweep(trials, ranks), trials, bars, quiet)


def _show(happening: Iterable[Any], trials: list[Trial], bars: Any, quiet: bool) -> bool:
    from glassformer.training import events
    from glassformer.training.sweep import Diverged, Skipped

    whole, metrics = True, ""
    task = bars.add_task("", total=sum(trial.config.train.steps for trial in trials))

    def line(text: str) -> None:
        if not quiet:
            bars.console.print(text)

    for trial, event in happening:
        number = trials.index(trial)
        where = {"number": number + 1, "count": len(trials), "name": trial.name}
        before = sum(each.config.train.steps for each in trials[:number])
        match event:
            case Skipped():
                line(say("sweep.skipped", **where))
            case Diverged():
                line(say("sweep.diverged", **where, error=event.error.in_language(language())))
            case events.Started():
                metrics = ""
                line(say("sweep.began", **where))
            case events.StepDone():
                bars.update(task, completed=before + event.step, description=trial.name)
            case events.Evaluated():
                metrics = ", ".join(f"{name} {value:.4g}" for name, value in event.metrics.items())
            case events.Stopped():
                whole = event.reason in ("finished", "early")
                line(say("sweep.ended", **where, metrics=metrics or event.reason))
    return whole
