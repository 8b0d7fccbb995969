"""How the costs of a pass look: FLOPs and bytes by part, the layers of a stack shown once, then all together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glassformer.ledger.costs import Cost, Pass
from glassformer.ledger.show import place
from glassformer.words import say


def costs_table(costs: Mapping[str, Cost], run: Pass, lang: str | None) -> RenderableType:
    """For a terminal, under the table of parameters."""
    table = Table(show_footer=True, header_style="bold")
    whole = _amounts(costs.values())
    footers = (say("ledger.total", lang), "", *whole)
    titles = ("part", "formula", "flops_forward", "flops_backward", "saved")
    for title, footer in zip(titles, footers, strict=True):
        text = title in ("part", "formula")
        name = say(f"ledger.{title}", lang)
        table.add_column(name, footer, justify="left" if text else "right", no_wrap=title != "formula", overflow="fold")
    for stack, group in groupby(costs.values(), key=lambda cost: place(cost.part).stack):
        every = list(group)
        if not stack:
            for cost in every:
                table.add_row(cost.part, Text(_formula(cost)), *_amounts([cost]))
            continue
        layers = [list(each) for _, each in groupby(every, key=lambda cost: place(cost.part).layer)]
        named, n = say(f"boxes.{stack}", lang), len(layers)
        title = "single_layer" if n == 1 else "one_layer"
        table.add_row(Text(say(f"ledger.{title}", lang, stack=named, layers=n), style="bold"), "", *_amounts(layers[0]))
        for cost in layers[0]:
            table.add_row("  " + place(cost.part).inside, Text(_formula(cost)), *_amounts([cost]))
        if n > 1:
            label = say("ledger.all_layers", lang, stack=named, layers=n)
            table.add_row(Text(label, style="bold"), "", *_amounts(every))
    about = say(
        "ledger.of_run",
        lang,
        batch=run.batch,
        length=run.length,
        target_length=run.target_length or run.length,
        dtype=run.dtype,
        causal=run.causal,
    )
    return Group(about, table)


def _amounts(costs: Iterable[Cost]) -> tuple[str, str, str]:
    costs = list(costs)
    forward, backward = sum(cost.forward for cost in costs), sum(cost.backward for cost in costs)
    return f"{forward:,}", f"{backward:,}", f"{sum(cost.saved for cost in costs):,}"


def _formula(cost: Cost) -> str:
    return cost.flops_formula if cost.products else cost.saved_formula
