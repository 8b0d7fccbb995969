"""graphs.json: what a program must know besides the graphs: their inputs, the ids around a text, labels, scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glassformer.data.panel import Scaler
from glassformer.graphs.forms import PAST, Graph
from glassformer.hub.generation import read_generation
from glassformer.hub.pixels import describe_pixels
from glassformer.loading import Loaded
from glassformer.tasks.classification.classify import class_names
from glassformer.tasks.output_ids import forbidden_and_ends, forbidden_ids
from glassformer.tasks.search import SearchOptions
from glassformer.tasks.text_inputs import position_limit
from glassformer.tasks.translation.translate import as_trained
from glassformer.version import __version__

DESCRIPTION = "graphs.json"


def describe(loaded: Loaded, graphs: Sequence[Graph]) -> dict[str, Any]:
    """The whole table; it holds only what the task needs."""
    config = loaded.config
    table: dict[str, Any] = {
        "glassformer": __version__,
        "task": loaded.task,
        "graphs": {
            graph.name: {
                "inputs": {name: list(each.axes) for name, each in graph.inputs.items()},
                "outputs": list(graph.outputs),
            }
            for graph in graphs
        },
        "cache": {
            name: [each.axes[1], each.axes[3]]
            for name, each in graphs[-1].inputs.items()
            if PAST in each.axes  # b g s d: heads and width
        },
    }
    if loaded.tokenizers is not None:
        table |= _text(loaded)
    if loaded.labels:
        table["labels"] = class_names(loaded.labels, max(len(loaded.labels), 2))
    if config.model.input.kind == "image":
        table["pixels"] = describe_pixels(config)
    if loaded.task == "forecasting":
        scales = Scaler.open(loaded.folder).scales
        table["scales"] = {name: vars(scale) for name, scale in scales.items()}
    return table


def _text(loaded: Loaded) -> dict[str, Any]:
    """The ids before and after a text and, where the model writes, what its own text begins with and may contain."""
    frame, specials = loaded.frame, loaded.vocabularies.target.specials
    table: dict[str, Any] = {"begin": frame.front, "end": frame.back, "positions": position_limit(loaded)}
    if loaded.task == "masked_language_model":
        table["mask"] = specials.need("mask")
    defaults = read_generation(loaded.foreign)
    if loaded.task == "language_model":
        roles, said = forbidden_and_ends(loaded.config.task.options)
        ends = said or ((specials.eos,) if specials.eos is not None else ())
        never = {*forbidden_ids(specials, roles, said), *defaults.suppressed} - {*ends}
        table |= {"end": [], "ends": sorted(ends), "forbidden": sorted(never)}
    if loaded.task == "translation":
        search = as_trained(SearchOptions(), loaded.config)
        ends = search.ends or (specials.need("eos"),)
        never = {*forbidden_ids(specials, search.forbidden, search.ends), *defaults.suppressed} - {*ends}
        first = [] if search.first == "none" else [specials.need(search.first)]
        start = [specials.need(search.start), *first]
        limits = [most for most in (defaults.longest(1), table["positions"]) if most is not None]
        table |= {
            "start": start,
            "ends": sorted(ends),
            "forbidden": sorted(never),
            "longest": min(limits, default=None),
        }
        table["last"] = None if search.last == "none" else specials.need(search.last)
    return table
