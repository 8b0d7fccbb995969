"""How fast the command line starts, against an empty typer program, and how fast it counts a huge model."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

from glassformer.bench.timing import interleaved, spread, summary
from glassformer.ledger.parameters import count
from glassformer.models.presets import PRESETS
from glassformer.words import say

EMPTY = """
import typer
app = typer.Typer()
@app.command()
def a(): ...
@app.command()
def b(): ...
app()
"""


def _help(*command: str) -> None:
    subprocess.run([sys.executable, *command, "--help"], capture_output=True, check=True)


def run() -> dict[str, Any]:
    """`--help` of glassformer and of an empty typer program, in turns; then the ledger of llama3-405b."""
    calls = {
        "glassformer": lambda: _help("-m", "glassformer"),
        "typer": lambda: _help("-c", EMPTY),
    }
    seconds = interleaved(calls, rounds=15)
    config = PRESETS["llama3-405b"]()
    counting = []
    for _ in range(20):
        start = time.perf_counter()
        parameters = count("llama3-405b", config).total.parameters
        counting.append(time.perf_counter() - start)
    return {
        "help": {name: summary(times) for name, times in seconds.items()},
        "count": {"model": "llama3-405b", "parameters": parameters, "seconds": summary(counting)},
    }


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Ratios of medians; milliseconds for the count."""
    ours, empty = numbers["help"]["glassformer"], numbers["help"]["typer"]
    counting = numbers["count"]["seconds"]
    model, parameters = numbers["count"]["model"], f"{numbers['count']['parameters']:,}"
    return [
        [say(f"columns.{key}", lang) for key in ("what", "median", "spread")],
        [
            say("bench.help_ratio", lang),
            f"{ours['median'] / empty['median']:.2f}",
            spread(ours, empty["median"]),
        ],
        [
            say("bench.count_time", lang, model=model, parameters=parameters),
            f"{1000 * counting['median']:.1f} ms",
            f"{1000 * counting['low']:.1f} – {1000 * counting['high']:.1f} ms",
        ],
    ]
