from __future__ import annotations

import pytest
import torch

from glassformer.errors import ConfigError, InputError
from glassformer.tasks.embed import embed, similarities
from glassformer.trace.record import record
from small_models import small

TEXTS = ["나는 학교에 간다.", "he", "I go to school! " * 3]
LAST = {
    "features": "encoder.output",
    "classification": "encoder.output",
    "masked_language_model": "encoder.output",
    "language_model": "decoder.output",
    "translation": "encoder.output",
}


@pytest.mark.parametrize("pool", ["mean", "cls"])
@pytest.mark.parametrize("task", LAST)
def test_the_vector_of_a_text_is_that_of_its_last_stream_alone(task: str, pool: str) -> None:
    loaded = small(task)
    found = embed(loaded, TEXTS, pool)
    assert found.shape == (3, 16) and found.dtype == torch.float32 and not found.requires_grad
    for text, vector in zip(TEXTS, found, strict=True):
        ids = torch.tensor([loaded.framed(text)])
        with torch.no_grad(), record(loaded.model) as trace:
            loaded.model(ids) if task != "translation" else loaded.model(ids, ids)
        x = trace[LAST[task]][0]  # t d_model
        torch.testing.assert_close(vector, x.mean(0) if pool == "mean" else x[0], atol=1e-5, rtol=1e-5)


def test_one_text_none_and_a_model_in_training() -> None:
    loaded = small("features", dropout=0.5)
    loaded.model.train()
    assert torch.equal(embed(loaded, "he"), embed(loaded, ["he"]))
    assert loaded.model.training
    assert embed(loaded, []).shape == (0, 16)


def test_small_and_large_types() -> None:
    loaded = small("features")
    exact = embed(loaded, TEXTS)
    loaded.model.double()
    assert embed(loaded, TEXTS).dtype == torch.float64
    loaded.model.bfloat16()
    half = embed(loaded, TEXTS)
    assert half.dtype == torch.float32
    assert (similarities(torch.stack([half[0], exact[0]]))[0, 1]) > 0.99


def test_a_pool_that_does_not_exist() -> None:
    with pytest.raises(ConfigError, match="pool='middle' is unknown; use one of: mean, cls"):
        embed(small("features"), TEXTS, "middle")


def test_a_model_that_reads_no_text() -> None:
    with pytest.raises(InputError, match="small-image-classification takes 'image' as input, not text"):
        embed(small("image_classification"), TEXTS)


def test_cosines_by_hand() -> None:
    found = similarities(torch.tensor([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]]))
    half = 0.5**0.5
    expected = torch.tensor([[1, 0, half, 0], [0, 1, half, 0], [half, half, 1, 0], [0, 0, 0, 0]])
    torch.testing.assert_close(found, expected)
