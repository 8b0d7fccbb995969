"""Batches without padding teach what padded ones teach."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from glassformer.config.recipe import TrainConfig
from glassformer.data.batch import Room
from glassformer.errors import InputError
from glassformer.losses import IGNORE
from glassformer.models.stack import Stack
from glassformer.tasks.translation.packed import PackedTranslation
from glassformer.training.compile import may_be_packed
from small_run import examples, run_config, small_model, translation

ROOM = Room(tokens=300, sentences=32, longest=30)


def packed(room: Room = ROOM, **keys: object) -> PackedTranslation:
    return PackedTranslation(task=translation(run_config(), **keys), room=room)


@pytest.mark.parametrize("position", ["sinusoidal", "learned", "rotary"])
@pytest.mark.parametrize("chunk", [0, 7])
def test_the_same_loss_and_the_same_gradients(position: str, chunk: int) -> None:
    config = run_config({"dropout": 0.0, "position": position})
    store, found = examples(11), []
    for task in (translation(config, chunk=chunk), packed(chunk=chunk)):
        model = small_model(config).double()
        batch = task.collate([store[i] for i in range(11)])
        loss = task.loss(model, batch)
        (loss.total / batch.count).backward()
        found.append((loss.total.detach(), batch.count, {n: p.grad for n, p in model.named_parameters()}))
    (total, count, expected), (other, same, gradients) = found
    assert count == same
    torch.testing.assert_close(other, total, atol=0, rtol=1e-12)
    for name, gradient in expected.items():
        torch.testing.assert_close(gradients[name], gradient, atol=1e-12, rtol=0, msg=name)


def test_the_same_scores() -> None:
    config = run_config({"dropout": 0.0})
    model, some = small_model(config).double().eval(), [examples(11)[i] for i in range(11)]
    padded, row = (task.scores(model, task.collate(some)) for task in (translation(config), packed()))
    assert {*row} == {*padded} == {"loss", "accuracy"}
    for name, expected in padded.items():
        torch.testing.assert_close(row[name].mean, expected.mean, atol=0, rtol=1e-12)


def test_every_batch_has_one_shape_and_holds_every_token() -> None:
    task, store = packed(), examples(40)
    batches = [task.collate([store[i] for i in range(first, first + n)]) for first, n in ((0, 3), (3, 17), (20, 8))]
    for batch, n in zip(batches, (3, 17, 8), strict=True):
        assert batch.source.shape == batch.target_in.shape == batch.target_out.shape == (1, ROOM.tokens)
        assert batch.source_starts.shape == batch.target_starts.shape == (ROOM.sentences + 1,)
        assert batch.source_starts[-1] == batch.target_starts[-1] == ROOM.tokens
        lengths = batch.target_starts.diff()
        assert int(lengths.max()) <= ROOM.longest and int((batch.target_out != IGNORE).sum()) == batch.count
        assert int(lengths[:n].sum()) == batch.count
        asked = batch.source_starts.diff()[lengths > 0]
        assert bool((asked > 0).all())  # whoever looks has something to look at


def test_short_sources_and_long_targets_leave_no_text_without_a_source() -> None:
    """What fills up the row of targets is cut into texts, and each looks at some of what fills up the sources."""
    task = translation(run_config()).of_one_size(TrainConfig(batch_tokens=400), longest=4)
    assert isinstance(task, PackedTranslation)
    pair = np.array([5] * 4), np.array([6])
    batch = task.collate([pair] * 80)
    sources, targets = batch.source_starts.diff(), batch.target_starts.diff()
    assert int(sources.max()) <= 5 and int(targets.max()) <= 5
    assert bool(((sources > 0) | (targets == 0)).all())


def test_a_text_that_is_longer_than_foreseen_is_refused() -> None:
    with pytest.raises(InputError, match="the text has 31 positions, and max_len=30"):
        packed().collate([(np.array([5] * 30), np.array([6]))])


@pytest.mark.parametrize(
    ("keys", "fits"),
    [
        ({}, True),
        ({"position": "rotary"}, True),
        ({"position": "relative"}, False),
        ({"window": 3}, False),
        ({"qk_norm": True}, False),
        ({"n_heads": 4}, False),  # d_k 4
        ({"d_k": 256}, False),
    ],
    ids=str,
)
def test_which_models_a_kernel_for_several_texts_serves(keys: dict[str, object], fits: bool) -> None:
    model = small_model(run_config(dict(keys)))
    assert {stack.packable for stack in model.modules() if isinstance(stack, Stack)} == {fits}
    assert not may_be_packed(model, torch.device("cpu"), "bf16")


def test_more_sentences_than_foreseen_make_a_longer_list() -> None:
    batch = packed(Room(tokens=400, sentences=4, longest=30)).collate([examples(20)[i] for i in range(20)])
    assert batch.source_starts.shape[0] > 21


def test_sentences_of_one_token() -> None:
    pair = (np.array([5]), np.array([6]))
    batch = packed().collate([pair, pair])
    assert batch.target_in[0, :4].tolist() == [1, 6, 1, 6] and batch.target_out[0, :4].tolist() == [6, 2, 6, 2]
    assert batch.source_starts[:3].tolist() == [0, 2, 4]
