"""Nothing that a person sees has changed: dump what the commands say at one commit, compare at another.

    PYTHONPATH=src:tests python tests/same_as_before.py dump FOLDER        at the commit before
    PYTHONPATH=src:tests python tests/same_as_before.py compare FOLDER     at the commit after

Numbers, names and the order of rows must be equal; formulas must be equal as polynomials, or differ by a kind of
rewriting that `same_comparison.py` knows. All that is written otherwise is listed in FOLDER/PART.txt. A run that was
written before must go on bit for bit. `--only ledger costs` picks parts; EVERY=9 takes every ninth pass of the costs.
At a commit that has not got this script, copy it and `same_comparison.py` there.
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
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import tiny_runs
from glassformer.errors import GlassformerError
from glassformer.ledger.costs import Pass, costs
from glassformer.ledger.memory import memory
from glassformer.ledger.parameters import count
from glassformer.lessons import record
from glassformer.lessons.catalogue import LESSONS
from glassformer.models.build import build
from glassformer.models.presets import PRESETS
from grid import GRID
from measure import with_dropout
from same_comparison import Comparison, Difference, mended, unfold

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
    {"training": False, "past": 0, "length": 1, "target_length": 1},
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
    ("claims",),
    ("doctor",),
    ("recipes", "show", "ko-en", "--full"),
    ("compare", "mini-classifier", "mini-classifier"),
]
# What is clocked, or read off the machine and the commit, by command; whatever else they say is compared.
VARIES = {
    "bench": {"commit", "versions", "machine"},
    "claims": {"source"},
    "doctor": {"found"},
    "lesson": {"source"},
    "train": {"seconds"},
}


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
    for name, config, options in list(passes())[::EVERY]:
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
            "again": sum(entry.amount for entry in cost.recomputed),
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
    with not_stale():
        found = {" ".join(words): json_of(*words) for words in COMMANDS}
    found |= {f"recipes show {each['name']}": json_of("recipes", "show", each["name"]) for each in found["recipes"]}
    for kind in tiny_runs.KINDS:
        with tempfile.TemporaryDirectory() as home:
            found |= {f"{name} {kind}": said for name, said in of_a_run(kind, Path(home)).items()}
    return found


def of_a_run(kind: str, home: Path) -> dict[str, Any]:
    """What the commands say of a trained run."""
    run = tiny_runs.trained(kind, home)
    one, recipe, out = str(run), str(run / "config.toml"), str(home / "exported")

    def ask(*words: str) -> Any:
        return json_of(*words, hide=str(home))

    found = {
        "use": ask(*tiny_runs.use(kind, run, home)),
        "evaluate": ask("evaluate", one),
        "count": ask("count", one, "--length", "4"),
        "embed": ask("embed", one, "우리는 자주 웃는다"),
        "dry run": ask("train", recipe, "--dry-run"),
        "export": ask("export", one, "--out", out),
        "exported": digests(Path(out)),
        "import": ask("import", out, "--out", str(home / "imported")),
        "imported": digests(home / "imported"),
        "sweep": ask(
            "sweep",
            recipe,
            "--vary",
            "train.learning_rate=0.001,0.002",
            "--set",
            "train.steps=2",
            "--out",
            str(home / "sweep"),
        ),
    }
    later = shutil.copytree(run, home / "later")
    return found | {"resumed": resumed(later), "compare": ask("compare", one, str(later))}


def digests(folder: Path) -> dict[str, str]:
    """What a command has written: the bytes of weights and words, not of records, which hold times and places."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".safetensors", ".txt", ".model", ".json"))
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def lessons() -> dict[str, Any]:
    """Every lesson in both languages from its recorded result, with the bytes of its picture."""
    with cached() as home, not_stale():
        found = {}
        for name, lang in product(LESSONS, ("en", "ko")):
            picture = Path(home) / f"{name}.{lang}.svg"
            said = json_of("lesson", name, "--lang", lang, "--picture", str(picture), hide=home)
            drawn = hashlib.sha256(picture.read_bytes()).hexdigest() if picture.exists() else "no picture"
            found[f"{name} {lang}"] = {"said": said, "drawn": drawn}
    return found


def report() -> dict[str, Any]:
    """The textbook with a chapter on a run: what is read in the page, and the Markdown, line by line."""
    with cached() as home, not_stale():
        run = tiny_runs.trained("translation", Path(home))
        json_of("report", "--run", str(run), "--out", f"{home}/report")
        pages = sorted(path for path in Path(home, "report").rglob("*") if path.suffix in (".md", ".html"))
        return {path.name: read(path, home) for path in pages}


def read(path: Path, home: str) -> list[str]:
    text = path.read_text(encoding="utf-8").replace(home, "HOME")
    if path.suffix == ".html":
        text = re.sub(r"(?s)<(style|script|svg)\b.*?</\1>", "", text)
        text = re.sub(r"<[^>]*>", "\n", text)
    return [line.strip() for line in text.splitlines() if line.strip()]


@contextlib.contextmanager
def cached() -> Iterator[str]:
    """A cache of its own: nothing that this machine drew or measured before."""
    with tempfile.TemporaryDirectory() as home, patch.dict(os.environ, GLASSFORMER_CACHE=f"{home}/cache"):
        yield home


def not_stale() -> Any:
    """Recorded results are shown as they are, whatever the code has become: nothing is measured here."""
    return patch.object(getattr(record, "LessonResult", None) or record.Result, "stale", False)


def resumed(run: Path) -> dict[str, str]:
    """Go on for four steps; the bytes of the checkpoint that was written then: weights, optimiser, random numbers."""
    said("train", str(run), "--set", "train.steps=12")
    files = sorted((run / "checkpoints" / "step-00000012").glob("*.safetensors"))
    return {str(p.relative_to(run)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def said(*words: str) -> str:
    from glassformer.cli.app import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), contextlib.suppress(SystemExit):
        main(words)
    return out.getvalue()


def json_of(*words: str, hide: str = "") -> Any:
    """What a command says as JSON, or the sentence with which it refuses."""
    text = said(*words, "--json")
    text = text.replace(hide, "HOME") if hide else text
    start = re.search(r"^[\[{]", text, re.MULTILINE)  # behind the warnings
    try:
        return steady(json.loads(text[start.start() :]), VARIES.get(words[0], set())) if start else text
    except json.JSONDecodeError:
        return text


def steady(value: Any, varying: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: steady(each, varying) for key, each in value.items() if key not in varying}
    return [steady(each, varying) for each in value] if isinstance(value, list) else value


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
