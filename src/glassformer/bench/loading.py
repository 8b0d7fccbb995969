"""Loading a model of half a gigabyte, against `transformers`: the time it takes and its peak memory.

Every load runs in its own process; the two libraries take turns, and the file is in the page cache for both.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from glassformer.bench.references import need_transformers, quiet
from glassformer.bench.timing import spread, summary
from glassformer.words import say

ROUNDS = 5
LIMIT = 1.2  # peak ÷ weights: no second copy of the model

OURS = """
from glassformer.hub.open import open_foreign
def load():
    return open_foreign(folder, dtype=dtype).model
"""
THEIRS = """
from transformers import GPT2LMHeadModel
from transformers.utils import logging
logging.set_verbosity_error()
logging.disable_progress_bar()
def load():
    return GPT2LMHeadModel.from_pretrained(folder, dtype=dtype)
"""
# The memory of the imports is not counted. Every weight is read, so that a lazy load does not look faster.
CHILD = """
import json, sys, time
from pathlib import Path
import torch
folder, dtype = Path(sys.argv[1]), getattr(torch, sys.argv[2])
{side}
def status(key):  # getrusage would begin with the peak of the process that started this one
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key + ":"))
before, start = status("VmRSS"), time.perf_counter()
model = load()
with torch.no_grad():
    for weight in model.parameters():
        weight.sum()
seconds = time.perf_counter() - start
size = sum(weight.numel() * weight.element_size() for weight in model.parameters())
print(json.dumps({{"seconds": seconds, "peak": status("VmHWM") - before, "weights": size}}))
"""
SIDES = {"glassformer": CHILD.format(side=OURS), "transformers": CHILD.format(side=THEIRS)}


class LoadingSetting(NamedTuple):
    """The type of the file, and the type in memory."""

    stored: str
    loaded: str


SETTINGS = (
    LoadingSetting("float32", "float32"),
    LoadingSetting("bfloat16", "bfloat16"),
    LoadingSetting("bfloat16", "float32"),
)


def run() -> dict[str, Any]:
    """Both libraries on each setting; takes minutes, because every load imports its library first."""
    version = need_transformers("loading")
    with tempfile.TemporaryDirectory() as place:
        folders = {stored: Path(place) / stored for stored in ("float32", "bfloat16")}
        write(folders)
        rows = [measured(folders[setting.stored], setting) for setting in SETTINGS]
    return {"model": "gpt2", "transformers": version, "rounds": ROUNDS, "rows": rows}


def write(folders: dict[str, Path], **sizes: int) -> None:
    """GPT-2 with random weights, once for each type of file."""
    import torch
    from transformers import GPT2LMHeadModel

    torch.manual_seed(0)
    kind: Any = GPT2LMHeadModel
    model = kind(kind.config_class(**sizes))
    with quiet():
        for stored, folder in folders.items():
            model.to(getattr(torch, stored)).save_pretrained(folder)


def measured(folder: Path, setting: LoadingSetting, rounds: int = ROUNDS) -> dict[str, Any]:
    """Both libraries in turn; the first load of each warms the page cache and is not counted."""
    found: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
    for _ in range(rounds + 1):
        for side, code in SIDES.items():
            found[side].append(_load(code, folder, setting.loaded))
    (size,) = {load["weights"] for loads in found.values() for load in loads}
    row: dict[str, Any] = {**setting._asdict(), "weights": size}
    for side, loads in found.items():
        seconds = summary([load["seconds"] for load in loads[1:]])
        row[side] = {"seconds": seconds, "peak": statistics.median(load["peak"] for load in loads[1:])}
    return row


def _load(code: str, folder: Path, dtype: str) -> dict[str, float]:
    command = [sys.executable, "-c", code, str(folder), dtype]
    found: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Time ÷ ours, and peak ÷ size of the weights in memory."""
    titles = ("stored", "loaded", "weights", "side", "time", "spread", "peak")
    lines = [[say(f"columns.loading.{key}", lang) for key in titles]]
    for row in numbers["rows"]:
        base = row["glassformer"]["seconds"]["median"]
        for side in SIDES:
            seconds = row[side]["seconds"]
            name = side if side == "glassformer" else f"{side} {numbers['transformers']}"
            about = [row["stored"], row["loaded"], f"{row['weights'] / 1e6:,.0f} MB", name]
            peak = f"{row[side]['peak'] / row['weights']:.2f}"
            lines.append([*about, f"{seconds['median'] / base:.2f}", spread(seconds, base), peak])
    return lines
