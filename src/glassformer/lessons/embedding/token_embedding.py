"""Token vectors, §3.4: how long they are and where they point, before and after training; the factor √d_model.

Claims embedding-norms and embedding-scale; the rules are in `verdicts`.
"""

from __future__ import annotations

from dataclasses import replace
from math import erf, log, sqrt
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig, override
from glassformer.data.pair_corpus import pair_corpus
from glassformer.layers.embedding import token_matrix
from glassformer.layers.position.sinusoidal import sinusoid
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact, less, within
from glassformer.loading import Loaded, load
from glassformer.models.build import build
from glassformer.show.drawing import lines, logarithmic
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BINS = 40
WIDTHS = (64, 128, 256, 512, 1024)
STARTS = ("xavier", "normal", "t5")  # standard deviation 1/√d_model, 0.02, 1: see models/initialize.py
SENTENCES = 4000  # pairs of the corpus that are searched for used tokens
TOKENS = 500  # vocabulary in `balance`: enough to know the mean norm to a fraction of a percent


def run(setup: LessonSetup) -> Data:
    """The token vectors of the ko-en translator before and after training; then the balance at other widths."""
    trained = load(setup.run("ko-en").folder, device="cpu")
    config = trained.config.model
    untrained = [_matrix(build(config, seed=seed)) for seed in setup.each("seeds", setup.seeds)]
    after = _matrix(trained.model)
    looks = [_look(matrix) for matrix in untrained]
    positions = _length(sinusoid(torch.arange(config.max_len), config.d_model, dtype=torch.float64))
    return {
        "d_model": config.d_model,
        "tokens": len(after),
        "expected": {"cosine": 1 / sqrt(config.d_model), "norm": 1.0, "positions": sqrt(config.d_model / 2)},
        "initial": {name: interval([look[name] for look in looks]) for name in looks[0]},
        "trained": _look(after),
        "unused": _unused(trained, after),
        "norms": _histogram(untrained[0].norm(dim=1), after.norm(dim=1)),
        "cosines": _histogram(_cosines(untrained[0]), _cosines(after)),
        "trained_ratio": {
            "plain": _length(after) / positions,
            "scaled": _length(after) * sqrt(config.d_model) / positions,
        },
        "balance_tokens": TOKENS,
        "balance": _balance(setup, config),
    }


def _matrix(model: nn.Module) -> Tensor:
    matrix = token_matrix(model.get_submodule("embedding"))
    assert matrix is not None
    return matrix.detach().double()  # v d_model


def _length(vectors: Tensor) -> float:
    return float(vectors.norm(dim=-1).mean())


def _cosines(matrix: Tensor) -> Tensor:
    """The cosine of every pair of different tokens."""
    unit = matrix / matrix.norm(dim=1, keepdim=True)
    rows, columns = torch.triu_indices(len(unit), len(unit), offset=1)
    return (unit @ unit.T)[rows, columns]  # v(v−1)/2


def _look(matrix: Tensor) -> dict[str, float]:
    norms, cosines = matrix.norm(dim=1), _cosines(matrix)
    z = (norms - norms.mean()) / norms.std(correction=0)
    skew, excess = float((z**3).mean()), float((z**4).mean()) - 3
    return {
        "norm": float(norms.mean()),
        "norm_spread": float(norms.std()),
        "away_from_normal": kolmogorov(norms),
        "jarque_bera": len(norms) / 6 * (skew**2 + excess**2 / 4),
        "skew": skew,
        "cosine": float(cosines.mean()),
        "cosine_spread": float(cosines.std()),
    }


def kolmogorov(values: Tensor) -> float:
    """The Kolmogorov distance of the values from the normal distribution with their mean and variance."""
    z = ((values - values.mean()) / values.std()).sort().values
    normal = torch.tensor([(1 + erf(float(x) / sqrt(2))) / 2 for x in z], dtype=torch.float64)
    steps = torch.arange(len(z) + 1, dtype=torch.float64) / len(z)
    return float(torch.maximum((steps[1:] - normal).abs().max(), (steps[:-1] - normal).abs().max()))


def _unused(trained: Loaded, matrix: Tensor) -> dict[str, float]:
    """Mean cosines among tokens that occur in none of `SENTENCES` sentences, and among the others."""
    tables = override(trained.config.to_dict(), "data.source.count", SENTENCES)
    pairs = pair_corpus(RunConfig.from_dict(tables).data).train
    both = ((trained.vocabularies.source, pairs.sources), (trained.vocabularies.target, pairs.targets))
    used = torch.zeros(len(matrix), dtype=torch.bool)
    for tokenizer, texts in both:
        used[list({token for row in tokenizer.encode_batch(texts) for token in row})] = True
    return {
        "sentences": SENTENCES,
        "tokens": int((~used).sum()),
        "cosine": float(_cosines(matrix[~used]).mean()),
        "cosine_of_used": float(_cosines(matrix[used]).mean()),
    }


