"""How the memory of a step looks: what is alive at its peak, each with its formula."""

from __future__ import annotations

from glassformer.ledger.costs import Pass
from glassformer.ledger.memory import MemoryUse
from glassformer.show import Column, Table
from glassformer.words import say


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
