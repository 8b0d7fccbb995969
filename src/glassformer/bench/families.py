"""Every family of `transformers` against its import: the largest difference between their outputs on the same inputs.

Three times: in float64 with the reference's float32 islands lifted, in plain float64, and in float32 (relative).
"""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch

from glassformer.bench.lift import lifted
from glassformer.bench.questions import Question, questions
from glassformer.bench.references import VARIANTS, need_transformers, opened, opened_lifted, save, sinusoid_tables
from glassformer.hub.open import Imported, open_foreign
from glassformer.words import say

CASES = ("whole", "right", "left", "steps")
LIMITS = {"lifted": 1e-10, "float64": 1e-6, "float32": 1e-5}


def run() -> dict[str, Any]:
    """Every variant, one after the other; takes seconds."""
    return {"transformers": need_transformers("families"), "rows": [compared(name) for name in VARIANTS]}


def compared(name: str) -> dict[str, Any]:
    """One variant: saved by `transformers`, imported, and run in both libraries in three precisions."""
    variant = VARIANTS[name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        save(name, folder)
        ours = {dtype: open_foreign(folder, dtype=dtype) for dtype in (torch.float64, torch.float32)}
        theirs = {dtype: opened(name, folder, dtype) for dtype in ours}
        wide, narrow = torch.float64, torch.float32
        pad = theirs[wide].config.to_dict().get("pad_token_id") or 0
        asked = questions(ours[wide].config.model, pad=pad, by_length=variant.by_length)
        return {
            "variant": name,
            "architecture": variant.architecture,
            **_sizes(theirs[wide], ours[wide]),
            "lifted": differences(asked, ours[wide].model, opened_lifted(name, folder), lift=True),
            "float64": differences(asked, ours[wide].model, theirs[wide]),
            "float32": differences(asked, ours[narrow].model, theirs[narrow], relative=True),
        }


def _sizes(reference: Any, imported: Imported) -> dict[str, Any]:
    """Parameters of both (their sinusoids, which are buffers in ours, not counted), and the keys left unused."""
    theirs = sum(weight.numel() for weight in reference.parameters())
    theirs -= sum(table.weight.numel() for table in sinusoid_tables(reference))
    ours = sum(weight.numel() for weight in imported.model.parameters())
    return {"parameters": theirs, "ours": ours, "aside": list(imported.aside)}


@torch.no_grad()
def differences(
    asked: dict[str, list[Question]], mine: Any, theirs: Any, *, relative: bool = False, lift: bool = False
) -> dict[str, float]:
    """The largest difference in each case. Only the reference is lifted: ours has no float32 islands."""
    found: dict[str, float] = {}
    for case, pairs in asked.items():
        gaps = []
        for ask_ours, ask_theirs in pairs:
            answer = ask_ours(mine)
            with lifted() if lift else nullcontext():
                expected = ask_theirs(theirs)
            assert answer.shape == expected.shape
            gap = float((answer - expected).abs().max())
            gaps.append(gap / float(expected.abs().max()) if relative else gap)
        found[case] = max(gaps)
    return found


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Each case with the islands lifted; for the other two precisions only the largest over all cases."""
    titles = ("variant", "architecture", "parameters", "aside", *CASES, "float64", "float32")
    lines = [[say(f"columns.families.{key}", lang, version=numbers["transformers"]) for key in titles]]
    for row in numbers["rows"]:
        cases = [_shown(row["lifted"].get(case)) for case in CASES]
        largest = [_shown(max(row[kind].values())) for kind in ("float64", "float32")]
        about = [row["variant"], row["architecture"], f"{row['parameters']:,}", str(len(row["aside"]))]
        lines.append([*about, *cases, *largest])
    return lines


def _shown(gap: float | None) -> str:
    return "–" if gap is None else f"{gap:.0e}" if gap else "0"
