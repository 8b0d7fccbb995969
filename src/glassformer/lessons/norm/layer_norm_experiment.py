"""LayerNorm inside a trained translator, and a short training with and without it."""

from __future__ import annotations

from dataclasses import replace
from math import log
from statistics import stdev
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.config.values import Choice
from glassformer.data.grammar.sample import pairs
from glassformer.layers.norm import NORMS, LayerNorm
from glassformer.lessons.attention.attention_patterns import batch_and_weights
from glassformer.lessons.experiment import Experiment
from glassformer.lessons.norm.batch_norm import BatchNorm, NoNorm
from glassformer.lessons.norm.letters import final_loss
from glassformer.lessons.setup import LessonSetup
from glassformer.loading.loaded import Loaded
from glassformer.models.build import build

SENTENCES = 24
BINS = 60
TOKENS = 20  # shown one by one
SHOWN = 30  # points of a curve
DEPTHS, RATES = (2, 6), (1e-3, 1e-2)


def depths_and_rates() -> list[dict[str, Any]]:
    """Shallow and deep models, low and high learning rates."""
    return [{"depth": depth, "rate": rate} for depth in DEPTHS for rate in RATES]


def inside(setup: LessonSetup) -> dict[str, Any]:
    """Every LayerNorm of the trained translator on real sentences: its input, its output, what it depends on."""
    loaded = setup.model("ko-en")
    chosen = pairs("test", setup.some(SENTENCES, 4), seed=setup.seeds[0])
    entered = _inputs(loaded.model, loaded, chosen)
    plain = {name: _without_scale(module) for name, module in loaded.model.named_modules() if _is_norm(module)}
    checks = [_check(plain[name], x) for name, x in entered.items()]
    name = list(entered)[-1]  # the last norm: here most has been added to the stream
    x, y = entered[name], dict(loaded.model.named_modules())[name](entered[name]).detach()
    return {
        "d_model": loaded.config.model.d_model,
        "norms": len(checks),
        "tokens": sum(one["tokens"] for one in checks),
        "token": {
            "norms": len(checks),
            "tokens": sum(one["tokens"] for one in checks),
            "mean": max(one["mean"] for one in checks),
            "off": max(one["off"] for one in checks),
            "deviation_low": min(one["low"] for one in checks),
            "deviation_high": max(one["high"] for one in checks),
        },
        "shown": name.replace(".", " "),
        "by_token": _by_token(x, plain[name](x)),
        "before": _distribution(x),
        "plain": _distribution(plain[name](x)),
        "after": _distribution(y),
        "by_norm": [
            {"before": one["size"], "name": name.replace(".", " ")} for name, one in zip(entered, checks, strict=True)
        ],
        "others": _others(loaded, chosen, setup.seeds),
    }


def _is_norm(module: nn.Module) -> bool:
    return isinstance(module, LayerNorm)


def _without_scale(module: nn.Module) -> nn.Module:
    """The same norm without γ and β: in a new one they are 1 and 0."""
    assert isinstance(module, LayerNorm)
    return LayerNorm(len(module.weight), eps=module.eps, bias=False)


def _inputs(model: nn.Module, loaded: Loaded, chosen: Any) -> dict[str, Tensor]:
    """The input of each norm, tokens × d_model."""
    entered: dict[str, Tensor] = {}

    def keep(name: str) -> Any:
        return lambda _, inputs: entered.update({name: inputs[0].detach().flatten(0, -2)})

    handles = [
        module.register_forward_pre_hook(keep(name)) for name, module in model.named_modules() if _is_norm(module)
    ]
    try:
        batch_and_weights(loaded, model, chosen)
    finally:
        for handle in handles:
            handle.remove()
    return entered


