from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, asdict

import pytest
import torch
from torch import nn

import glassformer as gf
from decoding import BOS, FAMILIES, PAD, POSITIONS, VOCABULARY, lively, sources
from glassformer.decoding.step import (
    DecodableDecoder,
    DecodableEncoderDecoder,
    Hypothesis,
    State,
    align_right,
    as_decodable,
    check_token,
    evaluating,
    padding_of,
)
from glassformer.errors import ConfigError, InputError
from glassformer.layers.attention import Cache
from glassformer.layers.position import POSITIONS as KINDS
from glassformer.layers.position import table_size


def test_a_hypothesis_is_a_value() -> None:
    one = Hypothesis([3, 4], -0.5, -1.0, True)
    assert asdict(one) == {"tokens": [3, 4], "score": -0.5, "log_probability": -1.0, "finished": True}
    with pytest.raises(FrozenInstanceError):
        one.score = 0.0  # type: ignore[misc]


def state() -> State:
    cache = Cache.empty(1)
    rows = torch.arange(3.0).reshape(3, 1, 1, 1)
    with torch.inference_mode():
        cache.layers[0].past.append(rows, rows)
        cache.layers[0].memory.append(rows, rows)
    memory = rows.reshape(3, 1, 1)
    return State(cache, memory[:, 0] > 0, memory, memory[:, 0] > 1)


def numbers(of: State) -> list[list[float]]:
    layer = of.cache.layers[0]
    assert of.memory is not None and of.mask is not None and of.memory_mask is not None
    tensors = (layer.past.whole()[0], layer.memory.whole()[1], of.memory, of.mask, of.memory_mask)
    return [x.flatten().tolist() for x in tensors]


@torch.inference_mode()
def test_rows_repeated_leave_the_original_as_it_was() -> None:
    old = state()
    before = numbers(old)
    rows = [0.0, 0.0, 2.0]
    assert numbers(old.repeated(torch.tensor([0, 0, 2]))) == [
        rows, rows, rows, [False, False, True], [False, False, True],
    ]  # fmt: skip
    assert numbers(old) == before


@torch.inference_mode()
def test_beams_branch_and_sentences_leave() -> None:
    now = state()  # one position of each; that of the first text is padding
    now.branch(torch.tensor([[0, 0], [0, 0], [0, 0]]))
    assert now.branches is not None and now.mask is None
    assert now.branches.seen.long().tolist() == [
        [[0, 1, 0], [0, 0, 1]],
        [[1, 1, 0], [1, 0, 1]],
        [[1, 1, 0], [1, 0, 1]],
    ]
    assert now.branches.at.tolist() == [[0, 0], [1, 1], [1, 1]]
    now.cache.layers[0].past.append(*(torch.zeros(3, 1, 2, 1),) * 2)
    now.keep(torch.tensor([0, 2]))
    now.branch(torch.tensor([[1, 1], [1, 0]]))
    assert now.branches is not None and now.branches.distance is not None
    assert now.branches.seen.long().tolist() == [
        [[0, 0, 1, 1, 0], [0, 0, 1, 0, 1]],
        [[1, 0, 1, 1, 0], [1, 1, 0, 0, 1]],
    ]
    assert now.branches.at.tolist() == [[1, 1], [2, 2]]
    assert now.branches.distance.tolist() == [[-2, -1, -1, 0, 0]] * 2
    assert now.memory is not None and now.memory.flatten().tolist() == [0.0, 2.0]
    assert now.memory_mask is not None and now.memory_mask.flatten().tolist() == [False, True]
    assert [x.shape[0] for x in now.cache.layers[0].memory.whole()] == [2, 2]  # one row for both branches


SIZES = {"vocab_size": 9, "max_len": 30, "d_model": 8, "n_heads": 2, "d_ff": 8}


