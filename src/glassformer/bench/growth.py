"""How time and memory grow with the data: prepare, begin to train and evaluate, from a thousand pairs to WMT14's size.

Each command runs in a process of its own. The model is tiny, so that what is measured is the data; its vocabulary is
the paper's, 37,000 pieces, where there are enough words for it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.bench.stand_in import write_stand_in
from glassformer.bench.tree_memory import EVERY, watched_command
from glassformer.config.recipe import RunConfig
from glassformer.files import write_text
from glassformer.show.drawing import lines, logarithmic
from glassformer.words import say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from glassformer.show.theme import Theme

SIZES = (1_000, 10_000, 100_000, 1_000_000, 4_500_000)
MOST = "GLASSFORMER_GROWTH"  # the largest number of pairs to measure; not set: all
VOCABULARY = {1_000: 2_000, 10_000: 8_000}  # pieces; 37,000 for more pairs
VALIDATION = 100  # pairs held out
WHAT = ("prepare", "start", "evaluate")


def run(sizes: Sequence[int] = SIZES) -> dict[str, Any]:
    """A row for each number of pairs, smallest first."""
    most = int(os.environ.get(MOST, "0")) or max(sizes)
    with tempfile.TemporaryDirectory(prefix="glassformer-growth-") as folder:
        rows = [measured(Path(folder) / str(pairs), pairs) for pairs in sizes if pairs <= most]
    return {"cores": len(os.sched_getaffinity(0)), "every": EVERY, "rows": rows}


def measured(folder: Path, pairs: int) -> dict[str, Any]:
    """The commands one after another on a corpus of this size, which is removed afterwards."""
    folder.mkdir(parents=True)
    try:
        files = write_stand_in(folder, pairs)
        recipe, out = folder / "growth.toml", folder / "run"
        write_text(recipe, of_size(pairs, files).to_toml())
        environment = {**os.environ, "GLASSFORMER_CACHE": str(folder / "cache"), "GLASSFORMER_LANG": "en"}
        log = out / "log.jsonl"
        commands = {
            "prepare": ["data", "prepare", str(recipe)],
            "start": ["train", str(recipe), "--out", str(out)],
            "evaluate": ["evaluate", str(out), "--device", "cpu", "--beam", "1"],
        }
        found = {
            what: asdict(watched_command(words, environment, lambda: log.is_file() and log.stat().st_size > 0))
            for what, words in commands.items()
        }
        stored = sum(path.stat().st_size for path in (folder / "cache").rglob("*") if path.is_file())
        return {"pairs": pairs, "read": sum(path.stat().st_size for path in files), "stored": stored, **found}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def of_size(pairs: int, files: Sequence[Path]) -> RunConfig:
    """One step of a tiny translator on these files."""
    tiny: dict[str, Any] = {
        "d_model": 32,
        "d_ff": 64,
        "n_heads": 2,
        "n_encoder_layers": 1,
        "n_decoder_layers": 1,
        "max_len": 128,
    }
    tiny |= {"head": "language_model", "tie_embeddings": "all"}
    train: dict[str, Any] = {
        "steps": 1,
        "log_every": 1,
        "save_every": 1,
        "evaluate_every": 0,
        "warmup": 1,
        "device": "cpu",
    }
    train |= {"batch_tokens": 512, "chunk": 64}  # the logits of 37,000 pieces would be larger than all else
    data = {
        "source": {"kind": "files", "train": [str(path) for path in files]},
        "source_language": "en",
        "target_language": "de",
        "validation": VALIDATION,
    }
    text = {"vocab_size": VOCABULARY.get(pairs, 37_000)}
    return RunConfig.from_dict(
        {"run": {"name": "growth"}, "model": tiny, "data": data, "text": text, "train": {**train, "keep": 1}}
    )


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Seconds, seconds of all cores together, and the peak of anonymous memory of every command."""
    titles = [say("columns.pairs", lang)]
    for what in WHAT:
        titles += [say(f"bench.growth_{key}", lang) for key in (what, "busy", "memory")]
    rows = []
    for row in numbers["rows"]:
        cells = [f"{row['pairs']:,}"]
        for what in WHAT:
            found = row[what]
            seconds = found["seen_after"] if what == "start" else found["seconds"]
            busy = found.get("busy")  # not in every record
            cells += [f"{seconds:,.0f} s", "–" if busy is None else f"{busy:,.0f} s"]
            cells.append(f"{found['anonymous'] / 1e6:,.0f} MB")
        rows.append(cells)
    return [titles, *rows]


def draw(numbers: dict[str, Any], theme: Theme, lang: str) -> Figure:
    """Time over the number of pairs beside a line in proportion to them, and memory, which levels off."""
    rows = numbers["rows"]
    pairs = [row["pairs"] for row in rows]
    names = {what: say(f"bench.growth_{what}", lang) for what in WHAT}
    busy = {names[what]: [row[what]["busy"] for row in rows] for what in WHAT}
    largest = rows[-1]["prepare"]["busy"]
    straight = {say("bench.growth_straight", lang): [largest * count / pairs[-1] for count in pairs]}
    memory = {names[what]: [row[what]["anonymous"] / 1e6 for row in rows] for what in WHAT}
    figure = theme.figure(10, 4.4)
    panels = figure.subplots(1, 2)
    for axes, title, curves in zip(panels, ("seconds", "megabytes"), (busy | straight, memory), strict=True):
        lines(axes, theme, pairs, curves, form=",.3g")
        logarithmic(axes, "x")
        axes.xaxis.set_major_formatter("{x:,.0f}")  # small raised digits of a Hangul font can hardly be read
        axes.set_xlabel(say("columns.pairs", lang))
        axes.set_title(say(f"bench.growth_{title}", lang))
    logarithmic(panels[0])
    panels[1].set_ylim(0)
    return figure
