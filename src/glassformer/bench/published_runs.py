"""Published training runs: tokens/s and memory as their reports state them, and as `plan` computes them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from glassformer.ledger.devices import DEVICES
from glassformer.ledger.job import Job
from glassformer.ledger.plan import Plan, plan
from glassformer.loading import open_config
from glassformer.models.presets import PRESETS
from glassformer.words import say

_TITAN = "https://github.com/pytorch/torchtitan/blob/"
_H100 = f"{_TITAN}31a17bfdb70bab6f62a13d21816a5339b911d6e3/benchmarks/llama3_h100_202412_torchtitan.md"
_A100 = f"{_TITAN}041336434916bdc0f88c1f89fda176fd3c2092e4/docs/performance.md"
_KEMPNER = (
    "https://github.com/KempnerInstitute/KempnerForge/blob/9f3f03a070668192230c7c542a3ecebb22d9a20c/"
    "benchmarks/mfu_scaling/mfu_scaling_2026-04-05.md"
)
_PAPER = "https://arxiv.org/abs/1706.03762v7"
_LLAMA2 = "https://arxiv.org/abs/2307.09288v2"
_TINY = "https://github.com/jzhang38/TinyLlama/blob/026587c0fbc5cf756eba92e0220566550df66ca7/README.md"


@dataclass(frozen=True, kw_only=True)
class PublishedRun:
    """What a report states. `changes` turns the preset into the report's model."""

    name: str
    compiled: bool | None = None  # set where the report has both
    preset: str = "llama3-8b"
    changes: dict[str, Any] = field(default_factory=dict)
    device: str
    job: Job
    rate: float  # tokens/s per device
    mfu: float | None = None
    gib: float | None = None  # peak memory per device
    source: str


_SELECTIVE = Job(length=8192, checkpointing="selective", loss="whole")  # none of these computes its loss in chunks
# Batches as in its mfu_bench.sh; bfloat16 weights and states, full float32 gradients as in its train.py, grad.py.
_FULL = Job(length=4096, checkpointing="full", precision="pure", no_sync=True, loss="whole")
_13B = {"d_model": 5120, "n_heads": 40, "n_decoder_layers": 40, "d_ff": 17920}
_1B = {"d_model": 2048, "n_heads": 32, "n_kv_heads": 4, "n_decoder_layers": 22, "d_ff": 5632}


def _titan(devices: int, compiled: bool, rate: float, mfu: float, gib: float) -> PublishedRun:
    job, name = replace(_SELECTIVE, devices=devices, batch=2), f"torchtitan, Llama 3.1 8B, {devices} × H100"
    return PublishedRun(name=name, compiled=compiled, device="h100", job=job, rate=rate, mfu=mfu, gib=gib, source=_H100)


def _kempner(devices: int, batch: int, accumulate: int, total: float, mfu: float, gib: float) -> PublishedRun:
    job = replace(_FULL, devices=devices, batch=batch, accumulate=accumulate)
    size, changes = ("13B", _13B) if devices == 8 else ("8B", {})
    return PublishedRun(
        name=f"KempnerForge, Llama 3 {size}, {devices} × H200",
        changes=changes,
        device="h200",
        job=job,
        rate=total / devices,
        mfu=mfu,
        gib=gib,
        source=_KEMPNER,
    )


def _paper(preset: str, seconds: float) -> PublishedRun:
    """§5.1, §5.2: about 25,000 source and 25,000 target tokens a step on 8 P100, which took 0.4 or 1.0 seconds.

    As 98 sentences of 32 tokens on each device; float32, as was the custom: the paper counts the single-precision
    rate of its devices.
    """
    job = Job(devices=8, parallel="ddp", batch=98, length=32, dtype="float32", optimizer="adam", loss="whole")
    name, rate = f"Vaswani et al. 2017, {preset}, 8 × P100", 50_000 / seconds / 8
    return PublishedRun(name=name, preset=preset, device="p100", job=job, rate=rate, source=_PAPER)


