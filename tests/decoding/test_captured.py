"""Decoding with keys and values in slots; recording it needs an accelerator, the slots do not."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Iterator

import pytest
import torch
from torch import nn

from decoding import ENDS, FAMILIES, PAD, lively, sources
from glassformer.decoding import Beams, Limits, beam_search, captured, greedy, stream_tokens
from glassformer.errors import InputError
from glassformer.layers.attention import slots as slotting
from glassformer.tap import observed
from glassformer.trace.record import record
from glassformer.training.precision import matmul_precision


@pytest.fixture
def slotted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slots without an accelerator."""
    monkeypatch.setattr(captured, "may_be_slotted", lambda decoder, state: state.cache.length > 0)
    monkeypatch.setattr(captured, "_OF_MODEL", type(captured._OF_MODEL)())


@pytest.mark.parametrize("slots", [2, 5, 32])
@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("position", ["sinusoidal", "learned", "rotary"])
@pytest.mark.parametrize("family", FAMILIES)
def test_beams_find_the_same(
    family: str, position: str, width: int, slots: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, (source, mask) = lively(family, position), sources()
    limits, beams = Limits(max_len=14, **ENDS), Beams(width=width)
    expected = beam_search(model, source, mask, limits=limits, beams=beams, n_best=width)
    lengths = {len(one.tokens) for best in expected for one in best}
    assert len(lengths) > 1 or family == "decoder"  # sentences leave at different steps
    request.getfixturevalue("slotted")
    monkeypatch.setattr(slotting, "SLOTS", slots)
    for _ in range(2):  # the second time in slots that have been used
        found = beam_search(model, source, mask, limits=limits, beams=beams, n_best=width)
        assert [[one.tokens for one in best] for best in found] == [[one.tokens for one in best] for best in expected]
        for best, other in zip(expected, found, strict=True):
            assert [one.score for one in other] == pytest.approx([one.score for one in best], abs=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_finds_the_same(family: str, request: pytest.FixtureRequest) -> None:
    model, (source, mask) = lively(family), sources()
    limits = Limits(max_len=14, **ENDS)
    expected = greedy(model, source, mask, limits=limits)
    request.getfixturevalue("slotted")
    assert [one.tokens for (one,) in greedy(model, source, mask, limits=limits)] == [one.tokens for (one,) in expected]


def tight() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """A table of 20 positions, and prompts of which the longest leaves room for 3 tokens more, the shortest for 19."""
    tokens = torch.randint(3, 40, (4, 18), generator=torch.Generator().manual_seed(1))
    return lively("decoder", "learned", max_len=20), tokens, torch.arange(18) >= torch.tensor([[0], [16], [9], [1]])


@pytest.mark.parametrize("width", [None, 3])
def test_rows_that_have_left_stay_within_the_table_of_positions(
    width: int | None, request: pytest.FixtureRequest
) -> None:
    model, source, mask = tight()
    limits, beams = Limits(eos=None, forbidden=(PAD,)), Beams(width=width or 1)

    def decoded() -> list[list[int]]:
        if width is None:
            return [one.tokens for (one,) in greedy(model, source, mask, limits=limits)]
        return [best[0].tokens for best in beam_search(model, source, mask, limits=limits, beams=beams)]

    expected = decoded()
    assert [len(tokens) for tokens in expected] == [3, 19, 12, 4]
    request.getfixturevalue("slotted")
    assert decoded() == expected


@pytest.mark.usefixtures("slotted")
@pytest.mark.parametrize("family", FAMILIES)
def test_two_streams_at_once_do_not_disturb_each_other(family: str) -> None:
    model, (source, mask) = lively(family), sources()
    limits = Limits(max_len=14, **ENDS)

    def stream(rows: slice) -> object:
        return stream_tokens(model, source[rows], mask[rows], limits=limits)

    halves = slice(0, 3), slice(3, 6)
    alone = [list(stream(rows)) for rows in halves]
    together: list[list[object]] = [[], []]
    running = [stream(rows) for rows in halves]
    for _ in range(14):
        for taken, one in zip(together, running, strict=True):
            taken += [row for row in [next(one, None)] if row is not None]  # type: ignore[call-overload]
    assert together == alone


@pytest.mark.parametrize("family", FAMILIES)
def test_an_observer_that_comes_later_is_shown_the_step(
    family: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sees the sentences of the batch and no empty rows; afterwards the state moves into slots again."""
    model, (source, mask) = lively(family), sources()

    def stream() -> Iterator[list[int | None]]:
        return stream_tokens(model, source, mask, limits=Limits(max_len=14, eos=None, bos=ENDS["bos"]))

    expected = list(stream())
    request.getfixturevalue("slotted")
    monkeypatch.setattr(captured, "may_be_slotted", lambda decoder, state: state.cache.length > 0 and not observed())
    running = stream()
    found = [next(running) for _ in range(4)]
    with record(model, "decoder.blocks.0.self_attention.output") as trace:
        found += [next(running), next(running)]
    (seen,) = trace.tensors.values()
    assert seen.shape[:2] == (len(source), 1)
    assert [*found, *running] == expected


@pytest.mark.usefixtures("slotted")
def test_few_sizes_are_kept_and_none_when_the_model_is_gone() -> None:
    model, limits = copy.deepcopy(lively("encoder-decoder", max_len=256)), Limits(max_len=4, **ENDS)
    for length in range(1, 200, 8):
        greedy(model, torch.full((1, length), 5), limits=limits)
    known = captured.slots_of(model).slots
    assert len(known) == captured.KEPT and {sizes.source % 16 for sizes in known} == {0}
    seen = weakref.ref(model)
    del model, known
    gc.collect()
    assert seen() is None and not captured._OF_MODEL


@pytest.mark.usefixtures("slotted")
def test_a_table_of_positions_that_has_moved_is_not_read_where_it_was() -> None:
    model, (source, mask) = copy.deepcopy(lively("encoder-decoder")), sources()
    greedy(model, source, mask, limits=Limits(max_len=4, **ENDS))
    known = captured.slots_of(model)
    assert captured.slots_of(model) is known
    model.double()  # it is already; its sinusoids are computed anew all the same
    assert captured.slots_of(model) is not known


GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")


@pytest.mark.gpu
@GPU
@pytest.mark.parametrize("position", ["sinusoidal", "learned", "rotary"])
@pytest.mark.parametrize("family", FAMILIES)
def test_recorded_steps_find_the_same(family: str, position: str) -> None:
    model, (source, mask) = lively(family, position), sources()
    limits, beams = Limits(max_len=40, **ENDS), Beams(width=4)
    expected = [best[0].tokens for best in beam_search(model, source, mask, limits=limits, beams=beams)]
    there = copy.deepcopy(model).to("cuda")
    for _ in range(3):  # at first computed, then recorded, then replayed from the first step on
        found = beam_search(there, source.cuda(), mask.cuda(), limits=limits, beams=beams)
        assert [best[0].tokens for best in found] == expected
    assert any(slots.graph is not None for slots in captured.slots_of(there).slots.values())
    low = copy.deepcopy(model).float().to("cuda")
    with torch.autocast("cuda", torch.bfloat16):  # the copies of its weights are gone when it ends
        greedy(low, source.cuda(), mask.cuda(), limits=limits)
    assert not captured.slots_of(low).slots


@pytest.mark.gpu
@GPU
@pytest.mark.parametrize("width", [1, 3])
def test_the_end_of_the_table_on_an_accelerator(width: int) -> None:
    model, source, mask = tight()
    limits, beams = Limits(eos=None, forbidden=(PAD,)), Beams(width=width)
    expected = [best[0].tokens for best in beam_search(model, source, mask, limits=limits, beams=beams)]
    found = beam_search(copy.deepcopy(model).cuda(), source.cuda(), mask.cuda(), limits=limits, beams=beams)
    torch.cuda.synchronize()
    assert [best[0].tokens for best in found] == expected


@pytest.mark.gpu
@GPU
@pytest.mark.parametrize("most", [1, 2, 3, 8])
def test_what_is_not_finite_is_noticed_in_the_last_step_too(most: int) -> None:
    model, (source, mask) = copy.deepcopy(lively("encoder-decoder")).cuda(), sources()
    model.decoder.final_norm.weight.data.fill_(float("nan"))
    with pytest.raises(InputError, match="not finite"):
        beam_search(model, source.cuda(), mask.cuda(), limits=Limits(max_len=most, **ENDS))


def test_a_step_recorded_in_another_precision_is_not_used() -> None:
    model = nn.Linear(2, 2)
    before = captured.slots_of(model)
    assert captured.slots_of(model) is before
    with matmul_precision("high"):
        assert captured.slots_of(model) is not before
