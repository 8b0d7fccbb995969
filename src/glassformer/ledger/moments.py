"""What is alive at the moments of a step at which memory can be fullest; the peak is the largest of them.

For a loop that frees the gradients before each forward pass. On an accelerator as a long training runs there:
compiled, and with the loss of a wide head in chunks (`loss="whole"`: for a loop that does not keep the logits).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from glassformer.config.model import ModelConfig
from glassformer.formula import evaluate_formula, in_numbers, total
from glassformer.ledger.costs import (
    COUNTING,
    NUMBER_BYTES,
    OPTIMIZER_STATES,
    Cost,
    Pass,
    Passed,
    chunked_loss,
    slot_sizes,
)
from glassformer.ledger.reading import CostEntry
from glassformer.ledger.rows import ParameterRow, part_location
from glassformer.models.check import input_positions
from glassformer.models.in_symbols import InSymbols


@dataclass(frozen=True)
class Bytes:
    """An amount of memory: its name (a key of words/), its formula in symbols and in numbers, and its value."""

    name: str
    formula: str
    numbers: str
    amount: int

    @classmethod
    def of(cls, name: str, formula: str, **values: int) -> Bytes:
        return cls(name, formula, in_numbers(formula, values), evaluate_formula(formula, values))

    @classmethod
    def sum(cls, name: str, entries: Iterable[CostEntry]) -> Bytes:
        entries = tuple(entries)
        numbers = total(in_numbers(entry.formula, entry.values) for entry in entries)
        return cls(name, total(entry.formula for entry in entries), numbers, sum(entry.amount for entry in entries))


def training_moments(
    config: ModelConfig, run: Pass, model: InSymbols, rows: Mapping[str, ParameterRow], costs: Mapping[str, Cost]
) -> dict[str, tuple[Bytes, ...]]:
    """What is alive at some moments of a step.

    loss    it is being computed (in chunks) or differentiated (whole), and all activations are still in memory
    slopes  in chunks: its slopes are scaled
    block   the backward pass enters the last block: the head's gradient exists, the head's inputs are freed
    update  all gradients exist, and no activations
    """
    always = _always(run, model, rows)
    kept = sum(cost.saved * model.times(part) for part, cost in costs.items())
    head = sum(cost.saved for part, cost in costs.items() if part.split(".")[0] == "head")
    sizes = _sizes(config, run)
    has_logits = config.head.kind == "language_model"
    embedding = "vocab_size×d_model×w" if has_logits else "0"
    tied = config.tie_embeddings in ("output", "all") and has_logits
    recomputed = _largest_block(costs)
    all_kept = Bytes("kept", "kept", f"{kept}", kept)
    losses = _losses(run, model, costs, sizes, has_logits)
    return {
        **{name: (*always, all_kept, *held) for name, held in losses.items()},
        "block": (
            *always,
            Bytes("kept", "kept-head", f"{kept}-{head}", kept - head),
            Bytes("again", "one block", f"{recomputed}", recomputed),
            Bytes.of("gradients", embedding, **sizes),
            Bytes.of("flow", "2×b×t×d_model×c+2×b×t×d_ff×c", **sizes),
        ),
        "update": (
            *always,
            Bytes.of("gradients", "parameters×w", parameters=_parameters(model, rows), w=sizes["w"]),
            Bytes.of("flow", embedding if tied else "0", **sizes),  # a tied matrix gets its gradient from both ends
        ),
    }


def _always(run: Pass, model: InSymbols, rows: Mapping[str, ParameterRow]) -> tuple[Bytes, ...]:
    """What lasts from step to step."""
    w, n = NUMBER_BYTES[run.dtype], _parameters(model, rows)
    buffers = sum(row.buffers * model.times(row.name) for row in rows.values())
    tensors = sum(row.trained_tensors * model.times(row.name) for row in rows.values())
    counters = "tensors×4" if run.optimizer in COUNTING else "0"
    return (
        Bytes.of("weights", "parameters×w", parameters=n, w=w),
        Bytes.of("buffers", "buffers×w", buffers=buffers, w=w),
        Bytes.of("optimizer", "states×parameters×w", states=OPTIMIZER_STATES[run.optimizer], parameters=n, w=w),
        Bytes.of("counters", counters, tensors=tensors),
    )


def _parameters(model: InSymbols, rows: Mapping[str, ParameterRow]) -> int:
    return sum(row.parameters * model.times(row.name) for row in rows.values())


def _sizes(config: ModelConfig, run: Pass) -> dict[str, int]:
    sizes = {"b": run.batch, "t": _positions(config, run), "d_model": config.d_model, "d_ff": config.d_ff}
    sizes |= {"vocab_size": config.output_vocab_size or 0, "w": NUMBER_BYTES[run.dtype], "c": run.product_bytes}
    return sizes | {"l": 4 if run.autocast else sizes["w"]}  # under autocast the loss is computed in float32


def _losses(
    run: Pass, model: InSymbols, costs: Mapping[str, Cost], sizes: Mapping[str, int], has_logits: bool
) -> dict[str, tuple[Bytes, ...]]:
    """The moments of the loss, with what each adds to the kept tensors."""
    chunks = chunked_loss(model, costs, run)
    if chunks is None:
        return {"loss": (Bytes.of("loss", "b×t×vocab_size×(2×l+c)" if has_logits else "0", **sizes),)}
    chunk, scaled = Bytes.sum("chunk", [chunks.forward]), Bytes.sum("scaled", [chunks.backward])
    return {"loss": (*_copies(run, model, costs), chunk), "slopes": (scaled,)}


def _copies(run: Pass, model: InSymbols, costs: Mapping[str, Cost]) -> tuple[Bytes, ...]:
    """The weights of recomputed blocks, as autocast has cast them: it keeps its copies until the forward pass ends.

    Of q, k and v of self-attention there are none: their product reads a matrix into which they are joined.
    """
    if not (run.autocast and run.recompute):
        return ()
    copies = sum(
        entry.amount * model.times(part)
        for part, cost in costs.items()
        for entry in cost.recomputed
        if entry.name.endswith(".weight") and not part.endswith(".self_attention.qkv")
    )
    return (Bytes("copies", "copies", f"{copies}", copies),)


def _positions(config: ModelConfig, run: Pass) -> int:
    """Positions of the stream that the head sees."""
    source = input_positions(config) or run.length
    return source if config.family != "encoder-decoder" else config.queries or run.target_length or run.length


def _largest_block(costs: Mapping[str, Cost]) -> int:
    blocks: dict[tuple[str, str], int] = {}
    for part, cost in costs.items():
        where = part_location(part)
        block = where.stack, where.layer
        blocks[block] = blocks.get(block, 0) + sum(entry.amount for entry in cost.recomputed)
    return max(blocks.values(), default=0)


def decoding_moments(
    config: ModelConfig, run: Pass, done: Passed, sums: Mapping[str, int]
) -> dict[str, tuple[Bytes, ...]]:
    """After a step of decoding: the weights and the cache; in slots also what else is at fixed places.

    That is, for each branch: the next slot, its token, its position, the branch that it continues and the slots that it
    sees; and the encoder's output with its mask. While tokens branch, there is a copy of what they see.
    """
    held = [Bytes(name, name, f"{amount}", amount) for name, amount in sums.items()]
    slots = slot_sizes(done, run)
    if slots is None or done.cache is None:
        return {"decoding": tuple(held)}
    sizes = slots | {"d_model": config.d_model, "w": NUMBER_BYTES[run.dtype]}
    memory = "+sentences×source×(d_model×w+1)" if config.family == "encoder-decoder" else ""
    places = f"beams×(8+8+beams)+sentences×beams×(8+8+8+slots){memory}"
    return {
        "decoding": (*held, Bytes.of("places", places, **sizes), Bytes.of("seen", "sentences×beams×slots", **sizes))
    }
