"""Nothing that a person sees has changed: dump what the commands say at one commit, compare at another.

    PYTHONPATH=src:tests python tests/same_as_before.py dump FOLDER        at the commit before
    PYTHONPATH=src:tests python tests/same_as_before.py compare FOLDER     at the commit after

Numbers, names and the order of rows must be equal; formulas must be equal as polynomials, and each that is written
otherwise is listed. A run that was written before must go on bit for bit. `--only ledger costs` picks parts.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import tiny_runs
from glassformer.config.model import ModelConfig
from glassformer.errors import GlassformerError
from glassformer.ledger.costs import Pass, costs
from glassformer.ledger.memory import memory
from glassformer.ledger.parameters import count
from glassformer.models.build import build
from glassformer.models.presets import PRESETS
from grid import GRID
from measure import with_dropout

EVERY = int(os.environ.get("EVERY", "1"))  # of the passes, to be quick
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
]  # fmt: skip
COMMANDS = [
    ("presets",),
    ("recipes",),
    ("lessons",),
    ("data",),
    *(("count", name, "--length", "16") for name in ("paper-base", "gpt2", "llama3-8b", "vit-b16")),
    ("count", "gpt2", "--decode", "--past", "10"),
    ("plan", "gpt2", "--tokens", "300B", "--device", "h100", "--devices", "8"),
    ("plan", "paper-base", "--tokens", "300M", "--device", "a100-80", "--parallel", "ddp", "--batch", "8"),
    ("plan", "llama3-405b", "--tokens", "15T", "--device", "h100", "--devices", "4096", "--checkpointing", "full"),
    ("plan", "llama3-8b", "--tokens", "1T", "--device", "h200", "--devices", "64", "--checkpointing", "selective"),
    ("trace", "mini-classifier", "나는 학교에 간다"),
    ("trace", "paper-base", "나는 간다", "--target", "I go", "--set", "d_model=32", "--set", "vocab_size=40"),
    ("trace", "gpt2", "나는 간다", "--set", "d_model=48", "--set", "vocab_size=40", "--layer", "1"),
    ("bench", "published-sizes"),
]
VARIES = re.compile(r"second|time|path|version|folder|commit|machine|when|duration|per_s|speed|memory_peak|platform")


def models() -> Iterator[tuple[str, ModelConfig]]:
    yield from ((name, make()) for name, make in PRESETS.items())
    yield from ((f"grid {i}", config) for i, config in enumerate(GRID))


# --- what is dumped ---


def ledger() -> dict[str, Any]:
    return {name: count(name, config).to_json() for name, config in models()}


def passes() -> Iterator[tuple[str, ModelConfig, dict[str, Any]]]:
    """Every model in every pass, under a name."""
    for name, config in models():
        rates = (0.0, 0.1) if name.startswith("grid") else (None,)
        for rate, (number, options) in product(rates, enumerate(PASSES)):
            changed = config if rate is None else with_dropout(config, rate)
            yield f"{name} dropout {rate} pass {number}", changed, options


def cost_tables() -> dict[str, Any]:
    """By model and pass: each part with its FLOPs and bytes, by formula; and the memory of the pass."""
    found = {}
    for name, config, options in list(passes())[::EVERY]:
        try:
            found[name] = one_pass(config, Pass(**SIZES | options))
        except GlassformerError as error:
            found[name] = {"refused": str(error)}
    return found


def one_pass(config: ModelConfig, run: Pass) -> dict[str, Any]:
    table, every = {}, costs(config, run)
    seen: dict[str, str] = {}
    for part, cost in every.items():
        row = cost.to_json() | {
            "again": sum(entry.amount for entry in cost.again),
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


def helps() -> dict[str, str]:
    from glassformer.cli.commands import app  # the names of all commands

    names = sorted(command.name or command.callback.__name__ for command in app.registered_commands)
    return {" ".join(words): said(*words) for words in [("--help",), *((name, "--help") for name in names)]}


def commands() -> dict[str, Any]:
    found = {" ".join(words): json_of(*words) for words in COMMANDS}
    for kind in tiny_runs.KINDS:
        with tempfile.TemporaryDirectory() as home:
            run = tiny_runs.trained(kind, Path(home))
            found[f"use {kind}"] = json_of(*tiny_runs.use(kind, run, Path(home)), hide=home)
            found[f"evaluate {kind}"] = json_of("evaluate", str(run), hide=home)
            found[f"count {kind}"] = json_of("count", str(run), "--length", "4", hide=home)
            found[f"resumed {kind}"] = resumed(run)
    return found


def resumed(run: Path) -> dict[str, str]:
    """Go on for four steps; the bytes of the checkpoint that was written then: weights, optimiser, random numbers."""
    said("train", str(run), "--set", "train.steps=12")
    files = sorted((run / "checkpoints" / "step-00000012").glob("*.safetensors"))
    return {str(p.relative_to(run)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def said(*words: str) -> str:
    from glassformer.cli.app import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
        main(words)
    return out.getvalue()


def json_of(*words: str, hide: str = "") -> Any:
    text = said(*words, "--json")
    try:
        return steady(json.loads(text.replace(hide, "HOME") if hide else text))
    except json.JSONDecodeError:
        return {"no json": text[:400]}


def steady(value: Any) -> Any:
    """Without times, paths and versions."""
    if isinstance(value, dict):
        return {key: steady(each) for key, each in value.items() if not VARIES.search(key)}
    return [steady(each) for each in value] if isinstance(value, list) else value


PARTS: dict[str, Callable[[], Any]] = {
    "ledger": ledger,
    "costs": cost_tables,
    "keys": keys,
    "help": helps,
    "commands": commands,
}

# --- how it is compared ---


def polynomial(formula: str) -> dict[tuple[str, ...], Fraction] | None:
    """A formula as a sum of products; a quotient that does not come out is a symbol of its own."""
    tokens = re.findall(r"[A-Za-z_]\w*|\d+|[()+×÷-]", formula)
    if "".join(tokens) != formula.replace(" ", ""):
        return None

    def total() -> Counter[tuple[str, ...]]:
        found = term()
        while tokens and tokens[0] in "+-":
            sign = 1 if tokens.pop(0) == "+" else -1
            for key, value in term().items():
                found[key] += sign * value
        return found

    def term() -> Any:
        found = factor()
        while tokens and tokens[0] in "×÷":
            times = tokens.pop(0) == "×"
            other = factor()
            if times:
                both: Any = Counter()
                for (a, x), (b, y) in product(found.items(), other.items()):
                    both[tuple(sorted(a + b))] += x * y
                found = both
            else:
                (by,) = other.values()
                found = Counter({key: Fraction(value) / by for key, value in found.items()})
        return found

    def factor() -> Any:
        token = tokens.pop(0)
        if token == "(":
            found = total()
            tokens.pop(0)
            return found
        return Counter({(): Fraction(int(token))}) if token.isdigit() else Counter({(token,): Fraction(1)})

    return {key: value for key, value in total().items() if value}


FORMULA = re.compile(r"formula|numbers")


def differences(before: Any, after: Any, path: str, changed: Counter[tuple[str, str]]) -> Iterator[str]:
    """Where two dumps differ. Formulas that are equal as polynomials are only listed in `changed`."""
    if isinstance(before, dict) and isinstance(after, dict):
        if list(before) != list(after):
            gone, new = [k for k in before if k not in after], [k for k in after if k not in before]
            yield f"{path}: keys differ; gone {gone[:4]}, new {new[:4]}" if gone or new else f"{path}: order differs"
        for key in (key for key in before if key in after):
            numbers = key.replace("formula", "numbers")
            if key != numbers and numbers in before and numbers in after and _renamed(before, after, key, numbers):
                changed[f"other symbols: {before[key]}", after[key]] += 1
                continue
            yield from differences(before[key], after[key], f"{path}/{key}", changed)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (a, b) in enumerate(zip(before, after, strict=True)):
            yield from differences(a, b, f"{path}/{i}", changed)
    elif before != after:
        is_formula = FORMULA.search(path.rpartition("/")[2]) and isinstance(before, str) and isinstance(after, str)
        first = polynomial(before) if is_formula else None
        if first is not None and first == polynomial(after):
            changed[before, after] += 1
        else:
            yield f"{path}: {before!r} → {after!r}"


def _renamed(before: dict[str, str], after: dict[str, str], key: str, numbers: str) -> bool:
    """Other symbols for the same numbers: w for 4 in float32, s for t where both are one length."""
    return polynomial(before[key]) != polynomial(after[key]) and polynomial(before[numbers]) == polynomial(
        after[numbers]
    )


def unfold(table: dict[str, Any]) -> dict[str, Any]:
    """Layers that were stored once, for each layer."""
    for each in table.values():
        for part, row in each.get("parts", {}).items():
            each["parts"][part] = each["parts"][row["as"]] if "as" in row else row
    return table


# Where the ledger was not what a model does, and was put right: see ADR 0014.
MENDED: dict[str, Callable[[ModelConfig, dict[str, Any]], bool]] = {
    "float64: tables of rotary positions are kept once": lambda config, run: (
        run.get("dtype") == "float64" and config.position.kind == "rotary"
    ),
    "float64: the log-sum-exp has eight bytes": lambda config, run: (
        run.get("dtype") == "float64" and run.get("kernel", "fused") == "fused"
    ),
    "autocast: what a product is given is narrow, what a norm gives is wide": lambda config, run: bool(
        run.get("autocast")
    ),
    "a trained bias under a mask keeps the mask on an accelerator too": lambda config, run: (
        config.position.kind == "relative" and run.get("device") == "cuda" and run.get("kernel", "fused") == "fused"
    ),
    "who sees everything at once has no past": lambda config, run: (
        bool(run.get("past")) and (config.family == "encoder" or not config.causal)
    ),
}


def mended(lines: list[str]) -> tuple[list[str], Counter[str]]:
    """The differences that nothing explains, and how many each reason explains."""
    known, reasons, left = {name: (config, run) for name, config, run in passes()}, Counter[str](), []
    for line in lines:
        config, run = known[line.split("/")[1].partition(":")[0]]
        reason = next((reason for reason, holds in MENDED.items() if holds(config, run)), None)
        if reason is None:
            left.append(line)
        else:
            reasons[reason] += 1
    return left, reasons


def file_of(folder: Path, part: str) -> Path:
    return folder / f"{part}.json.gz"


def main() -> int:
    reader = argparse.ArgumentParser()
    reader.add_argument("what", choices=("dump", "compare"))
    reader.add_argument("folder", type=Path)
    reader.add_argument("--only", nargs="*", default=list(PARTS))
    reader.add_argument("--show", type=int, default=20)
    given = reader.parse_args()
    os.environ["GLASSFORMER_LANG"], os.environ["COLUMNS"] = "en", "100"
    given.folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for part in given.only:
        now = json.loads(json.dumps(PARTS[part]()))
        path = file_of(given.folder, part)
        if given.what == "dump":
            path.write_bytes(gzip.compress(json.dumps(now).encode()))
            sys.stdout.write(f"{part}: {len(now)} dumped\n")
            continue
        before, changed = json.loads(gzip.decompress(path.read_bytes())), Counter[tuple[str, str]]()
        reasons = Counter[str]()
        if part == "costs":
            before = {name: before[name] for name in now} if EVERY > 1 else before
            before, now = unfold(before), unfold(now)
        found = list(differences(before, now, part, changed))
        if part == "costs":
            found, reasons = mended(found)
        wrong += len(found)
        sys.stdout.write(
            f"{part}: {len(before)} compared, {len(found)} differences, {len(changed)} formulas rewritten\n"
        )
        sys.stdout.writelines(f"  {line[:400]}\n" for line in found[: given.show])
        sys.stdout.writelines(f"  {n:6} mended: {reason}\n" for reason, n in reasons.items())
        sys.stdout.writelines(f"  {n:6} × {a} → {b}\n" for (a, b), n in changed.most_common(given.show))
    if given.what == "dump" and "commands" in given.only:
        for kind in tiny_runs.KINDS:
            shutil.rmtree(given.folder / "runs" / kind, ignore_errors=True)
            tiny_runs.trained(kind, given.folder / "runs")
    elif "commands" in given.only:
        wrong += sum(resumed_old(given.folder, kind) for kind in tiny_runs.KINDS)
    return 1 if wrong else 0


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