@pytest.mark.many
@torch.inference_mode()
@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_steps_give_what_the_whole_pass_gives(family: str, position: str) -> None:
    model, (source, mask) = lively(family, position), sources()
    decodable = as_decodable(model, BOS)
    start = decodable.start(source, mask)
    tokens, given = start.tokens, torch.tensor([[5], [6], [7], [8]] * 3)
    assert decodable.vocab_size == VOCABULARY
    for i in range(4):
        found = decodable.step(tokens, start.state)
        for row, length in enumerate(start.lengths):
            alone = source[row : row + 1, :length]
            new = torch.cat([given[row : row + 1]] * i, 1) if i else alone[:, :0]
            if family == "decoder":
                expected = model(torch.cat([alone, new], 1))[:, -1]
            else:
                expected = model(alone, torch.cat([torch.tensor([[BOS]]), new], 1))[:, -1]
            torch.testing.assert_close(found[row : row + 1], expected, atol=1e-10, rtol=0)
        tokens = given


@torch.inference_mode()
def test_the_memory_is_projected_once() -> None:
    model = lively("encoder-decoder")
    decodable = as_decodable(model, BOS)
    start = decodable.start(*sources())
    decodable.step(start.tokens, start.state)
    known = start.state.cache.layers[0].memory.k
    decodable.step(start.tokens, start.state)
    assert start.state.cache.layers[0].memory.k is known


@torch.inference_mode()
def test_rows_of_a_start_repeated() -> None:
    decodable = as_decodable(lively("decoder"), None)
    start = decodable.start(*sources(rows=3))
    twice = start.repeated(2)
    assert start.repeated(1) is start
    assert twice.lengths == [length for length in start.lengths for _ in range(2)]
    assert twice.room == [64 - length + 1 for length in twice.lengths]
    logits = decodable.step(start.tokens, start.state)
    torch.testing.assert_close(decodable.step(twice.tokens, twice.state), logits.repeat_interleave(2, 0))


def test_prompts_end_in_the_same_column_wherever_their_padding_is() -> None:
    source = torch.tensor([[3, 4, 0, 0, 0], [0, 0, 5, 6, 0], [7, 0, 8, 0, 9]])
    aligned, mask, lengths = align_right(source, source > 0)
    assert aligned.tolist() == [[0, 3, 4], [0, 5, 6], [7, 8, 9]]
    assert mask is not None and mask.tolist() == [[False, True, True], [False, True, True], [True, True, True]]
    assert lengths == [2, 2, 3]


def test_prompts_of_one_length_need_no_mask() -> None:
    source = torch.tensor([[3, 4, 0], [0, 5, 6]])
    aligned, mask, lengths = align_right(source, source > 0)
    assert (aligned.tolist(), mask, lengths) == ([[3, 4], [5, 6]], None, [2, 2])
    aligned, mask, lengths = align_right(source, None)
    assert (aligned is source, mask, lengths) == (True, None, [3, 3])


def test_a_mask_that_hides_nothing_is_none() -> None:
    source = torch.tensor([[3, 4]])
    assert padding_of(source, None) is None
    assert padding_of(source, source > 0) is None
    assert padding_of(source, source > 3) is not None


@pytest.mark.parametrize(
    ("position", "size"),
    [("sinusoidal", 30), ("learned", 30), ({"kind": "learned", "offset": 2}, 30), ("rotary", None), ("alibi", None)],
)
def test_the_size_of_the_table_of_positions(position: object, size: int | None) -> None:
    model = gf.build({"family": "decoder", "position": position, **SIZES})
    assert table_size(model.decoder.positions) == size


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_is_counted_ends_where_its_table_ends(kind: str) -> None:
    """One list of kinds with a table: what cannot be written cannot be counted, and the reverse."""
    config = {"family": "decoder", "position": kind, "head": "language_model", **SIZES}
    room = table_size(gf.build(config).decoder.positions)
    gf.count(config, run=gf.Pass(length=30)).to_json()
    if room is None:
        gf.count(config, run=gf.Pass(length=31)).to_json()
    else:
        with pytest.raises(ConfigError, match="30"):
            gf.count(config, run=gf.Pass(length=room + 1)).to_json()


