"""How the costs of a pass look: FLOPs and bytes by part, the layers of a stack shown once, then all together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glassformer.ledger.costs import Cost, Pass
from glassformer.ledger.show import place
from glassformer.words import say

COLUMNS = ("part", "formula", "flops_forward", "flops_backward", "saved")


class Line(NamedTuple):
    """One line: a part, its formula, and FLOPs forward, backward and bytes; sums are bold."""

    cells: tuple[str, ...]
    is_sum: bool = False


def lines(costs: Mapping[str, Cost], lang: str | None) -> Iterator[Line]:
    """Parts in the order of the data; the layers of a stack, all alike, once with their number; the sum last."""
    for stack, group in groupby(costs.values(), key=lambda cost: place(cost.part).stack):
        every = list(group)
        if not stack:
            yield from (Line((cost.part, _formula(cost), *_amounts([cost]))) for cost in every)
            continue
        layers = [list(each) for _, each in groupby(every, key=lambda cost: place(cost.part).layer)]
        named, n = say(f"boxes.{stack}", lang), len(layers)
        title = say(f"ledger.{'single_layer' if n == 1 else 'one_layer'}", lang, stack=named, layers=n)
        yield Line((title, "", *_amounts(layers[0])), is_sum=True)
        for cost in layers[0]:
            yield Line(("  " + place(cost.part).inside, _formula(cost), *_amounts([cost])))
        if n > 1:
            label = say("ledger.all_layers", lang, stack=named, layers=n)
            yield Line((label, "", *_amounts(every)), is_sum=True)
    yield Line((say("ledger.total", lang), "", *_amounts(costs.values())), is_sum=True)


def about(run: Pass, lang: str | None) -> str:
    """One line on the pass and on how it is counted."""
    return say(
        "ledger.of_run" if run.training else "ledger.of_step",
        lang,
        batch=run.batch,
        length=run.length,
        target_length=run.target_length or run.length,
        dtype=run.dtype,
        causal=say(f"ledger.{run.causal}", lang),
        past=run.past,
    )


def costs_table(costs: Mapping[str, Cost], run: Pass, lang: str | None) -> RenderableType:
    """For a terminal, under the table of parameters."""
    table = Table(header_style="bold")
    for title in COLUMNS:
        text = title in ("part", "formula")
        name = say(f"ledger.{title}", lang)
        table.add_column(name, justify="left" if text else "right", no_wrap=title != "formula", overflow="fold")
    for line in lines(costs, lang):
        table.add_row(*(Text(cell, style="bold" if line.is_sum else "") for cell in line.cells))
    return Group(about(run, lang), table)


def _amounts(costs: Iterable[Cost]) -> tuple[str, str, str]:
    costs = list(costs)
    forward, backward = sum(cost.forward for cost in costs), sum(cost.backward for cost in costs)
    return f"{forward:,}", f"{backward:,}", f"{sum(cost.saved for cost in costs):,}"


def _formula(cost: Cost) -> str:
    return cost.flops_formula if cost.products else cost.saved_formula
