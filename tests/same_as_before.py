"""Nothing that a person sees has changed: dump what the commands say at one commit, compare at another.

    PYTHONPATH=src:tests python tests/same_as_before.py dump FOLDER        at the commit before
    PYTHONPATH=src:tests python tests/same_as_before.py compare FOLDER     at the commit after

Numbers, names and the order of rows must be equal; formulas must be equal as polynomials, or differ by a kind of
rewriting that `same_comparison.py` knows. All that is written otherwise is listed in FOLDER/PART.txt. A run that was
written before must go on bit for bit. `--only ledger costs` picks parts; EVERY=9 FIRST=2 takes every ninth pass of the
costs from the third on, so that several processes can share them.
At a commit that has not got this script, copy it, `same_commands.py` and `same_comparison.py` there.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import tiny_runs
from glassformer.errors import GlassformerError
from glassformer.ledger.costs import Pass, costs
from glassformer.ledger.memory import memory
from glassformer.ledger.parameters import count
from glassformer.models.build import build
from glassformer.models.presets import PRESETS
from grid import GRID
from measure import with_dropout
from same_commands import commands, helps, lessons, report, resumed
from same_comparison import Comparison, Difference, mended, unfold

EVERY, FIRST = int(os.environ.get("EVERY", "1")), int(os.environ.get("FIRST", "0"))  # of the passes
SIZES: dict[str, Any] = {"batch": 2, "length": 5, "target_length": 4}
DTYPES, KERNELS, DEVICES = ("float32", "bfloat16", "float64"), ("reference", "fused"), ("cpu", "cuda")
DECODING = {"training": False, "dtype": "bfloat16"}
PASSES: list[dict[str, Any]] = [
    *({"dtype": d, "kernel": k, "device": v} for d in DTYPES for k in KERNELS for v in DEVICES),
    *({"autocast": True, "kernel": k, "device": v} for k in KERNELS for v in DEVICES),
    {"recompute": True, "kernel": "reference"},
    {"recompute": True, "device": "cuda", "dtype": "bfloat16"},
    {"recompute": True, "device": "cuda", "autocast": True},
    {"causal": "triangle"},
    {"causal": "triangle", "kernel": "reference", "recompute": True},
    {"dtype": "float16"},
    *(DECODING | {"past": p, "kernel": k, "target_length": t} for p in (0, 3) for k in KERNELS for t in (1, 4)),
    {"training": False, "past": 6, "length": 1, "target_length": 1},
    {"training": False, "past": 0, "length": 1, "target_length": 1},
]  # fmt: skip


def models() -> Iterator[tuple[str, Any]]:
    yield from ((name, make()) for name, make in PRESETS.items())
    yield from ((f"grid {i}", config) for i, config in enumerate(GRID))


# --- what is dumped ---


def ledger() -> dict[str, Any]:
    return {name: count(name, config).to_json() for name, config in models()}


def passes() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Every model in every pass, under a name."""
    for name, config in models():
        rates = (0.0, 0.1) if name.startswith("grid") else (None,)
        for rate, (number, options) in product(rates, enumerate(PASSES)):
            changed = config if rate is None else with_dropout(config, rate)
            yield f"{name} dropout {rate} pass {number}", changed, options


def cost_tables() -> dict[str, Any]:
    """By model and pass: each part with its FLOPs and bytes, by formula; and the memory of the pass."""
    found = {}
    for name, config, options in list(passes())[FIRST::EVERY]:
        try:
            found[name] = one_pass(config, Pass(**SIZES | options))
        except GlassformerError as error:
            found[name] = {"refused": str(error)}
    return found


def one_pass(config: Any, run: Pass) -> dict[str, Any]:
    table, every = {}, costs(config, run)
    seen: dict[str, str] = {}
    for part, cost in every.items():
        row = cost.to_json() | {
            "again": sum(entry.amount for entry in vars(cost).get("recomputed", vars(cost).get("again"))),  # as before
            "cached": sum(entry.amount for entry in cost.cached) if not run.training else 0,
        }
        text = json.dumps(row)
        alike = seen.setdefault(re.sub(r"\d+", "N", part) + text, part)  # layers that are alike are stored once
        table[part] = row if alike == part else {"as": alike}
    whole = memory(config, run)
    return {"parts": table, "peak": [whole.at, whole.peak], "moments": whole.to_json()["moments"]}


