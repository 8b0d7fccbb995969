"""How the memory of a step looks: what is alive at its peak, each with its formula."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glassformer.ledger.costs import Pass
from glassformer.ledger.memory import Memory
from glassformer.words import say


def memory_lines(memory: Memory, lang: str | None) -> list[tuple[str, str, str]]:
    """What is alive at the peak: its name, its formula, its bytes; the sum comes last."""
    lines = [
        (say(f"memory.{held.name}", lang), f"{held.formula} = {held.numbers}", f"{held.amount:,}")
        for held in memory.moments[memory.at]
        if held.amount
    ]
    at = say(f"memory.moments.{memory.at}", lang)
    return [*lines, (say("memory.peak", lang, at=at), f"{memory.peak / 2**30:.2f} GiB", f"{memory.peak:,}")]


def memory_about(run: Pass, lang: str | None) -> str:
    """One line on whose memory it is."""
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


def memory_table(memory: Memory, run: Pass, lang: str | None) -> RenderableType:
    """For a terminal, under the table of costs."""
    table = Table(header_style="bold")
    for title in ("item", "formula", "bytes"):
        name = say("ledger.formula", lang) if title == "formula" else say(f"memory.{title}", lang)
        table.add_column(name, justify="right" if title == "bytes" else "left", overflow="fold")
    *lines, last = memory_lines(memory, lang)
    for name, formula, amount in lines:
        table.add_row(name, Text(formula), amount)
    table.add_section()
    table.add_row(*(Text(cell, style="bold") for cell in last))
    return Group(memory_about(run, lang), table)
