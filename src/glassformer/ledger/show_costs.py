"""How the costs of a pass look: FLOPs and bytes by part, the layers of a stack shown once, then all together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from glassformer.ledger.costs import Cost, Pass
from glassformer.ledger.show import place
from glassformer.models.in_symbols import InSymbols
from glassformer.show import Column, Table
from glassformer.words import say


class CostLine(NamedTuple):
    """One line: a part or a sum, its formula, FLOPs forward and backward, bytes kept."""

    name: str  # its path
    label: str
    formula: str
    flops_forward: int
    flops_backward: int
    saved_bytes: int
    is_sum: bool = False


def lines(found: InSymbols, costs: Mapping[str, Cost], lang: str | None) -> Iterator[CostLine]:
    """Parts in the order of the data; the layers of a stack, all alike, once with their number."""
    for stack, group in groupby(costs.values(), key=lambda cost: place(cost.part).stack):
        every = list(group)
        if not stack:
            yield from (CostLine(cost.part, cost.part, _formula(cost), *_amounts([cost])) for cost in every)
            continue
        one = [cost for cost in every if place(cost.part).layer == "0"]
        named, path, n = say(f"boxes.{stack}", lang), f"{stack}.blocks", len(found.layers[stack])
        title = say(f"ledger.{'single_layer' if n == 1 else 'one_layer'}", lang, stack=named, layers=n)
        yield CostLine(f"{path}.0", title, "", *_amounts(one), is_sum=True)
        for cost in one:
            yield CostLine(cost.part, "  " + place(cost.part).inside, _formula(cost), *_amounts([cost]))
        if n > 1:
            label = say("ledger.all_layers", lang, stack=named, layers=n)
            yield CostLine(path, label, "", *_amounts(every, found.times), is_sum=True)


def cost_sums(found: InSymbols, costs: Mapping[str, Cost]) -> list[dict[str, Any]]:
    """The sums that the table shows, by path: one layer, all layers."""
    keys = ("name", "flops_forward", "flops_backward", "saved_bytes")
    return [{key: getattr(line, key) for key in keys} for line in lines(found, costs, None) if line.is_sum]


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


def costs_table(found: InSymbols, costs: Mapping[str, Cost], run: Pass, lang: str | None) -> Table:
    """Under the table of parameters."""
    table = Table(
        Column(say("ledger.part", lang)),
        Column(say("ledger.formula", lang), drop=1),
        *(Column(say(f"ledger.{key}", lang), "size") for key in ("flops_forward", "flops_backward", "saved")),
        title=about(run, lang),
        lang=lang,
    )
    for line in lines(found, costs, lang):
        amounts = (line.flops_forward, line.flops_backward, line.saved_bytes)
        table.add(line.label, line.formula, *amounts, bold=line.is_sum)
    table.total(say("ledger.total", lang), "", *_amounts(costs.values(), found.times))
    return table


def _amounts(costs: Iterable[Cost], times: Callable[[str], int] = lambda part: 1) -> tuple[int, int, int]:
    """FLOPs forward and backward, and bytes. `times`: how often a part is there, in layers that are alike."""
    forward = backward = saved = 0
    for cost in costs:
        n = times(cost.part)
        forward, backward, saved = forward + n * cost.forward, backward + n * cost.backward, saved + n * cost.saved
    return forward, backward, saved


def _formula(cost: Cost) -> str:
    return cost.flops_formula if cost.products else cost.saved_formula
