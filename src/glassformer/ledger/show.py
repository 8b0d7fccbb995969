"""How the ledger looks: a line for each part, the layers of a stack once, sums in bold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from glassformer.ledger.row import ParameterRow
from glassformer.show import Column, Table
from glassformer.words import say

_BLOCK = re.compile(r"^(.*)\.blocks\.(\d+)\.(.+)$")


class PartLocation(NamedTuple):
    """Where a part of a block stands: in which stack and layer, and its path inside the block."""

    stack: str
    layer: str
    inside: str


def place(path: str) -> PartLocation:
    """The place of a part by its path; a part outside of the blocks has no stack."""
    found = _BLOCK.match(path)
    return PartLocation(*found.groups()) if found else PartLocation("", "", path)


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


def lines(rows: Sequence[ParameterRow], lang: str | None) -> Iterator[LedgerLine]:
    """Rows in order; the layers of a stack, all alike, are shown once with their number."""
    for stack, group in groupby(rows, key=lambda row: place(row.name).stack):
        if not stack:
            yield from (_line(row, 0, lang) for row in group)
            continue
        layers = [list(rows) for _, rows in groupby(group, key=lambda row: place(row.name).layer)]
        one = layers[0]
        title = "single_layer" if len(layers) == 1 else "one_layer"
        stack_name, path = say(f"boxes.{stack}", lang), f"{stack}.blocks"
        yield _sum(f"{path}.0", say(f"ledger.{title}", lang, stack=stack_name, layers=len(layers)), 0, one)
        for box, inside in groupby(one, key=lambda row: place(row.name).inside.partition(".")[0]):
            rows_of_box = list(inside)
            yield from (_line(row, 1, lang) for row in rows_of_box)
            if len(rows_of_box) > 1:
                yield _sum(f"{path}.0.{box}", say(f"boxes.{box}", lang), 1, rows_of_box, _joined(rows_of_box))
        if len(layers) > 1:
            every = [row for layer in layers for row in layer]
            formula = f"{len(layers)}×{sum(row.parameters for row in one):,}"
            yield _sum(path, say("ledger.all_layers", lang, stack=stack_name, layers=len(layers)), 0, every, formula)


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


def _sum(name: str, label: str, level: int, rows: Sequence[ParameterRow], formula: str = "") -> LedgerLine:
    parameters = sum(row.parameters for row in rows)
    trained = sum(row.trained for row in rows)
    return LedgerLine(level, name, label, formula, parameters, trained, sum(row.buffers for row in rows), is_sum=True)


def sums(rows: Sequence[ParameterRow]) -> list[dict[str, Any]]:
    """The sums that the table shows, by path: one layer, its boxes, all layers."""
    keys = ("name", "formula", "parameters", "trained", "buffers")
    return [{key: getattr(line, key) for key in keys} for line in lines(rows, None) if line.is_sum]


def share(part: int, whole: int) -> float:
    """Of all parameters, from 0 to 1."""
    return part / whole if whole else 0.0


def _share(part: int, whole: int) -> str:
    return f"{100 * share(part, whole):.1f} %" if whole else ""


def table(model: str, rows: Sequence[ParameterRow], lang: str | None) -> Table:
    """Every part with its formula and its numbers, and the sum of all."""
    whole = _sum("", say("ledger.total", lang), 0, rows)
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
    for line in lines(rows, lang):
        label, share = "  " * line.level + line.label, _share(line.parameters, whole.parameters)
        drawn.add(label, line.formula, line.parameters, line.trained, line.buffers, share, bold=line.is_sum)
    drawn.total(whole.label, "", whole.parameters, whole.trained, whole.buffers, "")
    return drawn