def runs() -> list[PublishedRun]:
    """Every run with what its report states."""
    return [
        _paper("paper-base", 0.4),
        _paper("paper-big", 1.0),
        _titan(8, False, 5762, 0.33, 82.4),
        _titan(8, True, 6667, 0.39, 77.0),
        _titan(128, False, 5605, 0.33, 67.0),
        _titan(128, True, 6514, 0.39, 62.0),
        _kempner(1, 2, 4, 10471, 0.578, 80.7),
        _kempner(2, 2, 4, 18728, 0.517, 62.4),
        _kempner(4, 4, 2, 38983, 0.538, 61.1),
        _kempner(8, 4, 4, 35405, 0.444, 88.5),
        PublishedRun(
            name="torchtitan, Llama 3 8B, 64 × A100",
            device="a100-80",
            job=replace(_SELECTIVE, devices=64),
            rate=2973,
            mfu=0.582,
            source=_A100,
        ),
        PublishedRun(
            name="torchtitan, Llama 3 70B, 64 × A100",
            preset="llama3-70b",
            device="a100-80",
            job=Job(devices=64, length=8192, checkpointing="full", loss="whole"),
            rate=331,
            mfu=0.517,
            source=_A100,
        ),
        # Table 2: 184,320 hours of a device for 2T tokens, 4M in a step; on how many devices is not stated
        PublishedRun(
            name="Llama 2 7B, A100",
            preset="llama2-7b",
            device="a100-80",
            job=Job(devices=256, batch=4, length=4096, loss="whole", checkpointing="selective"),
            rate=2e12 / 184_320 / 3600,
            source=_LLAMA2,
        ),
        PublishedRun(
            name="TinyLlama 1.1B, 16 × A100",
            preset="llama2-7b",
            changes=_1B,
            device="a100-40",
            job=Job(devices=16, batch=8, length=2048, loss="whole"),
            rate=24_000,
            mfu=0.56,
            source=_TINY,
        ),
    ]


def _planned(run: PublishedRun, mfu: float | None) -> Plan:
    config = open_config(PRESETS[run.preset](), overrides=run.changes)
    return plan(run.preset, config, tokens=10**9, device=DEVICES[run.device], job=run.job, mfu=mfu)


def run() -> dict[str, Any]:
    """Each run at the utilisation its report states, counted in two ways, and at the default utilisation."""
    rows = []
    for each in runs():
        stated, default = _planned(each, each.mfu), _planned(each, None)
        counted = stated.flops["exact"] / stated.flops["six_n_attention"]
        rows.append(
            {
                **{key: value for key, value in asdict(each).items() if key != "job"},
                "job": {key: value for key, value in asdict(each.job).items() if value is not None},
                "parameters": stated.work.parameters,
                "rate_exact": None if each.mfu is None else round(stated.rate, 1),
                "rate_common": None if each.mfu is None else round(stated.rate * counted, 1),
                "rate_default": round(default.rate, 1),
                "gib_computed": round(stated.memory_bytes / 2**30, 2),
            }
        )
    return {"rows": rows}


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Rows of text for the docs: stated, computed, error."""

    def computed(value: float | None, stated: float, form: str) -> str:
        return "–" if value is None else f"{value:{form}} ({100 * (value / stated - 1):+.1f} %)"

    keys = ("run", "rate", "mfu", "exact", "common", "memory", "computed", "default", "source")
    lines = [[say(f"columns.runs.{key}", lang) for key in keys]]
    for row in numbers["rows"]:
        compiled, gib = row["compiled"], row["gib"]
        mode = say("bench.compiled" if compiled else "bench.eager", lang)
        name = row["name"] if compiled is None else f"{row['name']}, {mode}"
        lines.append(
            [
                name,
                f"{row['rate']:,.0f}",
                say("columns.runs.nobody", lang) if row["mfu"] is None else f"{100 * row['mfu']:.1f} %",
                computed(row["rate_exact"], row["rate"], ",.0f"),
                computed(row["rate_common"], row["rate"], ",.0f"),
                say("columns.runs.nobody", lang) if gib is None else f"{gib:.1f}",
                f"{row['gib_computed']:.1f}" if gib is None else computed(row["gib_computed"], gib, ".1f"),
                computed(row["rate_default"], row["rate"], ",.0f"),
                f"[{_title(row['source'])}]({row['source']})",
            ]
        )
    return lines


def _title(source: str) -> str:
    """The repository of an address, or the number of a paper."""
    parts = source.split("/")
    return parts[4] if parts[2] == "github.com" else "arXiv " + parts[-1]
