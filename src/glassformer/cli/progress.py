"""How training looks while it runs: one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from glassformer.train import events
from glassformer.train.events import Event
from glassformer.train.loop import Job
from glassformer.words import say


def show(happening: Iterable[Event], job: Job, *, quiet: bool) -> dict[str, Any]:
    """Follow training to its end; returns what is known then."""
    console = Console(stderr=quiet, highlight=False, markup=False, emoji=False)
    live = sys.stdout.isatty() and not quiet
    columns = (BarColumn(30), TextColumn("{task.completed:.0f}/{task.total:.0f}"), TextColumn("{task.description}"))
    last: dict[str, Any] = {}
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not live, transient=True) as bar:
        line = bar.add_task("", total=job.recipe.train.steps)
        for event in happening:
            if isinstance(event, events.StepDone):
                bar.update(line, completed=event.step)
                continue
            if isinstance(event, events.Logged):
                bar.update(line, description=_short(event))
                last |= {"step": event.step, "loss": event.loss, "tokens_per_second": event.tokens_per_second}
                if live:
                    continue
            if isinstance(event, events.Evaluated):
                last["metrics"] = dict(event.metrics)
            if isinstance(event, events.Stopped):
                last["reason"] = event.reason
            text = _line(event)
            if text and not quiet:
                console.print(text)
    return last


def _short(event: events.Logged) -> str:
    return say("train.short", loss=f"{event.loss:.3f}", speed=f"{event.tokens_per_second:,.0f}")


def _line(event: Event) -> str:
    """An event in one line; "" for those that nobody wants to read."""
    match event:
        case events.Started():
            if event.resumed_from is not None:
                return say("train.resumed", step=event.step, path=event.resumed_from)
            return say(
                "train.started", parameters=f"{event.parameters:,}", steps=f"{event.steps:,}", device=event.device
            )
        case events.CheckpointRefused():
            return say("train.refused", error=str(event.error))
        case events.EnvironmentChanged():
            changed = ", ".join(f"{key}: {old} → {new}" for key, (old, new) in event.differences.items())
            return say("train.environment", changed=changed)
        case events.Logged():
            rate = f"{event.learning_rate:.2e}"
            return say(
                "train.logged",
                step=event.step,
                loss=f"{event.loss:.4f}",
                rate=rate,
                speed=f"{event.tokens_per_second:,.0f}",
            )
        case events.Evaluated():
            metrics = ", ".join(f"{name} {value:.4g}" for name, value in event.metrics.items())
            return say("train.best" if event.best else "train.evaluated", step=event.step, metrics=metrics)
        case events.Averaged():
            return say("train.averaged", count=len(event.steps))
        case events.Stopped():
            return say(f"train.stopped.{event.reason}", step=event.step)
    return ""