def _histogram(before: Tensor, after: Tensor) -> dict[str, list[float]]:
    """Densities over the same bins."""
    low, high = (float(edge) for edge in torch.cat([before, after]).aminmax())
    width = (high - low) / BINS
    centres = [low + (i + 0.5) * width for i in range(BINS)]
    found = {
        name: [float(n) / (len(values) * width) for n in torch.histc(values, BINS, low, high)]
        for name, values in (("initial", before), ("trained", after))
    }
    return {"at": centres, **found}


def _balance(setup: LessonSetup, config: ModelConfig) -> list[dict[str, Any]]:
    """Mean norm of embeddings ÷ that of positions, for every start and width, without and with the factor."""
    rows = []
    for start in setup.each("initialisation", STARTS):
        for d_model in sorted({*WIDTHS, config.d_model}):
            small = {"d_ff": 4, "n_encoder_layers": 1, "n_decoder_layers": 1, "vocab_size": TOKENS}
            model = build(replace(config, d_model=d_model, init=start, **small), seed=setup.seeds[0])  # type: ignore[arg-type]
            positions = _length(sinusoid(torch.arange(config.max_len), d_model, dtype=torch.float64))
            plain = _length(_matrix(model)) / positions
            scale = float(model.get_submodule("embedding").scale)  # type: ignore[arg-type]
            rows.append({"start": start, "d_model": d_model, "plain": plain, "scaled": plain * scale})
    return rows


def verdicts(data: Data) -> dict[str, Verdict]:
    """The rules of both claims.

    embedding-norms, before training, as intervals over the seeds: the Kolmogorov distance of the norms from a normal
    distribution is below 0.05 (fewer than 5 of 100 tokens would have to move); the mean cosine is within a tenth of
    1/√d of 0; the deviation of the cosines is within 10 % of 1/√d, the value for independent directions.

    embedding-scale: balanced means that neither norm is more than twice the other. The sides are the initialisations;
    a side confirms if at every width embeddings and positions are balanced with the factor and not without.
    """
    return {"embedding-norms": _verdict_norms(data), "embedding-scale": _verdict_scale(data)}


def _verdict_norms(data: Data) -> Verdict:
    initial, expected = data["initial"], data["expected"]["cosine"]
    parts = {
        "normal": less(initial["away_from_normal"], 0.05),
        "centred": within(initial["cosine"], -0.1 * expected, 0.1 * expected),
        "spread": within(initial["cosine_spread"], 0.9 * expected, 1.1 * expected),
    }
    measured = {
        "distance": initial["away_from_normal"]["mean"],
        "jarque_bera": initial["jarque_bera"]["mean"],
        "cosine": initial["cosine"]["mean"],
        "spread": initial["cosine_spread"]["mean"],
        "expected": expected,
        "tokens": data["tokens"],
    }
    return Verdict.of({"start": parts}, measured)


def _verdict_scale(data: Data) -> Verdict:
    def balanced(ratio: float) -> bool:
        return abs(log(ratio)) < log(2)

    starts = {
        row["start"]: [other for other in data["balance"] if other["start"] == row["start"]] for row in data["balance"]
    }
    sides = {
        start: exact(all(balanced(row["scaled"]) and not balanced(row["plain"]) for row in rows))
        for start, rows in starts.items()
    }
    at = {row["start"]: row for row in data["balance"] if row["d_model"] == data["d_model"]}
    return Verdict.of(sides, {"d_model": data["d_model"], **{start: at[start] for start in starts}})


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Norms and cosines above; below, the ratio to the positions without and with the factor."""
    figure = theme.figure(10, 7)
    (norms, cosines), (plain, scaled) = figure.subplots(2, 2)
    for axes, name in ((norms, "norms"), (cosines, "cosines")):
        found = data[name]
        lines(axes, theme, found["at"], {words(when): found[when] for when in ("initial", "trained")})
        axes.set(title=words(f"{name}_title"), xlabel=words(f"{name}_axis"))
        axes.set_yticks([])
        axes.set_ylabel(words(f"{name}_share"))
    for axes, which in ((plain, "plain"), (scaled, "scaled")):
        _ratio(axes, data, theme, words, which)
    ratios = [row[which] for row in data["balance"] for which in ("plain", "scaled")]
    for axes in (plain, scaled):
        axes.set_ylim(min(ratios) / 2, max(ratios) * 2)
    return figure


def _ratio(axes: Axes, data: Data, theme: Theme, words: PictureWords, which: str) -> None:
    widths = sorted({row["d_model"] for row in data["balance"]})
    starts = list(dict.fromkeys(row["start"] for row in data["balance"]))
    curves = {words(start): [row[which] for row in data["balance"] if row["start"] == start] for start in starts}
    lines(axes, theme, widths, curves)
    axes.axhspan(0.5, 2, color=theme.grid, linewidth=0, zorder=0)
    logarithmic(axes, "x", base=2)
    logarithmic(axes)
    axes.set(title=words(f"{which}_title"), xlabel="d_model", ylabel=words("ratio"))


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("embedding-norms", "embedding-scale"),
    runs=("ko-en",),
    equation=r"x_t = E[\mathrm{token}_t]\cdot\sqrt{d_{\mathrm{model}}}",
    formula="x_t = E[token_t] · √d_model",
    paper="§3.4",
    sources=("layers/embedding.py", "models/initialize.py"),
    picture="token_embedding_analysis",
)
