"""One small model for each everyday verb, made by hand: weights of a seed, a real tokenizer, a real configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig, TextConfig
from glassformer.config.values import Choice
from glassformer.loading import Loaded
from glassformer.models.build import build
from glassformer.runs import Run
from glassformer.text import Tokenizer, Vocabularies
from glassformer.training.checkpoint import save_folder
from texts import trained

LABELS = ["bad", "good", "neither"]
SIZES: dict[str, Any] = {
    "max_len": 48,
    "d_model": 16,
    "n_heads": 2,
    "d_ff": 24,
    "norm_order": "pre",
}
MODELS: dict[str, dict[str, Any]] = {
    "translation": {"family": "encoder-decoder", "head": "language_model"},
    "language_model": {"family": "decoder", "head": "language_model"},
    "masked_language_model": {"family": "encoder", "head": "language_model"},
    "classification": {"family": "encoder", "head": Choice("classifier", {"classes": 3})},
    "image_classification": {
        "family": "encoder",
        "input": Choice("image", {"size": 8, "patch": 4}),
        "head": Choice("classifier", {"classes": 3}),
    },
    "features": {"family": "encoder"},
}
FRAMES = {"classification": ("cls", "sep"), "masked_language_model": ("cls", "sep"), "features": ("cls", "sep")}


def small(
    task: str,
    *,
    tokenizer: Tokenizer | None = None,
    frame: tuple[str, str] | None = None,
    options: dict[str, Any] | None = None,
    **model: Any,
) -> Loaded:
    """A model for a task; `options` are the task's, `model` changes keys of the configuration."""
    tokenizer = tokenizer or trained("bpe")
    table = SIZES | MODELS[task] | model
    table |= {f"n_{side}_layers": 1 for side in table["family"].split("-")}
    text = table.get("input", Choice("tokens")).kind == "tokens"
    config = ModelConfig(**table | ({"vocab_size": tokenizer.vocab_size} if text else {}))
    begin, end = frame or FRAMES.get(task, ("none", "none"))
    run = RunConfig(
        name=task,
        task=Choice(task, {"labels": LABELS} if options is None and "classif" in task else options or {}),
        model=config,
        text=TextConfig(begin=begin, end=end),
    )
    network = build(config, seed=5).eval()
    with torch.no_grad():  # a fresh model is so unsure that everything is a tie
        for weight in network.parameters():
            if weight.dim() == 2:
                weight.mul_(3.0)
    folder = Path(f"small-{task.replace('_', '-')}")
    return Loaded(network, Vocabularies(tokenizer, tokenizer) if text else None, run, folder, folder)


def saved(loaded: Loaded, folder: Path) -> Path:
    """The same as a run folder, for the command line."""

    def fill(run: Run) -> None:
        if loaded.tokenizers is not None:
            loaded.tokenizers.save(run.folder)

    run = Run.create(folder / loaded.folder.name, loaded.config, fill)
    save_folder(run.checkpoint(1), {"model.safetensors": loaded.model.state_dict()}, {})
    return run.folder
