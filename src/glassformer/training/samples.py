"""Sample translations at every evaluation: what the model says by now, how often it is right, where it looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from glassformer.data.pairs import Pairs
from glassformer.evaluation.translate import GREEDY, Search, as_trained, candidates
from glassformer.files import disk, read_json, write_json
from glassformer.metrics.translation import Outputs, bleu, exact_match
from glassformer.runs import Run
from glassformer.text import Frame, Vocabularies
from glassformer.trace.record import record
from glassformer.trace.trace import Trace

SHOWN, SCORED = 8, 50  # sentences that are written down; sentences that the score is of
ATTENTION = "*.cross_attention.weights"
MOST_TOKENS = 24  # rows and columns of a map of attention


@dataclass(frozen=True)
class Sample:
    """A sentence, what it should become, and what the model makes of it."""

    source: str
    target: str
    translation: str


@dataclass(frozen=True)
class Samples:
    """`Job.measure` of a translator: the same sentences at every evaluation, greedily, so that steps can be compared.

    Writes samples/step-00000500.json and, for the first sentence, samples/step-00000500.attention.safetensors. The
    mean of the last checkpoints, which is evaluated at the very end, replaces what was written at the last step.
    """

    run: Run
    vocabularies: Vocabularies
    pairs: Pairs
    shown: int = SHOWN

    def __call__(self, model: nn.Module, step: int) -> dict[str, float]:
        found = candidates(model, self.vocabularies, self.pairs.sources, self.search)
        outputs = Outputs([best.text for best, *_ in found], self.pairs.targets)
        rows = map(Sample, self.pairs.sources, self.pairs.targets, outputs.hypotheses)
        samples = [sample for sample, _ in zip(rows, range(self.shown), strict=False)]
        write_samples(self.run, step, [asdict(sample) for sample in samples])
        self.attention(model, samples[0]).save(attention_file(self.run, step))
        return {"sample_bleu": bleu(outputs, resamples=0).value, "exact": exact_match(outputs).value}

    @property
    def search(self) -> Search:
        return as_trained(GREEDY, self.run.config)

    def attention(self, model: nn.Module, sample: Sample) -> Trace:
        """The weights of every cross-attention, b h t s: from bos and each token said so far to the framed source.

        `tokens` of the trace are those of the source, s, and behind them those of the target, t.
        """
        source, target = self.vocabularies.source, self.vocabularies.target
        device, room = next(model.parameters()).device, self.run.config.model.max_len
        ids = Frame.of(self.run.config, source.specials).around(source.encode(sample.source))
        said = [target.specials.need(self.search.start), *target.encode(sample.translation)][:room]
        with record(model, ATTENTION) as trace:
            model(torch.tensor([ids], device=device), torch.tensor([said], device=device))
        trace.tokens = [*map(source.piece, ids), *map(target.piece, said)]
        return trace


def chosen(pairs: Pairs, fits: np.ndarray, shown: int = SHOWN, scored: int = SCORED) -> Pairs:
    """The first few of those that fit, and others spread evenly over the rest: a file may be sorted."""
    usable = np.flatnonzero(fits)
    first, rest = usable[:shown], usable[shown:]
    spread = np.linspace(0, len(rest) - 1, min(scored - len(first), len(rest))).round().astype(int)
    return pairs.chosen([*first.tolist(), *rest[spread].tolist()])


def samples_file(run: Run, step: int) -> Path:
    return run.samples / f"step-{step:08d}.json"


def attention_file(run: Run, step: int) -> Path:
    return run.samples / f"step-{step:08d}.attention.safetensors"


@dataclass(frozen=True)
class Looked:
    """Where a model looked: from each row's token to each column's, the mean over the heads of the last layer."""

    kind: str  # "cross_attention", "self_attention" or "patch_attention"
    rows: list[str]
    columns: list[str]
    weights: list[list[float]]


def looked_at(run: Run, step: int) -> Looked | None:
    """What was kept of the first sample of a step: of a translator over the source, of a forecaster over its patches.

    Weights are b h t s; `tokens` of the trace are those of the source, and behind them those of the target.
    """
    path = attention_file(run, step)
    if not path.is_file():
        return None
    trace = Trace.open(path)
    across = trace.attention("cross_attention")
    weights = (across or trace.attention())[-1][0].mean(0)  # t s
    columns, rows = trace.tokens[: weights.shape[1]], trace.tokens[weights.shape[1] :] if across else trace.tokens
    few = weights[:MOST_TOKENS, :MOST_TOKENS].tolist()
    kind = "cross_attention" if across else "patch_attention"
    return Looked(kind, rows[:MOST_TOKENS], columns[:MOST_TOKENS], few)


def last_samples(run: Run) -> tuple[int, list[dict[str, str]]]:
    """The step of the last samples, and the samples."""
    for path in sorted(run.samples.glob("step-????????.json"), reverse=True):
        step = int(path.stem.removeprefix("step-"))
        if found := read_samples(run, step):
            return step, found
    return 0, []


def write_samples(run: Run, step: int, samples: Sequence[Mapping[str, str]]) -> None:
    """What was said at a step, of any task: the first value of a row is what a person could ask the model again."""
    with disk(run.samples):
        run.samples.mkdir(exist_ok=True)
    write_json(samples_file(run, step), [dict(sample) for sample in samples])


def read_samples(run: Run, step: int) -> list[dict[str, str]]:
    """What was said at a step; nothing where no evaluation was made."""
    path = samples_file(run, step)
    return [{name: str(text) for name, text in row.items()} for row in read_json(path)] if path.is_file() else []
