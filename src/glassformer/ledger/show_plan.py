"""How a plan looks in a terminal: the answer first, then where it comes from, then what was assumed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from glassformer.ledger.amounts import short_amount
from glassformer.ledger.devices import MEASURED
from glassformer.ledger.job import sample_lengths
from glassformer.ledger.network import ACROSS, REACHED, WITHIN
from glassformer.show import Column, ColumnKind, Sheet, Styled, Table
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.ledger.plan import Plan

GRAPH = 30  # characters of the longest bar


def whole(plan: Plan, lang: str | None) -> Sheet:
    """Everything, in the order in which people ask."""
    return Sheet(*(part for make in PLAN_PARTS.values() for part in make(plan, lang)))


def gib(size: float) -> str:
    return f"{size / 2**30:,.2f}"


def duration(seconds: float, lang: str | None) -> str:
    """A duration in the largest unit that gives a number of at least 1."""
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1)):
        if seconds >= size:
            return say(f"plan.{unit}", lang, n=f"{seconds / size:,.1f}")
    return say("plan.milliseconds", lang, n=f"{1000 * seconds:,.1f}")


def _verdict(plan: Plan, lang: str | None) -> list[str]:
    job = plan.job
    title = say(
        "plan.title",
        lang,
        model=plan.model,
        parameters=f"{plan.work.parameters:,}",
        tokens=short_amount(plan.tokens),
        devices=f"{job.devices:,}",
        device=plan.device.name,
        parallel=job.parallel,
        dtype=job.dtype,
        precision=job.precision,
    )
    needed, available = gib(plan.memory_bytes), gib(plan.device.memory)
    if plan.fits:
        return [title, say("plan.fits", lang, needed=needed, available=available)]
    lines = [title, say("plan.fits_not", lang, needed=needed, available=available)]
    if plan.remedies:
        return [*lines, say("plan.would_fit", lang, ways=", ".join(plan.remedies))]
    return [*lines, say("plan.would_not_fit", lang)]


def _answer(plan: Plan, lang: str | None) -> Table:
    table = Table(Column(), Column("", "number"), title=say("plan.answer", lang), lang=lang)
    rows = {
        "time": duration(plan.seconds, lang),
        "rate": f"{plan.rate:,.0f}",
        "all_rate": f"{plan.rate * plan.job.devices:,.0f}",
        "mfu": f"{100 * plan.reached_mfu:.1f} %",
        "limit": say(f"plan.limits.{plan.limit}", lang),
        "steps": f"{plan.steps:,}",
        "step_tokens": f"{plan.step_tokens:,}",
        "step": duration(plan.step, lang),
        "hours": f"{plan.device_hours:,.{1 if plan.device_hours < 10 else 0}f}",
    }
    if plan.cost is not None:
        rows["cost"] = f"{plan.cost:,.0f}"
    for name, value in rows.items():
        table.add(say(f"plan.rows.{name}", lang), value)
    return table


def _table(title: str, lang: str | None, *columns: tuple[str, ColumnKind, int], **said: object) -> Table:
    """Columns by name, kind and the order in which they may be dropped."""
    drawn = (Column(say(f"plan.columns.{name}", lang), kind, drop) for name, kind, drop in columns)
    return Table(*drawn, title=say(f"plan.titles.{title}", lang, **said), lang=lang)


def _memory(plan: Plan, lang: str | None) -> Table:
    table = _table("memory", lang, ("item", "text", 0), ("formula", "text", 1), ("memory", "number", 0))
    for item in plan.memory:
        formula = item.formula if item.counted else f"{item.formula} ({say('plan.not_at_once', lang)})"
        table.add(say(f"plan.items.{item.name}", lang), formula, gib(item.bytes))
    table.total(say("plan.items.sum", lang), "", gib(plan.memory_bytes))
    return table


def _step(plan: Plan, lang: str | None) -> Table:
    table = _table("step", lang, ("resource", "text", 0), ("how", "text", 0), ("time", "number", 0))
    flops, peak = {name: f"{count:.3g}" for name, count in plan.step_flops.items()}, f"{plan.peak_flops / 1e12:,.4g}"
    if plan.mfu is not None:
        compute = say("plan.how.compute_mfu", lang, flops=flops["model"], peak=peak, share=plan.mfu)
    else:
        values = {"flops": flops["all"], "again": flops["again"], "peak": peak}
        compute = say("plan.how.compute", lang, **values, share=plan.utilisation)
    how = {
        "compute": compute,
        "bandwidth": say("plan.how.bandwidth", lang, rate=f"{plan.device.bandwidth / 1e9:,.0f}"),
        "network": _network(plan, lang),
    }
    for name, seconds in plan.limits.items():
        table.add(say(f"plan.limits.{name}", lang), how[name], duration(seconds, lang))
    return table


def _network(plan: Plan, lang: str | None) -> str:
    if plan.job.devices == 1:
        return say("plan.how.network_one", lang)
    rate = f"{plan.network_rate / 1e9:,.0f}"
    sent = say(f"plan.how.network_{plan.job.parallel}", lang, size=f"{plan.traffic.bytes / 1e9:,.1f}", rate=rate)
    if plan.mfu is not None:  # an MFU says nothing about overlap
        return sent
    return f"{sent}; {say('plan.how.network_exposed', lang, time=duration(plan.exposed, lang))}"


def _flops(plan: Plan, lang: str | None) -> Table:
    table = _table("flops", lang, ("item", "text", 0), ("count", "size", 0), ("ratio", "number", 0))
    names = {name: name for name in plan.flops}
    if plan.job.causal == "triangle":
        names["exact"] = "exact_triangle"
    for name, value in plan.flops.items():
        if value:
            ratio = f"{100 * value / plan.flops['exact']:.1f} %"
            table.add(say(f"plan.flops.{names[name]}", lang), round(value), ratio)
    return table


def _chinchilla(plan: Plan, lang: str | None) -> str:
    found = plan.chinchilla
    return say(
        "plan.chinchilla",
        lang,
        wanted=short_amount(found["tokens_for_this_model"]),
        size=short_amount(found["parameters_for_this_compute"]),
        tokens=short_amount(found["tokens_for_this_compute"]),
    )


def _scales(plan: Plan, lang: str | None) -> Table:
    """One line for each number of devices and way to share the work: what each resource alone would take."""
    device = plan.device
    stated = {"node": device.node, "link": f"{device.link / 1e9:,.4g}", "network": f"{device.network / 1e9:,.4g}"}
    table = _table(
        "scales",
        lang,
        ("devices", "number", 0),
        ("parallel", "name", 0),
        ("fits", "name", 0),
        ("memory", "number", 0),
        ("compute", "number", 3),
        ("bandwidth", "number", 3),
        ("network", "number", 3),
        ("waited", "number", 1),
        ("step", "number", 4),
        ("rate", "number", 2),
        ("all", "number", 0),
        ("limit", "name", 0),
        **stated,
    )
    for each in plan.scales:
        one = each.job.devices == 1
        seconds = (*each.limits.values(), each.exposed, each.step)
        table.add(
            f"{each.job.devices:,}",
            "–" if one else each.job.parallel,
            say("plan.yes" if each.fits else "plan.no", lang),
            gib(each.memory_bytes),
            *(duration(time, lang) if time else "–" for time in seconds),
            short_amount(each.rate * each.job.devices),
            duration(each.seconds, lang),
            say(f"plan.limits.{each.limit}", lang),
        )
    return table


def _curve(plan: Plan, lang: str | None) -> Table:
    """One line for each number of devices; a full bar is the speed of one device, times their number."""
    table = _table(
        "curve",
        lang,
        ("devices", "number", 0),
        ("fits", "name", 0),
        ("memory", "number", 0),
        ("time", "number", 0),
        ("rate", "number", 0),
        ("mfu", "number", 0),
        ("limit", "name", 2),
        ("batch", "number", 2),
        ("graph", "name", 1),
    )
    alone = plan.curve[0].rate
    for each in plan.curve:
        bar = "█" * max(1, round(GRAPH * each.rate / alone))
        table.add(
            f"{each.job.devices:,}",
            say("plan.yes" if each.fits else "plan.no", lang),
            gib(each.memory_bytes),
            duration(each.seconds, lang),
            short_amount(each.rate * each.job.devices),
            f"{100 * each.reached_mfu:.1f} %",
            say(f"plan.limits.{each.limit}", lang),
            short_amount(each.step_tokens),
            bar[:GRAPH],
        )
    return table


def _list(title: str, lines: list[str], lang: str | None) -> list[str | Styled]:
    return [Styled(say(f"plan.{title}", lang), "bold"), *(f"- {line}" for line in lines)]


def _assumptions(plan: Plan, lang: str | None) -> list[str]:
    job, device = plan.job, plan.device
    lines = [_speed(plan, lang)]
    source, _ = sample_lengths(plan.config, job)
    kept = {"batch": job.batch, "length": source, "accumulate": job.accumulate}
    lines.append(
        say("plan.assumes.job", lang, **kept, optimizer=job.optimizer, checkpointing=job.checkpointing),
    )
    sheet = "measured" if device.name == MEASURED else "sheet"
    lines.append(say(f"plan.assumes.{sheet}", lang, device=device.name, source=device.sheet))
    lines.append(_system(plan, lang))
    lines.append(say("plan.assumes.fused", lang, dtype=job.dtype))
    if plan.work.chunks is not None:
        lines.append(say("plan.assumes.chunks", lang, rows=f"{plan.work.chunks.values['rows']:,}"))
    elif plan.work.logits:
        lines.append(say("plan.assumes.loss", lang, width=job.state_width))
    hops = {"within": f"{1e6 * WITHIN:.1f}", "across": f"{1e6 * ACROSS:.0f}"}
    lines.append(say("plan.assumes.overlap", lang, share=REACHED, **hops))
    if job.devices > 1:
        lines.append(say("plan.assumes.gathered" if job.parallel == "fsdp" else "plan.assumes.buckets", lang))
        if job.no_sync and job.accumulate > 1 and job.shards > 1:
            lines.append(say("plan.assumes.whole_gradients", lang))
    if plan.config.family == "encoder-decoder":
        lines.append(say("plan.assumes.tokens", lang))
    return lines


def _speed(plan: Plan, lang: str | None) -> str:
    """The share of the peak: stated, given, recorded or assumed."""
    if plan.mfu is not None:
        return say("plan.assumes.mfu", lang, share=plan.mfu)
    if plan.reached is None:
        return say("plan.assumes.utilisation", lang, share=plan.utilisation)
    step = plan.reached.step
    machine = step.accelerator or say("plan.assumes.cpu", lang)
    return say(
        "plan.assumes.reached", lang, share=plan.utilisation, bench=step.bench, model=step.model, machine=machine
    )


def _system(plan: Plan, lang: str | None) -> str:
    device = plan.device
    numbers = {
        "node": device.node,
        "link": f"{device.link / 1e9:,.4g}",
        "network": f"{device.network / 1e9:,.4g}",
        "bits": f"{8 * device.network / 1e9:,.4g}",
    }
    if device.system:
        return say("plan.assumes.system", lang, **numbers, source=device.system)
    return say("plan.assumes.system_assumed", lang, **numbers)


def _unknowns(plan: Plan, lang: str | None) -> list[str]:
    names = ("kernels", "data", "fragments", "failures", "topology")
    lines = [say(f"plan.unknowns.{name}", lang) for name in names]
    return [*lines, say("plan.unknowns.learning", lang, tokens=short_amount(plan.step_tokens))]


# The parts of a plan by name: a document may show some of them.
PLAN_PARTS: dict[str, Callable[[Plan, str | None], Sequence[str | Styled | Table]]] = {
    "verdict": _verdict,
    "answer": lambda plan, lang: [_answer(plan, lang)],
    "memory": lambda plan, lang: [_memory(plan, lang)],
    "step": lambda plan, lang: [_step(plan, lang)],
    "flops": lambda plan, lang: [_flops(plan, lang)],
    "chinchilla": lambda plan, lang: [_chinchilla(plan, lang)],
    "scales": lambda plan, lang: [_scales(plan, lang)],
    "curve": lambda plan, lang: [_curve(plan, lang)],
    "assumptions": lambda plan, lang: _list("assumptions", _assumptions(plan, lang), lang),
    "unknowns": lambda plan, lang: _list("unknown", _unknowns(plan, lang), lang),
}