@torch.inference_mode()
def test_room_behind_a_source() -> None:
    source, mask = torch.tensor([[3, 4, 5], [6, 0, 0]]), torch.tensor([[True] * 3, [True, False, False]])
    translation = gf.build({"family": "encoder-decoder", "head": "language_model", **SIZES}, seed=0)
    prompt = gf.build({"family": "decoder", "head": "language_model", **SIZES}, seed=0)
    endless = gf.build({"family": "decoder", "position": "rotary", "head": "language_model", **SIZES}, seed=0)
    assert as_decodable(translation, 1).start(source, mask).room == [30, 30]
    assert as_decodable(prompt, 1).start(source, mask).room == [28, 30]
    assert as_decodable(endless, 1).start(source, mask).room is None


def test_evaluating_gives_every_module_its_mode_back() -> None:
    model = nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5)))
    model.train()
    model[1].eval()
    with pytest.raises(RuntimeError), evaluating(model):
        assert not any(module.training for module in model.modules())
        raise RuntimeError
    assert [module.training for module in model.modules()] == [True, True, False, False]


def test_the_way_to_decode_a_model() -> None:
    assert isinstance(as_decodable(lively("encoder-decoder"), BOS), DecodableEncoderDecoder)
    assert isinstance(as_decodable(lively("decoder"), None), DecodableDecoder)


@pytest.mark.parametrize(
    "table",
    [
        {"family": "encoder", "head": "language_model", **SIZES},
        {"family": "decoder", "head": "none", **SIZES},
        {"family": "decoder", "head": {"kind": "classifier", "classes": 2}, **SIZES},
        {"family": "decoder", "input": "vectors", "head": "language_model", **SIZES},
    ],
)
def test_a_model_that_cannot_generate(table: dict[str, object]) -> None:
    model = gf.build(table, seed=0)
    with pytest.raises(InputError, match=f"{type(model).__name__} cannot generate: it has no language-model head"):
        as_decodable(model, BOS)


def test_an_encoder_decoder_needs_a_beginning() -> None:
    with pytest.raises(InputError, match="bos is missing, and an encoder-decoder starts its target with it"):
        as_decodable(lively("encoder-decoder"), None)
    with pytest.raises(InputError, match="bos=40 is not in the vocabulary; use whole numbers from 0 to 39"):
        as_decodable(lively("encoder-decoder"), VOCABULARY)
    assert check_token("bos", 39, VOCABULARY) == 39


def test_an_empty_prompt() -> None:
    decodable = as_decodable(lively("decoder"), None)
    with pytest.raises(InputError, match=re.escape("prompt 0 (counted from 0) is empty")):
        decodable.start(torch.zeros(2, 0, dtype=torch.long), None)
    with pytest.raises(InputError, match=re.escape("prompt 1 (counted from 0) is empty")):
        decodable.start(torch.tensor([[3], [PAD]]), torch.tensor([[True], [False]]))


def test_prompts_and_masks_of_other_shapes() -> None:
    decodable = as_decodable(lively("decoder"), None)
    with pytest.raises(InputError, match=re.escape("tokens have shape (3,) and type int64")):
        decodable.start(torch.tensor([3, 4, 5]), None)
    with pytest.raises(InputError, match=re.escape("the mask has shape (1, 2), and the source 2 × 2")):
        decodable.start(torch.tensor([[3, 4], [5, 6]]), torch.tensor([[True, False]]))
    with pytest.raises(InputError, match="real has type int64; use booleans"):
        decodable.start(torch.tensor([[3, 4]]), torch.tensor([[1, 0]]))


def test_a_prompt_longer_than_the_table() -> None:
    decodable = as_decodable(lively("decoder"), None)
    with pytest.raises(InputError, match="the text has 65 positions, and max_len=64"):
        decodable.start(torch.full((1, 65), 3), None)
