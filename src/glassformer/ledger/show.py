"""How the ledger looks: a line for each part, the layers of a stack once, sums in bold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from glassformer.ledger.row import ParameterRow, Total
from glassformer.models.in_symbols import InSymbols
from glassformer.show import Column, Table
from glassformer.words import say


class PartLocation(NamedTuple):
    """Where a part of a block stands: in which stack and layer, and its path inside the block."""

    stack: str
    layer: str
    inside: str


def place(path: str) -> PartLocation:
    """The place of a part by its path; a part outside of the blocks has no stack."""
    stack, _, inside = path.partition(".blocks.")
    layer, _, inside = inside.partition(".")
    return PartLocation(stack, layer, inside) if inside else PartLocation("", "", path)


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


def lines(found: InSymbols, rows: Mapping[str, ParameterRow], lang: str | None) -> Iterator[LedgerLine]:
    """Rows in order; the layers of a stack, all alike, are shown once with their number."""
    for stack, group in groupby(rows.values(), key=lambda row: place(row.name).stack):
        if not stack:
            yield from (_line(row, 0, lang) for row in group)
            continue
        every, layers = list(group), len(found.layers[stack])
        one = [row for row in every if place(row.name).layer == "0"]
        title = "single_layer" if layers == 1 else "one_layer"
        stack_name, path = say(f"boxes.{stack}", lang), f"{stack}.blocks"
        yield _sum(f"{path}.0", say(f"ledger.{title}", lang, stack=stack_name, layers=layers), 0, one)
        for box, inside in groupby(one, key=lambda row: place(row.name).inside.partition(".")[0]):
            rows_of_box = list(inside)
            yield from (_line(row, 1, lang) for row in rows_of_box)
            if len(rows_of_box) > 1:
                yield _sum(f"{path}.0.{box}", say(f"boxes.{box}", lang), 1, rows_of_box, _joined(rows_of_box))
        if layers > 1:
            label = say("ledger.all_layers", lang, stack=stack_name, layers=layers)
            formula = f"{layers}×{sum(row.parameters for row in one):,}"
            yield _sum(path, label, 0, every, formula, found.times)


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
    """`times`: how often a row is there, in layers that are alike."""
    summed = Total.of(rows, times)
    return LedgerLine(level, name, label, formula, summed.parameters, summed.trained, summed.buffers, is_sum=True)


def sums(found: InSymbols, rows: Mapping[str, ParameterRow]) -> list[dict[str, Any]]:
    """The sums that the table shows, by path: one layer, its boxes, all layers."""
    keys = ("name", "formula", "parameters", "trained", "buffers")
    return [{key: getattr(line, key) for key in keys} for line in lines(found, rows, None) if line.is_sum]


def share(part: int, whole: int) -> float:
    """Of all parameters, from 0 to 1."""
    return part / whole if whole else 0.0


def _share(part: int, whole: int) -> str:
    return f"{100 * share(part, whole):.1f} %" if whole else ""


def table(model: str, found: InSymbols, rows: Mapping[str, ParameterRow], lang: str | None) -> Table:
    """Every part with its formula and its numbers, and the sum of all."""
    whole = _sum("", say("ledger.total", lang), 0, rows.values(), times=found.times)
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
    for line in lines(found, rows, lang):
        label, share = "  " * line.level + line.label, _share(line.parameters, whole.parameters)
        drawn.add(label, line.formula, line.parameters, line.trained, line.buffers, share, bold=line.is_sum)
    drawn.total(whole.label, "", whole.parameters, whole.trained, whole.buffers, "")
    return drawn
