"""The moments of a step: slots of decoding against the slots themselves, and peaks against an accelerator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.decoding.captured import Sizes, Slots, may_be_slotted
from glassformer.decoding.state import State
from glassformer.errors import ConfigError
from glassformer.layers.attention import Cache, KeyValues, LayerCache
from glassformer.ledger.costs import Pass
from glassformer.ledger.memory import MemoryUse, memory
from glassformer.models.build import build
from glassformer.models.presets import PRESETS

SOURCE = 11
SMALL = {"d_model": 24, "n_heads": 4, "d_ff": 32, "vocab_size": 50, "n_decoder_layers": 3}
MODELS = {
    "translator": ModelConfig.from_dict({**SMALL, "n_encoder_layers": 2, "head": "language_model"}),
    "writer": ModelConfig.from_dict({**SMALL, "family": "decoder", "head": "language_model"}),
    "shared heads": ModelConfig.from_dict(
        {**SMALL, "family": "decoder", "n_kv_heads": 2, "position": "rotary", "head": "language_model"}
    ),
}


def state(config: ModelConfig, sentences: int, beams: int, past: int, device: str = "meta") -> State:
    """A search in the middle: `past` positions of every branch, the memory of every sentence."""

    def tensor(*shape: int) -> Tensor:
        return torch.zeros(*shape, dtype=torch.bfloat16, device=device)

    decoder: Any = build(config, device="meta").decoder
    own, memory = decoder.blocks[0].self_attention, None
    layers = []
    for _ in decoder.blocks:
        past_k, past_v = (tensor(sentences, own.n_kv_heads, past * beams, d) for d in (own.d_k, own.d_v))
        fixed = KeyValues(fixed=True)
        if config.family == "encoder-decoder":
            fixed.k, fixed.v = (tensor(sentences, own.n_kv_heads, SOURCE, d) for d in (own.d_k, own.d_v))
            memory = tensor(sentences, SOURCE, config.d_model)
        layers.append(LayerCache(KeyValues(past_k, past_v), fixed))
    return State(Cache(layers), memory=memory)


def slots(config: ModelConfig, sentences: int, beams: int, past: int, device: str = "meta") -> Slots:
    like = state(config, sentences, beams, past, device)
    return Slots(like, Sizes.of(torch.zeros(sentences, beams), like))


def held(made: Slots) -> int:
    """Bytes of all tensors of the slots, each storage once."""
    cache = [x for layer in made.state.cache.layers for x in (*layer.past.whole(), layer.memory.k, layer.memory.v)]
    branches = [made.at, made.own, made.parents, made.tokens, made.positions, made.seen, made.itself]
    whole = [made.past, *branches, made.state.memory, made.state.memory_mask]
    storages = [x.untyped_storage() for x in (*whole, *cache) if x is not None]
    return sum({storage._cdata: storage.nbytes() for storage in storages}.values())


def decoding(config: ModelConfig, sentences: int, beams: int, past: int) -> MemoryUse:
    length = SOURCE if config.family == "encoder-decoder" else 1
    rows = {"batch": sentences * beams, "beams": beams, "length": length, "target_length": 1, "past": past}
    return memory(config, Pass(**rows, training=False, dtype="bfloat16", device="cuda"))


def amounts(found: MemoryUse) -> dict[str, int]:
    return {each.name: each.amount for each in found.moments["decoding"]}


@pytest.mark.parametrize(("sentences", "beams", "past"), [(1, 1, 1), (5, 4, 31), (16, 1, 32), (33, 5, 100)])
@pytest.mark.parametrize("name", MODELS)
def test_the_static_cache_is_what_the_slots_allocate(name: str, sentences: int, beams: int, past: int) -> None:
    config = MODELS[name]
    found = decoding(config, sentences, beams, past)
    assert found.total("cache") + amounts(found)["places"] == held(slots(config, sentences, beams, past))


@pytest.mark.parametrize("name", MODELS)
def test_while_tokens_branch_there_is_a_copy_of_what_they_see(name: str) -> None:
    class Copies(TorchDispatchMode):
        bytes = 0

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = function(*args, **(kwargs or {}))
            if function in (torch.ops.aten.gather.default, torch.ops.aten.index_select.default):
                self.bytes += made.nbytes
            return made

    made = slots(MODELS[name], 3, 4, 6, "cpu")
    with Copies() as copies:
        made._compute(lambda tokens, state: tokens)
    assert amounts(decoding(MODELS[name], 3, 4, 6))["seen"] == copies.bytes > 0


@pytest.mark.parametrize(
    "changes",
    [{"window": 4}, {"position": Choice("alibi")}, {"position": Choice("none")}, {"d_v": 3}],
    ids=lambda changes: next(iter(changes)),
)
def test_what_cannot_be_in_slots_is_counted_as_it_grows(changes: dict[str, Any]) -> None:
    config = replace(MODELS["writer"], **changes)
    run = Pass(batch=4, length=1, past=9, training=False, device="cuda")
    assert memory(config, run).moments == memory(config, replace(run, device="cpu")).moments
    decoder: Any = build(config, seed=0).decoder
    assert not may_be_slotted(decoder, state(config, 4, 1, 9, "cpu"))


def test_the_first_pass_and_a_cpu_have_no_slots() -> None:
    for changes in ({"past": 0, "length": 9}, {"device": "cpu"}, {"length": 2}, {"autocast": True}):
        run = Pass(**{"batch": 4, "length": 1, "past": 9, "training": False, "device": "cuda", **changes})
        found = memory(MODELS["writer"], run)
        assert {each.name for each in found.moments["decoding"]} == {"weights", "buffers", "cache"}


def test_beams_share_the_memory_of_their_sentence() -> None:
    rows = {"batch": 20, "length": SOURCE, "target_length": 1, "past": 3, "training": False}
    alone, beams = (memory(MODELS["translator"], Pass(**rows, beams=n)).total("cache") for n in (1, 5))
    whole = 2 * 3 * 4 * 24  # of one position: k and v of three layers, four bytes
    assert (alone, beams) == (whole * 20 * (4 + SOURCE), whole * (20 * 4 + 4 * SOURCE))
    with pytest.raises(ConfigError, match="beams=3 does not divide batch=20; a batch counts rows: sentences × beams"):
        Pass(**rows, beams=3)


# --- on an accelerator ---


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no accelerator")
@pytest.mark.parametrize("autocast", [True, False])
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("preset", ["paper-base", "gpt2"])
def test_the_peak_of_a_captured_step(preset: str, compiled: bool, autocast: bool) -> None:
    from glassformer.bench.peak_memory import measured

    config = replace(PRESETS[preset](), n_encoder_layers=2 if preset == "paper-base" else None, n_decoder_layers=2)
    step = Pass(batch=16, length=512, device="cuda", autocast=autocast, compiled=compiled)
    assert memory(config, step).peak == pytest.approx(measured(config, step), rel=0.05)
