"""How the ledger, the costs of a pass and its memory look: the layers of a stack shown once, sums in bold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from glassformer.ledger.costs import Cost, Pass
from glassformer.ledger.memory import MemoryUse
from glassformer.ledger.rows import ParameterRow, Total, part_location
from glassformer.models.in_symbols import InSymbols
from glassformer.show import Column, Table
from glassformer.words import say


@dataclass(frozen=True)
class LedgerLine:
    """One line of the table. `level` 0 is a part of the model, 1 a part of one layer."""

    level: int
    name: str  # its path: "encoder.blocks.0.self_attention"
    label: str
    formula: str
    parameters: int
    trained: int
    buffers: int
    is_sum: bool = False


def lines(in_symbols: InSymbols, rows: Mapping[str, ParameterRow], lang: str | None) -> Iterator[LedgerLine]:
    """Rows in order; the layers of a stack, all identical, are shown once with their number."""
    for stack, group in groupby(rows.values(), key=lambda row: part_location(row.name).stack):
        if not stack:
            yield from (_line(row, 0, lang) for row in group)
            continue
        every, layers = list(group), len(in_symbols.layers[stack])
        one = [row for row in every if part_location(row.name).layer == "0"]
        title = "single_layer" if layers == 1 else "one_layer"
        stack_name, path = say(f"boxes.{stack}", lang), f"{stack}.blocks"
        yield _sum(f"{path}.0", say(f"ledger.{title}", lang, stack=stack_name, layers=layers), 0, one)
        for box, inside in groupby(one, key=lambda row: part_location(row.name).inside.partition(".")[0]):
            rows_of_box = list(inside)
            yield from (_line(row, 1, lang) for row in rows_of_box)
            if len(rows_of_box) > 1:
                yield _sum(f"{path}.0.{box}", say(f"boxes.{box}", lang), 1, rows_of_box, _joined(rows_of_box))
        if layers > 1:
            label = say("ledger.all_layers", lang, stack=stack_name, layers=layers)
            formula = f"{layers}×{sum(row.parameters for row in one):,}"
            yield _sum(path, label, 0, every, formula, in_symbols.times)


def _line(row: ParameterRow, level: int, lang: str | None) -> LedgerLine:
    label = say(f"parts.{row.kind}", lang)
    box = row.name.rpartition(".")[2].removesuffix("norm").rstrip("_")
    if row.kind.startswith("norm.") and box:
        label = say("ledger.after", lang, norm=label, box=say(f"boxes.{box}", lang))
    formula = (
        say("ledger.tied", lang, path=row.tied) if row.tied and not row.tensors else f"{row.formula} = {row.numbers}"
    )
    return LedgerLine(level, row.name, label, formula, row.parameters, row.trained, row.buffers)


def _joined(rows: Sequence[ParameterRow]) -> str:
    return " + ".join(f"{row.parameters:,}" for row in rows)


def _sum(
    name: str,
    label: str,
    level: int,
    rows: Iterable[ParameterRow],
    formula: str = "",
    times: Callable[[str], int] = lambda path: 1,
) -> LedgerLine:
    """`times`: how often a row occurs, in identical layers."""
    summed = Total.of(rows, times)
    return LedgerLine(level, name, label, formula, summed.parameters, summed.trained, summed.buffers, is_sum=True)


def sums(in_symbols: InSymbols, rows: Mapping[str, ParameterRow]) -> list[dict[str, Any]]:
    """The sums that the table shows, by path: one layer, its boxes, all layers."""
    keys = ("name", "formula", "parameters", "trained", "buffers")
    return [{key: getattr(line, key) for key in keys} for line in lines(in_symbols, rows, None) if line.is_sum]


def share(part: int, whole: int) -> float:
    """A part as a share of the whole, from 0 to 1."""
    return part / whole if whole else 0.0


def _share(part: int, whole: int) -> str:
    return f"{100 * share(part, whole):.1f} %" if whole else ""


def table(model: str, in_symbols: InSymbols, rows: Mapping[str, ParameterRow], lang: str | None) -> Table:
    """Every part with its formula and its numbers, and the sum of all."""
    whole = _sum("", say("ledger.total", lang), 0, rows.values(), times=in_symbols.times)
    drawn = Table(
        Column(say("ledger.part", lang)),
        Column(say("ledger.formula", lang), drop=2),
        Column(say("ledger.parameters", lang), "size"),
        Column(say("ledger.trained", lang), "size", drop=3),
        Column(say("ledger.buffers", lang), "size", drop=3),
        Column(say("ledger.share", lang), "number", drop=1),
        title=model,
        lang=lang,
    )
    for line in lines(in_symbols, rows, lang):
        label, share = "  " * line.level + line.label, _share(line.parameters, whole.parameters)
        drawn.add(label, line.formula, line.parameters, line.trained, line.buffers, share, bold=line.is_sum)
    drawn.total(whole.label, "", whole.parameters, whole.trained, whole.buffers, "")
    return drawn


class CostLine(NamedTuple):
    """One line: a part or a sum, its formula, FLOPs forward and backward, bytes kept."""

    name: str  # its path
    label: str
    formula: str
    flops_forward: int
    flops_backward: int
    saved_bytes: int
    is_sum: bool = False


def cost_lines(in_symbols: InSymbols, costs: Mapping[str, Cost], lang: str | None) -> Iterator[CostLine]:
    """Parts in the order of the data; the layers of a stack, all identical, once with their number."""
    for stack, group in groupby(costs.values(), key=lambda cost: part_location(cost.part).stack):
        every = list(group)
        if not stack:
            yield from (CostLine(cost.part, cost.part, _formula(cost), *_amounts([cost])) for cost in every)
            continue
        one = [cost for cost in every if part_location(cost.part).layer == "0"]
        named, path, n = say(f"boxes.{stack}", lang), f"{stack}.blocks", len(in_symbols.layers[stack])
        title = say(f"ledger.{'single_layer' if n == 1 else 'one_layer'}", lang, stack=named, layers=n)
        yield CostLine(f"{path}.0", title, "", *_amounts(one), is_sum=True)
        for cost in one:
            yield CostLine(cost.part, "  " + part_location(cost.part).inside, _formula(cost), *_amounts([cost]))
        if n > 1:
            label = say("ledger.all_layers", lang, stack=named, layers=n)
            yield CostLine(path, label, "", *_amounts(every, in_symbols.times), is_sum=True)


def cost_sums(in_symbols: InSymbols, costs: Mapping[str, Cost]) -> list[dict[str, Any]]:
    """The sums that the table shows, by path: one layer, all layers."""
    keys = ("name", "flops_forward", "flops_backward", "saved_bytes")
    return [{key: getattr(line, key) for key in keys} for line in cost_lines(in_symbols, costs, None) if line.is_sum]


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


def costs_table(in_symbols: InSymbols, costs: Mapping[str, Cost], run: Pass, lang: str | None) -> Table:
    """The table of costs, shown under that of the parameters."""
    table = Table(
        Column(say("ledger.part", lang)),
        Column(say("ledger.formula", lang), drop=1),
        *(Column(say(f"ledger.{key}", lang), "size") for key in ("flops_forward", "flops_backward", "saved")),
        title=about(run, lang),
        lang=lang,
    )
    for line in cost_lines(in_symbols, costs, lang):
        amounts = (line.flops_forward, line.flops_backward, line.saved_bytes)
        table.add(line.label, line.formula, *amounts, bold=line.is_sum)
    table.total(say("ledger.total", lang), "", *_amounts(costs.values(), in_symbols.times))
    return table


def _amounts(costs: Iterable[Cost], times: Callable[[str], int] = lambda part: 1) -> tuple[int, int, int]:
    """FLOPs forward and backward, and bytes. `times`: how often a part occurs, in identical layers."""
    forward = backward = saved = 0
    for cost in costs:
        n = times(cost.part)
        forward, backward, saved = forward + n * cost.forward, backward + n * cost.backward, saved + n * cost.saved
    return forward, backward, saved


def _formula(cost: Cost) -> str:
    return cost.flops_formula if cost.products else cost.saved_formula


def memory_about(run: Pass, lang: str | None) -> str:
    """One line on the type, the kernel and the optimiser of the pass."""
    dtype = say("memory.autocast", lang, dtype=run.dtype) if run.autocast else run.dtype
    about = say(
        "memory.training" if run.training else "memory.decoding",
        lang,
        dtype=dtype,
        kernel=run.kernel,
        device=run.device,
        optimizer=run.optimizer,
    )
    return f"{about}; {say('memory.recompute', lang)}" if run.recompute else about


def memory_table(memory: MemoryUse, run: Pass, lang: str | None) -> Table:
    """What is alive at the peak, each with its formula, under the table of costs; the sum comes last."""
    table = Table(
        Column(say("memory.item", lang)),
        Column(say("ledger.formula", lang), drop=1),
        Column(say("memory.bytes", lang), "size"),
        title=memory_about(run, lang),
        lang=lang,
    )
    for held in memory.moments[memory.at]:
        if held.amount:
            table.add(say(f"memory.{held.name}", lang), f"{held.formula} = {held.numbers}", held.amount)
    at = say(f"memory.moments.{memory.at}", lang)
    table.total(say("memory.peak", lang, at=at), f"{memory.peak / 2**30:.2f} GiB", memory.peak)
    return table