@torch.no_grad()
def _check(norm: nn.Module, x: Tensor) -> dict[str, float]:
    y, variance = norm(x).double(), x.double().var(-1, unbiased=False)
    deviation = y.var(-1, unbiased=False).sqrt()
    expected = (variance / (variance + norm.eps)).sqrt()  # type: ignore[operator]
    return {
        "tokens": len(x),
        "mean": float(y.mean(-1).abs().max()),
        "off": float((deviation - expected).abs().max()),
        "low": float(deviation.min()),
        "high": float(deviation.max()),
        "size": float(variance.sqrt().mean()),
    }


@torch.no_grad()
def _by_token(before: Tensor, after: Tensor) -> dict[str, list[dict[str, float]]]:
    """Mean and deviation of single tokens, chosen evenly from the narrowest to the widest."""
    order = before.std(-1, unbiased=False).argsort()
    chosen = order[torch.linspace(0, len(order) - 1, TOKENS).round().long()]
    return {
        name: [{"mean": float(row.mean()), "deviation": float(row.std(unbiased=False))} for row in x[chosen]]
        for name, x in (("before", before), ("plain", after))
    }


@torch.no_grad()
def _distribution(x: Tensor) -> dict[str, Any]:
    """A histogram of the numbers, and how much the deviations of tokens vary."""
    reach = float(x.abs().max())
    edges = torch.linspace(-reach, reach, BINS + 1)
    counts = torch.histogram(x.flatten(), edges).hist
    deviations = x.std(-1, unbiased=False)
    return {
        "at": ((edges[1:] + edges[:-1]) / 2).tolist(),
        "density": (counts / counts.sum() / (edges[1] - edges[0])).tolist(),
        "mean": float(x.mean()),
        "deviation": float(x.std()),
        "means_low": float(x.mean(-1).min()),
        "means_high": float(x.mean(-1).max()),
        "low": float(deviations.min()),
        "high": float(deviations.max()),
    }


@torch.no_grad()
def _others(loaded: Loaded, chosen: Any, seeds: Any) -> dict[str, float]:
    """The first sentence stays, the others become random tokens: how far its memory moves, with either norm."""
    batch, _ = batch_and_weights(loaded, loaded.model, chosen)
    size = loaded.config.model.vocab_size or 0
    config = replace(loaded.config.model, norm=Choice("batch"))
    batch_model: Any = build(config, seed=0, norms={**NORMS, "batch": BatchNorm}).train()
    models: dict[str, Any] = {"layer": loaded.model, "batch": batch_model}
    moved = dict.fromkeys(models, 0.0)
    for seed in seeds:
        random = torch.Generator().manual_seed(seed)
        other = torch.randint(0, size, batch.source.shape, generator=random)
        other[0] = batch.source[0]
        for name, model in models.items():
            one, two = (model.encode(tokens, batch.source_mask)[0] for tokens in (batch.source, other))
            moved[name] = max(moved[name], float((one - two).abs().max()))
    return {**moved, "rows": len(batch.source), "times": len(seeds)}


def with_and_without(material: Experiment, setting: dict[str, Any], seed: int, steps: int) -> dict[str, Any]:
    """The same seed twice: with LayerNorm before each sub-layer, and with nothing in its place."""
    return {kind: _trained(material, kind, setting, seed, steps) for kind in ("layer", "none")}


def _trained(material: Experiment, kind: str, setting: dict[str, Any], seed: int, steps: int) -> dict[str, Any]:
    changes = {"model.n_decoder_layers": setting["depth"], "train.steps": steps, "train.learning_rate": setting["rate"]}
    outcome = material.train(
        seed,
        changes,
        make=lambda config: build(replace(config.model, norm=Choice(kind)), seed=seed, norms={**NORMS, "none": NoNorm}),
    )
    finite = [norm for norm in outcome.gradient_norms if norm == norm and norm > 0.0]
    every = max(1, len(outcome.losses) // SHOWN)
    return {
        "loss": final_loss(outcome),
        "spread": stdev(map(log, finite)) if len(finite) > 1 else float("inf"),
        "curve": [loss if loss == loss else None for loss in outcome.losses[::every]],
        "skipped": len(outcome.losses) - len(finite),
    }
