"""The feed-forward network by itself: whether tokens affect one another, what is left without the activation, how many
units are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.functional import jacobian

from glassformer.data.grammar import GrammarPair
from glassformer.layers.feed_forward import ACTIVATIONS, FEED_FORWARDS, FeedForward
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.stacks.sentences import validation_sentences
from glassformer.lessons.statistics import difference, interval
from glassformer.loading import Loaded
from glassformer.models.build import build
from glassformer.trace.record import record

SENTENCE = "나는 학교에 간다"
SENTENCES = 60
BENT = ("relu", "gelu", "silu")
POINTS = 33  # of an activation's curve, from −4 to 4
D_MODEL, D_FF = 8, 32
STEPS = 400
EXAMPLES = 1024


def straight(x: Tensor) -> Tensor:
    """The identity: no activation."""
    return x


def curves() -> dict[str, Any]:
    """The activations as functions of one number."""
    x = torch.linspace(-4, 4, POINTS)
    return {"x": x.tolist(), **{name: ACTIVATIONS[name](x).tolist() for name in BENT}}


def across(box: Callable[[Tensor], Tensor], x: Tensor) -> dict[str, float]:
    """The largest |∂y_t/∂x_s| across positions (s ≠ t) and within a position (s = t). x is 1 t d_model."""
    by_entry = jacobian(box, x)[0, :, :, 0].abs()  # t d s d
    by_pair = by_entry.amax((1, 3))  # t s
    own = torch.eye(len(by_pair), dtype=torch.bool)
    return {"others": float(by_pair[~own].max()), "own": float(by_pair[own].max())}


def independence(loaded: Loaded) -> dict[str, Any]:
    """The trained network, and every kind and activation untrained, on a sentence's stream; attention for contrast."""
    model: Any = loaded.model
    with record(model, "encoder.blocks.0.after_self_attention") as trace, torch.no_grad():
        model.encoder(model.embedding(torch.tensor([loaded.framed(SENTENCE)])))
    block = model.encoder.blocks[0]
    x = block.feed_forward_norm(trace["encoder.blocks.0.after_self_attention"]).detach()  # 1 t d_model
    d_model = x.shape[2]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        boxes = {
            f"{kind}_{bend}": make(d_model=d_model, d_ff=2 * d_model, activation=bend)
            for kind, make in FEED_FORWARDS.items()
            for bend in BENT
        }
    measured = {name: across(box, x) for name, box in {"trained": block.feed_forward, **boxes}.items()}
    attention = across(lambda y: block.self_attention(y, y, y), x)
    return {"tokens": x.shape[1], "boxes": measured, "attention": attention, "kinds": len(measured)}


def collapse(setup: LessonSetup) -> dict[str, Any]:
    """Without its activation the network is one matrix; how much of y = |x| it can learn with and without."""
    seen = [_learn(setup, seed) for seed in setup.seeds]
    fits = {name: [one[name] for one in seen] for name in ("bent", "straight", "best_line")}
    return {
        "d_model": D_MODEL,
        "d_ff": D_FF,
        "apart": max(one["apart"] for one in seen),
        "rank": max(int(one["rank"]) for one in seen),
        **{name: interval(values) for name, values in fits.items()},
        "gain": difference(fits["bent"], fits["straight"]),
    }


def _learn(setup: LessonSetup, seed: int) -> dict[str, float]:
    random = torch.Generator().manual_seed(seed)
    x, fresh = torch.randn(2, EXAMPLES, D_MODEL, generator=random, dtype=torch.float64)  # n d_model
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        bent, line = (FeedForward(d_model=D_MODEL, d_ff=D_FF).double() for _ in range(2))
    line.activation = straight
    line.load_state_dict(bent.state_dict())
    for network in (bent, line):
        _fit(network, x, x.abs(), setup.some(STEPS))
        network.requires_grad_(False)
    product = line.w_2.weight @ line.w_1.weight  # d_model d_model
    shift = line.w_2.weight @ line.w_1.bias + line.w_2.bias  # d_model
    whole = fresh @ product.T + shift  # n d_model
    padded, padded_fresh = (torch.cat([part, torch.ones(EXAMPLES, 1).double()], 1) for part in (x, fresh))
    best = torch.linalg.lstsq(padded, x.abs()).solution  # d_model+1 d_model
    return {
        "apart": float((line(fresh) - whole).abs().max() / whole.abs().max()),
        "rank": float(torch.linalg.matrix_rank(product)),
        "bent": explained(bent(fresh), fresh.abs()),
        "straight": explained(line(fresh), fresh.abs()),
        "best_line": explained(padded_fresh @ best, fresh.abs()),
    }


def _fit(network: nn.Module, x: Tensor, y: Tensor, steps: int) -> None:
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(steps):
        optimizer.zero_grad()
        (network(x) - y).square().mean().backward()
        optimizer.step()


def explained(said: Tensor, true: Tensor) -> float:
    """R²: the share of the variance that is explained."""
    return float(1 - (said - true).square().mean() / (true - true.mean(0)).square().mean())


def silence(setup: LessonSetup, loaded: Loaded) -> list[dict[str, Any]]:
    """The share of hidden units that ReLU sets to 0, layer by layer, before and after training."""
    chosen = validation_sentences(setup.some(SENTENCES, least=2))
    trained = _silent(loaded, loaded.model, chosen)
    fresh = _silent(loaded, build(loaded.config.model, seed=0).eval(), chosen)
    return [
        {"side": name.split(".")[0], "layer": int(name.split(".")[2]), "trained": trained[name], "fresh": fresh[name]}
        for name in trained
    ]


@torch.no_grad()
def _silent(loaded: Loaded, model: Any, pairs: list[GrammarPair]) -> dict[str, float]:
    silent: dict[str, list[float]] = {}
    target = loaded.vocabularies.target
    for pair in pairs:
        source = torch.tensor([loaded.framed(pair.source_ko)])
        begun = torch.tensor([[loaded.start, *target.encode(pair.target_en)]])
        with record(model, "*.feed_forward.hidden") as trace:
            model(source, begun)
        for name in trace.names():
            silent.setdefault(name, []).append(float((trace[name] == 0).double().mean()))
    return {name: sum(shares) / len(shares) for name, shares in silent.items()}