def keys() -> dict[str, Any]:
    return {name: {key: list(x.shape) for key, x in build(config, device="meta").state_dict().items()}
            for name, config in models()}  # fmt: skip


PARTS: dict[str, Callable[[], Any]] = {
    "ledger": ledger,
    "keys": keys,
    "help": helps,
    "commands": commands,
    "lessons": lessons,
    "report": report,
    "costs": cost_tables,
}


# --- how it is compared ---


def twins() -> dict[str, str]:
    """Who sees everything at once has no past: such a pass must cost what the same pass without a past costs."""
    known = list(passes())
    plain = {(name.partition(" pass ")[0], json.dumps(run | {"past": 0}, sort_keys=True)): name
             for name, _, run in known if run.get("past") == 0}  # fmt: skip
    return {
        name: plain[name.partition(" pass ")[0], json.dumps(run | {"past": 0}, sort_keys=True)]
        for name, config, run in known
        if run.get("past") and (config.family == "encoder" or not config.causal)
    }


def compare(folder: Path, part: str, now: Any) -> list[Difference]:
    before = json.loads(gzip.decompress(file_of(folder, part).read_bytes()))
    reasons, beside = Counter[str](), Comparison()
    if part == "costs":
        before, now, plain = unfold(before), unfold(now), twins()
        before = {name: before[plain.get(name, name)] for name in now}
    found = list(beside.differences(before, now, part))
    if part == "costs":
        found, reasons = mended(found, {name: (config, run) for name, config, run in passes()})
    listed = folder / f"{part}.txt"
    lines = [f"{len(found)} differences", *(f"  {path}: {text}" for path, text in found)]
    lines += ["mended", *(f"  {n:6} × {reason}" for reason, n in reasons.items())]
    lines += ["other symbols", *(f"  {n:6} × {kind}: {a} → {b}" for (kind, a, b), n in beside.renamed.most_common())]
    lines += ["written otherwise", *(f"  {n:6} × {a} → {b}" for (a, b), n in beside.rewritten.most_common())]
    lines += ["moved", *(f"  {n:6} × {a} → {b}" for (a, b), n in beside.moved.most_common())]
    listed.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.write(
        f"{part}: {len(now)} compared, {len(found)} differences, {sum(reasons.values())} mended, {len(beside.renamed)} "
        f"formulas with other symbols, {len(beside.rewritten)} written otherwise, {len(beside.moved)} files moved: "
        f"all in {listed}\n"
    )
    return found


def file_of(folder: Path, part: str) -> Path:
    return folder / f"{part}.json.gz"


def main() -> int:
    reader = argparse.ArgumentParser()
    reader.add_argument("what", choices=("dump", "compare"))
    reader.add_argument("folder", type=Path)
    reader.add_argument("--only", nargs="*", default=list(PARTS))
    given = reader.parse_args()
    os.environ["GLASSFORMER_LANG"], os.environ["COLUMNS"] = "en", "100"
    given.folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for part in given.only:
        now = json.loads(json.dumps(PARTS[part]()))
        if given.what == "dump":
            file_of(given.folder, part).write_bytes(gzip.compress(json.dumps(now).encode()))
            sys.stdout.write(f"{part}: {len(now)} dumped\n")
        else:
            wrong += len(compare(given.folder, part, now))
        sys.stdout.flush()
    if "commands" in given.only:
        for kind in tiny_runs.KINDS:
            wrong += keep(given.folder, kind) if given.what == "dump" else resumed_old(given.folder, kind)
    return 1 if wrong else 0


def keep(folder: Path, kind: str) -> bool:
    """The run as it is written now, for `resumed_old` at the commit after."""
    shutil.rmtree(folder / "runs" / kind, ignore_errors=True)
    return not tiny_runs.trained(kind, folder / "runs").exists()


def resumed_old(folder: Path, kind: str) -> bool:
    """A run folder that was written before goes on as it did then."""
    then = json.loads(gzip.decompress(file_of(folder, "commands").read_bytes()))[f"resumed {kind}"]
    with tempfile.TemporaryDirectory() as home:
        now = resumed(Path(shutil.copytree(folder / "runs" / kind, Path(home) / kind)))
    same = bool(then) and then == now
    sys.stdout.write(f"resume {kind}: {len(now)} files, {'bit for bit' if same else 'NOT THE SAME'}\n")
    return not same


if __name__ == "__main__":
    sys.exit(main())
