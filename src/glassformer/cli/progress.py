"""How training looks while it runs: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from glassformer.cli.prepared import shown_preparation
from glassformer.errors import GlassformerError
from glassformer.runs import Run
from glassformer.show import Sheet
from glassformer.tasks import kind_of
from glassformer.tasks.samples import read_samples
from glassformer.training import events
from glassformer.training.events import Event
from glassformer.training.job import Training
from glassformer.training.start import TakenWeights
from glassformer.training.watch import NotShown
from glassformer.words import language, say, sentences

NAMED = 4  # tensors named in a line


@contextmanager
def preparing(*, quiet: bool) -> Iterator[None]:
    """A sign of life before the first step, which can take a while."""
    console = make_console()
    if quiet:
        yield
    elif console.is_terminal:
        with console.status(say("watch.preparing")) as status, shown_preparation(write=status.update):
            yield
    else:
        console.print(say("watch.preparing"))
        with shown_preparation():
            yield


def make_console() -> Console:
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True)


def show(
    happening: Iterable[Event | NotShown], job: Training, *, quiet: bool, console: Console | None = None
) -> dict[str, Any]:
    """Follow training to its end; return the last values of everything."""
    console = console or make_console()
    live = console.is_terminal and not quiet
    display = Display(console, job)
    last: dict[str, Any] = {}
    with Live(display, console=console, transient=True, refresh_per_second=4) if live else nullcontext():
        for event in happening:
            display.see(event)
            remember(last, event)
            if isinstance(event, events.CheckpointRefused):
                print(line(event), file=sys.stderr)  # also with --json
                continue
            shown_by_display = live and isinstance(event, events.Logged)
            silent = quiet or shown_by_display or isinstance(event, events.StepDone)
            text = "" if silent else line(event, job.task.unit)
            if text:
                console.print(text, soft_wrap=True)
    if not quiet:
        console.print("\n".join(farewell(job.run, last.get("step", 0))), soft_wrap=True)
    return last


def remember(last: dict[str, Any], event: Event | NotShown) -> None:
    """Keep the latest of everything for the JSON document at the end."""
    match event:
        case events.Started():
            last["step"] = event.step
        case events.Logged():
            last |= {"step": event.step, "loss": event.loss, "tokens_per_second": event.tokens_per_second}
            last |= {key: value for key, value in event.to_json().items() if key in ("waiting", "of_ceiling")}
        case events.Evaluated():
            last["metrics"] = dict(event.metrics)
            if event.best:
                last["best"] = {"step": event.step, **event.metrics}
        case events.Averaged():
            last["averaged"] = dict(event.metrics)
        case events.Stopped():
            last |= {"step": event.step, "reason": event.reason}


class Display:
    """The bar, below it the numbers and the last sample translation; redrawn a few times a second."""

    def __init__(self, console: Console, job: Training) -> None:
        self.run, self.learning = job.run, job.task
        left = (TimeRemainingColumn(), TextColumn(say("watch.remaining")))
        self.bar = Progress(BarColumn(None), MofNCompleteColumn(), *left, console=console, expand=True)
        self.task = self.bar.add_task("", total=job.recipe.train.steps)
        self.numbers: dict[str, str] = {}
        self.sample: dict[str, str] | None = None

    def see(self, event: Event | NotShown) -> None:
        match event:
            case events.Started():
                self.bar.reset(self.task, completed=event.step)  # earlier sessions say nothing about the speed
            case events.StepDone():
                self.bar.update(self.task, completed=event.step)
            case events.Logged():
                self.numbers["loss"] = say("watch.loss", loss=f"{event.loss:.3f}")
                units = say(f"units.many.{self.learning.unit}")
                self.numbers["speed"] = say("watch.speed", speed=f"{event.tokens_per_second:,.0f}", units=units)
                self.numbers |= dict(device_use(event))
            case events.Evaluated():
                for name, scale in self.learning.shown.items():
                    if name in event.metrics:
                        value = event.metrics[name] * (100 if scale == "share" else 1)
                        self.numbers[name] = f"{say(f'metrics.{name}')} {shown(name, value)}"
                self.sample = next(iter(read_samples(self.run, event.step)), None)

    def __rich__(self) -> Sheet | Progress:
        """Step and remaining time have a line of their own, so that the numbers never push them out."""
        numbers = [" · ".join(self.numbers.values())] if self.numbers else []
        sample = [f"{say(f'watch.sample.{key}')}: {text}" for key, text in (self.sample or {}).items()]
        return Sheet(self.bar, *numbers, *sample) if numbers or sample else self.bar


def farewell(run: Run, step: int) -> list[str]:
    """Where everything is, and what to try with it: commands that work as they are printed."""
    lines = [say("watch.run", path=run.folder)]
    if run.has_weights:
        kind = kind_of(run.config)
        words = kind.example(run, step)
        uses = [] if words is None else [["glassformer", kind.verb, str(run.folder), *words]]
        both = [*uses, ["glassformer", "evaluate", str(run.folder)]]
        lines += [say("watch.next"), *(f"  {shlex.join(words)}" for words in both)]
    return lines


def line(event: Event | NotShown, unit: str = "tokens") -> str:
    """An event in one line; "" for those that are not shown."""
    match event:
        case events.Started():
            if event.resumed_from is not None:
                return say("train.resumed", step=event.step, path=event.resumed_from)
            return say(
                "train.started", parameters=f"{event.parameters:,}", steps=f"{event.steps:,}", device=event.device
            )
        case events.StartedFrom():
            return said_start(event.start)
        case events.CheckpointRefused():
            why, instead = _said(event.error), event.instead.name
            return say("warnings.checkpoint_passed_over", instead=instead, why=why)
        case events.EnvironmentChanged():
            changed = ", ".join(f"{key}: {old} → {new}" for key, (old, new) in event.differences.items())
            return say("train.environment", changed=changed)
        case events.Logged():
            values = {"loss": f"{event.loss:.4f}", "rate": f"{event.learning_rate:.2e}"}
            speed = {"speed": f"{event.tokens_per_second:,.0f}", "units": say(f"units.many.{unit}")}
            logged = say("train.logged", step=event.step, **values, **speed)
            return ", ".join([logged, *(text for _, text in device_use(event))])
        case events.Evaluated():
            metrics = ", ".join(f"{_named(name)} {shown(name, value)}" for name, value in event.metrics.items())
            return say("train.best" if event.best else "train.evaluated", step=event.step, metrics=metrics)
        case events.Averaged():
            return say("train.averaged", count=len(event.steps))
        case events.Stopped():
            return say(f"train.stopped.{event.reason}", step=event.step)
        case NotShown():
            return say("watch.not_shown", what=say(f"watch.parts.{event.what}"), error=_said(event.error))
    return ""


def device_use(event: events.Logged) -> Iterator[tuple[str, str]]:
    """How well an accelerator is used, where there is one."""
    for key, share in (("of_ceiling", event.of_ceiling), ("waiting", event.waiting)):
        if share is not None:
            yield key, say(f"watch.{key}", share=f"{100 * share:.1f}")


def shown(metric: str, value: float) -> str:
    """Four digits; a dash for what could not be measured. A loss of NaN is shown: training has diverged."""
    return "–" if math.isnan(value) and metric != "loss" else f"{value:.4g}"


def _named(metric: str) -> str:
    """The name of a metric in words; an unknown one keeps its own name."""
    key = f"train.metrics.{metric}"
    return say(key) if key in sentences(language()) else metric


def said_start(start: TakenWeights) -> str:
    """What was taken from another model, and what is initialised."""
    some = [*start.new[:NAMED], *(["…"] if len(start.new) > NAMED else [])]
    new = ", ".join(some) or say("train.none_new")
    return say("train.from", model=start.model, checkpoint=start.checkpoint, taken=len(start.taken), new=new)


def _said(error: Exception) -> str:
    """An error in the language of the process, in one line."""
    text = error.in_language(language()) if isinstance(error, GlassformerError) else str(error)
    return " ".join(text.split()) or type(error).__name__
