from __future__ import annotations

import pytest
import torch

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.errors import InputError
from glassformer.models.build import build
from glassformer.trace.record import record
from glassformer.trace.rollout import mixed, rollout
from glassformer.trace.trace import Trace


def test_two_layers_by_hand() -> None:
    first = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    second = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    # ½A₁+½I = [[1, 0], [¼, ¾]], ½A₂+½I = [[½, ½], [½, ½]]: the second times the first
    expected = torch.tensor([[0.625, 0.375], [0.625, 0.375]])
    torch.testing.assert_close(mixed([first[None, None], second[None, None]])[0], expected)


def test_heads_are_averaged() -> None:
    heads = torch.tensor([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]]])
    torch.testing.assert_close(mixed([heads[None]])[0], torch.tensor([[0.75, 0.25], [0.5, 0.5]]))


@pytest.mark.parametrize(("class_tokens", "pool"), [(1, "cls"), (0, "mean"), (2, "cls")])
def test_a_map_of_patches_for_each_image(class_tokens: int, pool: str) -> None:
    patches = Choice("image", {"size": 8, "patch": 2, "channels": 1, "class_tokens": class_tokens})
    config = ModelConfig(
        family="encoder", input=patches, d_model=16, n_heads=2, d_ff=32, n_encoder_layers=2, max_len=18,
        position=Choice("learned"), head=Choice("classifier", {"classes": 3, "pool": pool}),
    )  # fmt: skip
    model = build(config, seed=0).eval()
    with record(model) as trace:
        model(torch.rand(3, 1, 8, 8))
    found = rollout(trace, class_tokens=class_tokens, pool=pool)
    assert found.shape == (3, 4, 4) and (found > 0).all()
    whole = mixed(trace.attention())
    torch.testing.assert_close(whole.sum(-1), torch.ones(3, whole.shape[1]))
    assert (found.sum((1, 2)) <= 1.00001).all()
    if not class_tokens:
        torch.testing.assert_close(found.sum((1, 2)), torch.ones(3))


def test_what_cannot_be_rolled_out() -> None:
    with pytest.raises(InputError, match="the trace holds no attention weights of an encoder"):
        rollout(Trace())
    trace = Trace()
    trace.tensors["encoder.blocks.0.self_attention.weights"] = torch.full((1, 1, 4, 4), 0.25)
    with pytest.raises(InputError, match=r"3 patches make no square \(class tokens: 1\)"):
        rollout(trace)
