"""The benchmarks by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from glassformer.bench import (
    decoding,
    explorer,
    families,
    full_size,
    gpt_step,
    growth,
    initial_loss,
    loading,
    peak_memory,
    pretrained,
    published,
    published_runs,
    ragged,
    real,
    recipe_time,
    recording,
    several_ranks,
    startup,
    table3,
    tasks,
    training_step,
    translation,
    weight_layout,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from glassformer.show.theme import Theme


class Benchmark(NamedTuple):
    """A measurement (numbers and codes only), its table in a language (rows of text, the titles first), a picture."""

    run: Callable[[], dict[str, Any]]
    table: Callable[[dict[str, Any], str], list[list[str]]]
    draw: Callable[[dict[str, Any], Theme, str], Figure] | None = None


BENCHMARKS: dict[str, Benchmark] = {
    "published-sizes": Benchmark(published.run, published.table),
    "published-runs": Benchmark(published_runs.run, published_runs.table),
    "table3": Benchmark(table3.run, table3.table),
    "weight-layout": Benchmark(weight_layout.run, weight_layout.table),
    "startup": Benchmark(startup.run, startup.table),
    "peak-memory": Benchmark(peak_memory.run, peak_memory.table),
    "recording": Benchmark(recording.run, recording.table),
    "training-step": Benchmark(training_step.run, training_step.table),
    "gpt-step": Benchmark(gpt_step.run, gpt_step.table),
    "ragged": Benchmark(ragged.run, ragged.table),
    "several-ranks": Benchmark(several_ranks.run, several_ranks.table),
    **{name: Benchmark(partial(recipe_time.run, name), recipe_time.table) for name in recipe_time.WHOLE_RUNS},
    "decoding": Benchmark(decoding.run, decoding.table),
    "initial-loss": Benchmark(initial_loss.run, initial_loss.table),
    "translation": Benchmark(translation.run, translation.table),
    "tasks": Benchmark(tasks.run, tasks.table),
    **{name: Benchmark(partial(real.run, name), partial(real.table, name=name)) for name in real.REAL},
    "families": Benchmark(families.run, families.table),
    "loading": Benchmark(loading.run, loading.table),
    "pretrained": Benchmark(pretrained.run, pretrained.table),
    "full-size": Benchmark(full_size.run, full_size.table),
    "growth": Benchmark(growth.run, growth.table, growth.draw),
    "explorer": Benchmark(explorer.run, explorer.table),
}
