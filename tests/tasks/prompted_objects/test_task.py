from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from glassformer.data.prompts import CHOICES, LENGTH, NAMES, PROMPT_KINDS
from glassformer.errors import ConfigError
from glassformer.losses import cross_entropy
from glassformer.models.build import build
from glassformer.tasks.canvases import Canvases
from glassformer.tasks.object_queries.task import QueryAnswers, likeliest_objects
from glassformer.tasks.prompted_objects.task import PromptBatch, PromptedObjects, is_right
from glassformer.training.optimizer import make_optimizer
from tiny_tasks import tiny

pytest.importorskip("sklearn")

RANDOM = np.random.default_rng(0)
BOXES = torch.tensor([[0.25, 0.25, 0.5, 0.5], [0.75, 0.75, 0.5, 0.5]])
BATCH = PromptBatch(
    images=torch.zeros(2, 1, 4, 4),
    prompts=torch.zeros(2, 1, 2, dtype=torch.long),
    labels=torch.tensor([[1], [0]]),
    boxes=BOXES[:, None],
    digits=torch.tensor([[2], [3]]),
    all_labels=torch.tensor([[1, 0], [2, 0]]),
    all_boxes=torch.stack([BOXES, BOXES]),
    count=2,
)


class Fixed(nn.Module):
    """Says the same whatever it sees, and something else before the prompt ends."""

    def __init__(self, logits: Tensor, boxes: Tensor) -> None:
        super().__init__()
        said = torch.cat([logits, boxes], -1)  # b n
        self.said = torch.stack([torch.full_like(said, 0.3), said], 1)  # b t n

    def encode(self, images: Tensor) -> Tensor:
        return images

    def decode(self, prompts: Tensor, memory: Tensor) -> Tensor:
        assert len(prompts) == len(memory)
        return self.said


def material(prompt: str) -> Canvases:
    return PromptedObjects.begin(tiny("prompted_objects", run={"task": {"kind": "prompted_objects", "prompt": prompt}}))


def task(**weights: float) -> PromptedObjects:
    return PromptedObjects(kinds={"word": PROMPT_KINDS["word"](4)}, criterion=cross_entropy, **weights)


def test_the_loss_by_hand() -> None:
    shifted = BOXES + torch.tensor([0.125, 0.0, 0.0, 0.0])  # three quarters of 0.5 stay: IoU = GIoU = 0.375 / 0.625
    found = task(l1=5.0, giou=2.0).loss(Fixed(torch.zeros(2, 3), shifted), BATCH)
    assert float(found.total) == pytest.approx(2 * (np.log(3) + 5 * 0.125 + 2 * (1 - 0.375 / 0.625)), rel=1e-6)
    assert int(found.count) == 2


def test_an_answer_is_right_if_class_and_box_are() -> None:
    sure = 50.0 * torch.eye(3)[[1, 0]]
    far = BOXES.flip(0)
    for logits, boxes, right in ((sure, BOXES, 1.0), (sure.flip(0), BOXES, 0.0), (sure, far, 0.0)):
        found = task().metrics(task().scores(Fixed(logits, boxes), BATCH))
        assert found["right"] == right and found["box_overlap"] == pytest.approx(float(boxes is BOXES))
    half = torch.cat([BOXES[:1], far[1:]])
    answers = likeliest_objects(torch.cat([sure, half], -1))
    one_each = QueryAnswers(*(part[:, None] for part in answers))
    assert is_right(one_each, BATCH).tolist() == [[True], [False]]


@pytest.mark.parametrize("prompt", CHOICES)
def test_a_batch_holds_prompts_and_what_they_ask_for(prompt: str) -> None:
    made = material(prompt)
    examples = [made.training[i] for i in range(10)]
    for batch, k in ((made.task.collate(examples), len(CHOICES[prompt])), (made.task.collate(examples, RANDOM), 4)):
        assert batch.images.shape == (10, 1, 24, 24) and 0 < batch.images.max() <= 1.0
        assert batch.prompts.shape == (10, k, LENGTH) and batch.count == 10 * k
        assert (batch.digits == 2).all()  # canvases with one are left out
        for row, (_, labels, boxes) in enumerate(examples):
            for label, box, tokens in zip(batch.labels[row], batch.boxes[row], batch.prompts[row], strict=True):
                (digit,) = np.flatnonzero((boxes == box.numpy()).all(1))
                assert labels[digit] == label
                if tokens[0] == 2 * 24:
                    word = PROMPT_KINDS["word"](24).read(tokens.tolist())
                    assert word in {names[label] for names in NAMES.values()} and labels[0] != labels[1]
    assert made.training.lengths[0].tolist() == [9 + LENGTH]  # patches and prompt


