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
import transformers
from transformers.utils import logging
logging.set_verbosity_error()
logging.disable_progress_bar()
kind = getattr(transformers, name)  # its module is imported here, not while the clock runs
def load():
    return kind.from_pretrained(folder, dtype=dtype)
"""
# The memory of the imports is not counted. Every weight is read, so that a lazy load does not look faster.
CHILD = """
import json, sys, time
from pathlib import Path
import torch
folder, dtype, name = Path(sys.argv[1]), getattr(torch, sys.argv[2]), sys.argv[3]
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
    """The model, the type of the file, and the type in memory."""

    model: str
    stored: str
    loaded: str


SETTINGS = (
    LoadingSetting("llama", "float32", "float32"),
    LoadingSetting("llama", "bfloat16", "bfloat16"),
    LoadingSetting("gpt2", "float32", "float32"),
    LoadingSetting("gpt2", "bfloat16", "bfloat16"),
    LoadingSetting("gpt2", "bfloat16", "float32"),
)
CLASSES = {"gpt2": "GPT2LMHeadModel", "llama": "LlamaForCausalLM"}
SIZES: dict[str, dict[str, Any]] = {  # by transformers' names; what is not said is its default
    "gpt2": {},  # 124M; its matrices are stored the other way round
    "llama": {  # 135M, the sizes of SmolLM
        "vocab_size": 49152,
        "hidden_size": 576,
        "intermediate_size": 1536,
        "num_hidden_layers": 30,
        "num_attention_heads": 9,
        "num_key_value_heads": 3,
        "tie_word_embeddings": True,
    },
}


def run() -> dict[str, Any]:
    """Both libraries on each setting; takes minutes, because every load imports its library first."""
    version = need_transformers("loading")
    with tempfile.TemporaryDirectory() as place:
        rows = []
        for setting in SETTINGS:
            folder = Path(place) / f"{setting.model}-{setting.stored}"
            if not folder.exists():
                write(folder, setting, SIZES[setting.model])
            rows.append(measured(folder, setting))
    return {"transformers": version, "rounds": ROUNDS, "rows": rows}


def write(folder: Path, setting: LoadingSetting, sizes: dict[str, Any]) -> None:
    """A model with random weights, as transformers writes it."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(0)
    make: Any = AutoModelForCausalLM.from_config
    model = make(AutoConfig.for_model(setting.model, **sizes))
    with quiet():
        model.to(getattr(torch, setting.stored)).save_pretrained(folder)


def measured(folder: Path, setting: LoadingSetting, rounds: int = ROUNDS) -> dict[str, Any]:
    """Both libraries in turn; the first load of each warms the page cache and is not counted."""
    found: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
    for _ in range(rounds + 1):
        for side, code in SIDES.items():
            found[side].append(_load(code, folder, setting))
    (size,) = {load["weights"] for loads in found.values() for load in loads}
    row: dict[str, Any] = {**setting._asdict(), "weights": size}
    for side, loads in found.items():
        seconds = summary([load["seconds"] for load in loads[1:]])
        row[side] = {"seconds": seconds, "peak": statistics.median(load["peak"] for load in loads[1:])}
    return row


def _load(code: str, folder: Path, setting: LoadingSetting) -> dict[str, float]:
    command = [sys.executable, "-c", code, str(folder), setting.loaded, CLASSES[setting.model]]
    found: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Time ÷ ours, and peak ÷ size of the weights in memory."""
    titles = ("model", "stored", "loaded", "weights", "side", "time", "spread", "peak")
    lines = [[say(f"columns.loading.{key}", lang) for key in titles]]
    for row in numbers["rows"]:
        base = row["glassformer"]["seconds"]["median"]
        for side in SIDES:
            seconds = row[side]["seconds"]
            name = side if side == "glassformer" else f"{side} {numbers['transformers']}"
            about = [row["model"], row["stored"], row["loaded"], f"{row['weights'] / 1e6:,.0f} MB", name]
            peak = f"{row[side]['peak'] / row['weights']:.2f}"
            lines.append([*about, f"{seconds['median'] / base:.2f}", spread(seconds, base), peak])
    return lines
