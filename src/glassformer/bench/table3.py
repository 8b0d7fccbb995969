"""Table 3 of the paper: its parameters, printed in millions, beside exact counts."""

from __future__ import annotations

from typing import Any

from glassformer.ledger.parameters import count
from glassformer.loading import open_config
from glassformer.models.presets import PRESETS
from glassformer.words import say

PAPER_VOCABULARY = 37_000  # §5.1: "about 37000 tokens"
ROWS: dict[str, tuple[str, dict[str, Any], float]] = {  # row → preset, what differs from it, printed millions
    "base": ("paper-base", {}, 65),
    "(B) d_k 16": ("paper-base", {"d_k": 16, "d_v": 64}, 58),
    "(B) d_k 32": ("paper-base", {"d_k": 32, "d_v": 64}, 60),
    "(C) N 2": ("paper-base", {"n_encoder_layers": 2, "n_decoder_layers": 2}, 36),
    "(C) N 4": ("paper-base", {"n_encoder_layers": 4, "n_decoder_layers": 4}, 50),
    "(C) N 8": ("paper-base", {"n_encoder_layers": 8, "n_decoder_layers": 8}, 80),
    "(C) d_model 256": ("paper-base", {"d_model": 256, "d_k": 32, "d_v": 32}, 28),
    "(C) d_model 1024": ("paper-base", {"d_model": 1024, "d_k": 128, "d_v": 128}, 168),
    "(C) d_ff 1024": ("paper-base", {"d_ff": 1024}, 53),
    "(C) d_ff 4096": ("paper-base", {"d_ff": 4096}, 90),
    "big": ("paper-big", {}, 213),
}


def parameters(row: str, vocab_size: int) -> int:
    """The exact count of a row for a vocabulary size."""
    preset, changes, _ = ROWS[row]
    config = open_config(PRESETS[preset](), overrides={**changes, "vocab_size": vocab_size})
    return count(row, config).total.parameters


def best_vocabulary() -> int:
    """The vocabulary size with the least sum of squared relative deviations from the printed millions.

    A count is a + d_model·V, linear in V, so the minimum has a closed form.
    """
    numerator = denominator = 0.0
    for row, (_, _, printed) in ROWS.items():
        without, slope = parameters(row, 1), parameters(row, 2) - parameters(row, 1)
        without -= slope
        numerator += slope * (printed * 1e6 - without) / (printed * 1e6) ** 2
        denominator += slope**2 / (printed * 1e6) ** 2
    return round(numerator / denominator)


def run() -> dict[str, Any]:
    """Every row at the paper's vocabulary and at the one that fits best."""
    best = best_vocabulary()
    return {
        "vocabularies": [PAPER_VOCABULARY, best],
        "rows": [
            {
                "row": row,
                "printed_millions": printed,
                "parameters": [parameters(row, PAPER_VOCABULARY), parameters(row, best)],
            }
            for row, (_, _, printed) in ROWS.items()
        ],
    }


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Rows of text for the docs."""
    titles = [say(f"columns.{key}", lang) for key in ("row", "printed")]
    for vocabulary in numbers["vocabularies"]:
        titles += [f"V {vocabulary:,}", say("columns.difference", lang)]
    lines = [titles]
    for row in numbers["rows"]:
        printed = row["printed_millions"]
        cells = [row["row"], f"{printed} M"]
        for exact in row["parameters"]:
            cells += [f"{exact:,}", f"{100 * (exact / (printed * 1e6) - 1):+.1f} %"]
        lines.append(cells)
    return lines