def test_training_asks_in_every_way() -> None:
    made = material("both")
    batch = made.task.collate([made.training[i] for i in range(10)], RANDOM)
    assert 0 < int((batch.prompts[..., 0] == 2 * 24).sum()) < 40


@pytest.mark.parametrize("prompt", CHOICES)
def test_an_evaluation_asks_the_same_every_time_and_training_does_not(prompt: str) -> None:
    made = material(prompt)
    examples = [made.training[i] for i in range(10)]
    alone = torch.cat([made.task.collate([one]).prompts for one in examples])
    assert torch.equal(made.task.collate(examples).prompts, alone)  # whatever else is in the batch
    first, second = (made.task.collate(examples, np.random.default_rng(seed)).prompts for seed in (0, 1))
    assert not torch.equal(first, second)
    assert torch.equal(first, made.task.collate(examples, np.random.default_rng(0)).prompts)


@pytest.mark.parametrize("prompt", CHOICES)
def test_an_answer_does_not_depend_on_the_rest_of_the_batch(prompt: str) -> None:
    made = material(prompt)
    model = build(made.config.model, seed=0).eval()
    examples = [made.training[i] for i in range(6)]
    with torch.no_grad():
        together = made.task.answers(model, made.task.collate(examples))
        alone = torch.cat([made.task.answers(model, made.task.collate([one])) for one in examples])
    torch.testing.assert_close(together, alone)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"run": {"task": {"kind": "prompted_objects", "nothing": 1}}},
            r"task.nothing: 'prompted_objects' has no such",
        ),
        (
            {"run": {"task": {"kind": "prompted_objects", "prompt": "box"}}},
            "task.prompt='box' is unknown; use one of: point, word, both",
        ),
        ({"run": {"task": {"kind": "prompted_objects", "asks": 0}}}, "task.asks=0"),
        ({"train": {"loss": "mse"}}, "'prompted_objects' cannot be learned with the loss 'mse'; use one of: cross_en"),
        ({"data": {"source": "grammar"}}, "data.source='grammar' is unknown; use one of: canvases"),
        (
            {"data": {"source": {"kind": "canvases", "size": 24, "most": 1}}},
            "a prompt chooses among digits, and a canvas holds at most most=1; set data.source.most=2 or more",
        ),
        (
            {"model": {"target_vocab_size": None, "queries": 2}},
            "prompts about canvases of size=24 have 69 tokens, here model.target_vocab_size=None; "
            "set model.target_vocab_size=69, and model.queries=0",
        ),
        ({"model": {"target_vocab_size": 20}}, "have 69 tokens, here model.target_vocab_size=20; set"),
        (
            {"model": {"causal": True}},
            "task=prompted_objects reads a prompt as a whole, here model.causal=true; set mo",
        ),
        ({"model": {"input": "vectors"}}, "canvases are images of size=24 and channels=1, here model.input=vectors"),
        (
            {"model": {"head": {"kind": "objects", "classes": 9}}},
            "task=prompted_objects needs a head of objects with classes=10, here objects; write head = ",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(changes: dict[str, dict[str, Any]], line: str) -> None:
    with pytest.raises(ConfigError, match=line):
        PromptedObjects.sketch(tiny("prompted_objects", **changes))


def test_a_refusal_in_korean() -> None:
    with pytest.raises(ConfigError) as refused:
        PromptedObjects.sketch(tiny("prompted_objects", model={"causal": True}))
    assert "model.causal=false로 하세요" in refused.value.in_language("ko")


@pytest.mark.slow
@pytest.mark.parametrize("prompt", CHOICES)
def test_a_batch_that_is_known_by_heart_is_answered_as_a_whole(prompt: str) -> None:
    made = material(prompt)
    model = build(made.config.model, seed=0)
    optimizer = make_optimizer(model, made.config.train)
    batch = made.task.collate([made.training[i] for i in range(8)])
    for group in optimizer.param_groups:
        group["lr"] = 3e-3
    for _ in range(200):
        optimizer.zero_grad()
        made.task.loss(model, batch).mean.backward()
        optimizer.step()
    with torch.no_grad():
        found = made.task.metrics(made.task.scores(model, batch))
    assert found["right"] == 1.0 and found["box_overlap"] > 0.7
    assert list(found) == list(PromptedObjects.judged)


def test_with_another_loss_all_else_stays() -> None:
    made = material("both").task
    assert made.with_loss(made.criterion) == made


def test_without_canvases_to_ask_about_there_is_no_validation() -> None:
    assert PromptedObjects.begin(tiny("prompted_objects", data={"validation": 0})).validation is None
