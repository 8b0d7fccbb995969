"""What a run keeps of every evaluation: samples of what the model said, and its attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from glassformer.files import disk, read_json, write_json
from glassformer.runs import Run
from glassformer.trace.trace import Trace

SHOWN = 8  # examples that are written
MOST_TOKENS = 24  # rows and columns of a map of attention


@dataclass(frozen=True)
class Sample:
    """A sentence, what it should become, and what the model makes of it."""

    source: str
    target: str
    translation: str


def samples_file(run: Run, step: int) -> Path:
    return run.samples / f"step-{step:08d}.json"


def attention_file(run: Run, step: int) -> Path:
    return run.samples / f"step-{step:08d}.attention.safetensors"


@dataclass(frozen=True)
class KeptAttention:
    """Where a model looked: from each row's token to each column's, the mean over the heads of the last layer."""

    kind: str  # "cross_attention", "self_attention" or "patch_attention"
    rows: list[str]
    columns: list[str]
    weights: list[list[float]]


def kept_attention(run: Run, step: int) -> KeptAttention | None:
    """The attention of the first sample of a step: a translator's over the source, a forecaster's over its patches.

    Weights are b h t s; `tokens` of the trace are those of the source, followed by those of the target.
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
    return KeptAttention(kind, rows[:MOST_TOKENS], columns[:MOST_TOKENS], few)


def last_samples(run: Run) -> tuple[int, list[dict[str, str]]]:
    """The step of the last samples, and the samples."""
    for path in sorted(run.samples.glob("step-????????.json"), reverse=True):
        step = int(path.stem.removeprefix("step-"))
        if found := read_samples(run, step):
            return step, found
    return 0, []


def first_sample(run: Run, step: int) -> list[str] | None:
    """An example for a model that reads text: the first sample; without one, standard input is read."""
    sample = next(iter(read_samples(run, step)), None)
    return [] if sample is None else [next(iter(sample.values()))]


def write_samples(run: Run, step: int, samples: Sequence[Mapping[str, str]]) -> None:
    """Write the samples of a step; in every task, the first value of a row can be given to the model again."""
    with disk(run.samples):
        run.samples.mkdir(exist_ok=True)
    write_json(samples_file(run, step), [dict(sample) for sample in samples])


def read_samples(run: Run, step: int) -> list[dict[str, str]]:
    """The samples of a step; empty if there was no evaluation."""
    path = samples_file(run, step)
    return [{name: str(text) for name, text in row.items()} for row in read_json(path)] if path.is_file() else []
