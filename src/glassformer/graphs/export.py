"""A model of ours as a folder for onnxruntime: its graphs, its tokenizer, what they take, and a README that runs them.

Each graph is run by onnxruntime before the folder appears: if its numbers are not those of torch, nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from glassformer.config.values import path_of
from glassformer.errors import InputError
from glassformer.files import write_json, write_text
from glassformer.graphs.describe import DESCRIPTION, describe
from glassformer.graphs.forms import graphs_of
from glassformer.graphs.readme import README_FILES, readme
from glassformer.graphs.write import check_packages, largest_difference, write_graph
from glassformer.hub.companion_files import save_tokenizers
from glassformer.hub.export import EXPORT_FOLDER
from glassformer.loading import Loaded, load
from glassformer.models.quantize import is_quantized
from glassformer.runs.output import claim_folder, drafted
from glassformer.runs.weights import AUTO
from glassformer.text.pipeline import TOKENIZER_FILE, Pipeline

GraphProgress = Callable[[int, int], None]  # graphs written, graphs in all


@dataclass(frozen=True)
class ExportedGraphs:
    """What was written. `difference`: the largest between onnxruntime and torch, over batches and lengths."""

    folder: Path
    graphs: tuple[str, ...]
    parameters: int
    difference: float
    tokenizer: bool | None  # whether other programs can read it; None without one


def export_onnx(
    model: str | Path | Loaded,
    out: str | Path,
    *,
    checkpoint: str | int = AUTO,
    force: bool = False,
    progress: GraphProgress | None = None,
) -> ExportedGraphs:
    """Write a run or an imported model in float32. The whole folder appears, or nothing.

    `force`: write into a folder that is not empty and was not made by an export.
    """
    check_packages()
    path_of("out", out)
    loaded = model if isinstance(model, Loaded) else load(model, checkpoint=checkpoint)
    if is_quantized(loaded.model):
        raise InputError("int8_saved")
    claim_folder(Path(out), EXPORT_FOLDER, force=force, inputs=[loaded.folder])
    graphs = graphs_of(_at_rest(loaded.model), loaded.config)
    worst = 0.0
    with drafted(Path(out), EXPORT_FOLDER, force=force, inputs=[loaded.folder]) as draft:
        for number, graph in enumerate(graphs):
            if progress is not None:
                progress(number, len(graphs))
            path = draft / f"{graph.name}.onnx"
            write_graph(graph, path)
            worst = max(worst, largest_difference(graph, path))
        readable = write_tokenizers(loaded, draft)
        table = describe(loaded, graphs)
        write_json(draft / DESCRIPTION, table)
        for lang, name in README_FILES.items():
            write_text(draft / name, readme(loaded, table, bool(readable), lang))
    return ExportedGraphs(
        folder=Path(out),
        graphs=tuple(f"{graph.name}.onnx" for graph in graphs),
        parameters=sum(x.numel() for x in loaded.model.parameters()),
        difference=worst,
        tokenizer=readable,
    )


def _at_rest(model: nn.Module) -> nn.Module:
    """The model in float32 on the CPU, without dropout; a copy if it is not, so that the caller's stays as it is."""
    weight = next(model.parameters())
    ready = weight.dtype == torch.float32 and weight.device.type == "cpu" and not model.training
    return model if ready else deepcopy(model).float().cpu().eval()


def write_tokenizers(loaded: Loaded, folder: Path) -> bool | None:
    """Write them; return whether each is a tokenizer.json, which the library `tokenizers` reads by itself."""
    if loaded.tokenizers is None:
        return None
    save_tokenizers(loaded.tokenizers, folder)
    source = loaded.tokenizers.source
    if loaded.tokenizers.joint and isinstance(source, Pipeline) and not (folder / TOKENIZER_FILE).is_file():
        write_text(folder / TOKENIZER_FILE, source.library.to_str(pretty=True))  # it came as vocab.json, vocab.txt …
    return isinstance(source, Pipeline) and isinstance(loaded.tokenizers.target, Pipeline)
