"""How good the recipes' translators become: trained from scratch with several seeds, tested at the end."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from glassformer.bench.timing import device_here
from glassformer.config.recipe import RunConfig
from glassformer.data.pair_corpus import pair_corpus
from glassformer.loading import load, open_recipe
from glassformer.metrics.translation import Outputs, bleu, exact_match
from glassformer.tasks.search import GREEDY, SearchOptions
from glassformer.tasks.translation.translate import as_trained, candidates
from glassformer.training.begin import begin
from glassformer.training.loop import train
from glassformer.words import say

RUNS: dict[str, dict[str, tuple[int, ...]]] = {  # device → recipe → seeds
    "cpu": {"ko-en": (0,)},
    "cuda": {"multi30k-en-de": (0, 1, 2), "tatoeba-pydocs-ko-en": (0,)},
}
LITERATURE = SearchOptions(beam=5, alpha=1.0, length_norm="power", batch=256)
SEARCHES: dict[
    str, tuple[SearchOptions, ...]
] = {  # for our own corpus the searches of `make demo` and `evaluate`: greedy and beam
    "ko-en": (GREEDY, SearchOptions()),
}


def run() -> dict[str, Any]:
    """Every recipe and seed, one after another, minutes each. Without an accelerator only the built-in corpus."""
    device = device_here()
    rows: list[dict[str, Any]] = []
    for recipe, seeds in RUNS[device].items():
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder:
                rows += _trained(open_recipe(recipe, {"train.seed": seed, "train.device": device}), Path(folder))
    return {"rows": rows}


def _trained(config: RunConfig, folder: Path) -> list[dict[str, Any]]:
    job, start = begin(config, folder / "run"), time.perf_counter()
    for _ in train(job):
        pass
    about = {"recipe": config.name, "seed": config.train.seed, "steps": config.train.steps}
    about["seconds"] = time.perf_counter() - start
    loaded = load(folder / "run", device=config.train.device)
    plain = "none" if config.data.prepare.startswith("moses") else "13a"
    rows = []
    for search in SEARCHES.get(config.name, (LITERATURE,)):
        trained = as_trained(search, loaded.config)
        for name, pairs in pair_corpus(config.data).test.items():
            found = candidates(loaded.model, loaded.vocabularies, pairs.sources, trained)  # as the corpus prepares them
            outputs = Outputs([best.text for best, *_ in found], pairs.targets)
            scores = {"bleu": bleu(outputs, tokenize=plain).value, "exact": exact_match(outputs).value}
            of = {"test": name, "beam": search.beam, "sentences": len(pairs), "tokens": plain}
            rows.append({**about, **of, **scores})
    return rows


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """BLEU of each test set by seed and beam width (1: greedy), with the tokens that it counts."""
    titles = ("recipe", "test_set", "seed", "beam", "tokens_of_bleu", "bleu", "exactly_right")
    lines = [[say(f"columns.{key}", lang) for key in titles]]
    for row in numbers["rows"]:
        tokens = say("bench.tokens_moses" if row["tokens"] == "none" else "bench.tokens_13a", lang)
        exact = f"{100 * row['exact']:.1f} %" if "exact" in row else "–"
        beam = str(row.get("beam", LITERATURE.beam))  # older records have this search only
        lines.append([row["recipe"], row["test"], str(row["seed"]), beam, tokens, f"{row['bleu']:.2f}", exact])
    return lines
