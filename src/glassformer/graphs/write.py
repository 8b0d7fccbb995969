"""A graph as a file: torch traces the module, onnxscript writes it, and onnxruntime must give the same numbers."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.errors import ConfigError
from glassformer.files import disk, write_bytes
from glassformer.graphs.forms import ALL, BATCH, LENGTH, PAST, SOURCE, Graph
from glassformer.layers.attention import MultiHeadAttention

PACKAGES = ("onnx", "onnxscript", "onnxruntime")
OPSET = 18
LARGEST = 2**30 * 3 // 2  # bytes of weights in one file; its format ends at 2 GiB
TOLERANCE = 1e-5  # of the largest number of an output, if that is above 1
# What is tried after writing. Each axis is 1 once, and the past is empty once: what the tracing took for granted shows.
TRIED = ((1, 1, 0, 1), (1, 5, 0, 3), (3, 4, 0, 6), (2, 1, 7, 5), (1, 1, 3, 1), (4, 3, 2, 4))
TRACED = (2, 3, 4, 5)


def check_packages() -> None:
    """Raises unless everything is installed that writing and trying a graph needs."""
    if not all(find_spec(name) for name in PACKAGES):
        raise ConfigError("needs_package", what="--to onnx", package="glassformer[onnx]")


def axis_sizes(batch: int, length: int, past: int, source: int) -> dict[str, int]:
    return {BATCH: batch, LENGTH: length, PAST: past, SOURCE: source, ALL: past + length}


def write_graph(graph: Graph, path: Path) -> None:
    """Write one file; weights that are too many for it go into a second one beside it."""
    program = _traced(graph)
    _forget(program.model.graph)
    size = sum(x.numel() * x.element_size() for x in graph.module.state_dict().values())
    if size < LARGEST:
        write_bytes(path, program.model_proto.SerializeToString(), durable=False)
        return
    with disk(path), quiet():
        program.save(path, external_data=True)


def _traced(graph: Graph) -> Any:
    """The graph with all named axes left open."""
    samples = graph.samples(axis_sizes(*TRACED))
    shapes = [{i: axis for i, axis in enumerate(each.axes) if isinstance(axis, str)} for each in graph.inputs.values()]
    try:
        with quiet(), readable_attention(graph.module), torch.no_grad():
            return torch.onnx.export(
                graph.module.eval(),
                samples,
                dynamo=True,
                input_names=list(graph.inputs),
                output_names=list(graph.outputs),
                dynamic_shapes=_like_arguments(graph.module, shapes),
                opset_version=OPSET,
                verbose=False,
            )
    except torch.onnx.OnnxExporterError as error:
        why = next((line for line in reversed(str(error).splitlines()) if line.startswith("<class")), str(error))
        raise ConfigError("onnx_refused", name=graph.name, why=why.splitlines()[0]) from error


def _forget(graph: Any) -> None:
    """Remove the notes of the tracing, which say line by line where in our files a node comes from."""
    outputs = [value for node in graph for value in node.outputs]
    for each in (graph, *graph, *outputs, *graph.inputs, *graph.initializers.values()):
        each.metadata_props.clear()


def _like_arguments(module: nn.Module, shapes: list[Any]) -> tuple[Any, ...]:
    """One entry per parameter of `forward`; those of `*rest` are one tuple."""
    code = module.forward.__code__
    named = code.co_argcount - 1  # without self
    return (*shapes[:named], tuple(shapes[named:])) if code.co_flags & 0x04 else tuple(shapes)


@contextmanager
def readable_attention(module: nn.Module) -> Iterator[None]:
    """The equation instead of the fused kernel, which would give NaN in ONNX where a query may look at nothing."""
    attentions = [each for each in module.modules() if isinstance(each, MultiHeadAttention)]
    before = [each.kernel for each in attentions]
    for each in attentions:
        each.kernel = "reference"
    try:
        yield
    finally:
        for each, kernel in zip(attentions, before, strict=True):
            each.kernel = kernel


@contextmanager
def quiet() -> Iterator[None]:
    """Silence what the libraries say of themselves while they work."""
    logs = [logging.getLogger(name) for name in ("torch.onnx", "torch.export", "onnxscript", "onnx_ir")]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)


def open_graph(path: Path) -> Any:
    """The file as onnxruntime opens it, on the CPU."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


@torch.inference_mode()
def largest_difference(graph: Graph, path: Path) -> float:
    """How far onnxruntime is from torch over several batches and lengths; raises if it is further than rounding."""
    try:
        session = open_graph(path)
    except Exception as error:  # onnxruntime has a class for each of its codes
        raise ConfigError("onnx_refused", name=graph.name, why=str(error).splitlines()[0]) from error
    worst = 0.0
    for seed, sizes in enumerate(TRIED):
        given = graph.samples(axis_sizes(*sizes), seed)
        ours = graph.module(*(x.clone() for x in given))
        theirs = session.run(None, dict(zip(graph.inputs, (x.numpy() for x in given), strict=True)))
        for name, one, other in zip(graph.outputs, _as_tuple(ours), theirs, strict=True):
            difference = distance(one, torch.from_numpy(other))
            if not difference <= TOLERANCE:
                raise ConfigError("onnx_differs", name=graph.name, output=name, difference=f"{difference:.1e}")
            worst = max(worst, difference)
    return worst


def distance(one: Tensor, other: Tensor) -> float:
    """The largest difference, as a share of the largest number where that is above 1."""
    return float((one - other).abs().max() / one.abs().max().clamp(min=1.0))


def _as_tuple(output: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return (output,) if isinstance(output, Tensor) else output
