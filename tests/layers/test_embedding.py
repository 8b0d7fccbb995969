from __future__ import annotations

import math

import pytest
import torch

from glassformer.errors import InputError
from glassformer.layers.embedding import TokenEmbedding, Vectors, token_matrix
from glassformer.layers.patch import SeriesPatches
from glassformer.layers.position import sinusoid
from glassformer.trace.record import record


def test_rows_are_multiplied_by_the_root_of_d_model() -> None:
    embedding, tokens = TokenEmbedding(vocab_size=10, d_model=16), torch.tensor([[3, 1], [0, 9]])
    with record(embedding) as trace:
        result = embedding(tokens)
    assert torch.equal(result, embedding.weight[tokens] * 4.0)
    assert torch.equal(trace["output"], result)


def test_without_scale_rows_come_as_they_are() -> None:
    embedding, tokens = TokenEmbedding(vocab_size=10, d_model=16, scale=False), torch.tensor([[3, 1]])
    assert torch.equal(embedding(tokens), embedding.weight[tokens])


def test_the_scale_brings_tokens_to_the_size_of_the_positions() -> None:
    torch.manual_seed(0)
    x = TokenEmbedding(vocab_size=2000, d_model=64)(torch.arange(2000)[None])
    positions = sinusoid(torch.arange(100), 64)
    assert x.square().mean().sqrt().item() == pytest.approx(1.0, rel=0.02)
    assert positions.square().mean().sqrt().item() == pytest.approx(math.sqrt(0.5), rel=1e-6)


def test_segments_are_added_after_the_scale() -> None:
    embedding = TokenEmbedding(vocab_size=10, d_model=4, segments=2)
    assert embedding.segments is not None and embedding.segments.shape == (2, 4)
    tokens, which = torch.tensor([[1, 2, 3]]), torch.tensor([[0, 1, 1]])
    assert torch.equal(embedding(tokens, which), embedding.weight[tokens] * 2.0 + embedding.segments[which])
    assert torch.equal(embedding(tokens), embedding(tokens, torch.zeros_like(tokens)))


def test_special_tokens_are_sinusoids_of_the_size_of_the_others() -> None:
    torch.manual_seed(0)
    embedding = TokenEmbedding(vocab_size=500, d_model=32, special_tokens=3)
    special, ordinary = embedding.weight[:3].detach(), embedding.weight[3:].detach()
    size = ordinary.square().mean().sqrt()
    torch.testing.assert_close(special, sinusoid(torch.arange(3), 32) * size * math.sqrt(2.0))
    torch.testing.assert_close(special.square().mean(-1).sqrt(), size.expand(3), rtol=1e-5, atol=0)


def test_special_tokens_are_alike_and_ordinary_ones_are_not() -> None:
    torch.manual_seed(0)
    embedding = TokenEmbedding(vocab_size=500, d_model=256, special_tokens=4)
    unit = torch.nn.functional.normalize(embedding.weight.detach(), dim=-1)
    cosines = unit @ unit.T
    assert cosines[4:, 4:].triu(1).abs().max().item() < 0.5
    assert cosines[:4, 4:].abs().max().item() < 0.5
    assert cosines[0, 1].item() > 0.8


def test_a_vocabulary_of_special_tokens_alone() -> None:
    embedding = TokenEmbedding(vocab_size=3, d_model=8, special_tokens=3)
    assert torch.isfinite(embedding.weight).all()
    assert (embedding.weight[0, 0::2] == 0).all()  # sin 0
    assert embedding.weight[0, 1].item() > 0


def test_nothing_is_computed_on_the_meta_device() -> None:
    with torch.device("meta"):
        embedding = TokenEmbedding(vocab_size=10, d_model=8, special_tokens=3)
        assert embedding(torch.zeros(2, 5, dtype=torch.long)).shape == (2, 5, 8)


@pytest.mark.parametrize("token", [-1, 10, 2**40])
def test_a_token_outside_the_vocabulary_is_refused(token: int) -> None:
    embedding = TokenEmbedding(vocab_size=10, d_model=4)
    assert embedding(torch.tensor([[0, 9]])).shape == (1, 2, 4)
    with pytest.raises(InputError, match=rf"^token {token} is not in the vocabulary, whose ids are 0 to 9; was the"):
        embedding(torch.tensor([[0, token]]))


@pytest.mark.parametrize("shape", [(), (3,), (1, 2, 3)])
def test_tokens_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"^tokens have shape .* and type int64; a model takes whole numbers of shape"):
        TokenEmbedding(vocab_size=10, d_model=4)(torch.zeros(shape, dtype=torch.long))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "complex64"])
def test_tokens_that_are_no_whole_numbers_are_refused(dtype: str) -> None:
    with pytest.raises(InputError, match=rf"^tokens have shape \(1, 2\) and type {dtype}; a model takes whole numbers"):
        TokenEmbedding(vocab_size=10, d_model=4)(torch.zeros(1, 2, dtype=getattr(torch, dtype)))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.uint8])
def test_whole_numbers_of_any_width_are_taken(dtype: torch.dtype) -> None:
    embedding = TokenEmbedding(vocab_size=10, d_model=4)
    assert torch.equal(embedding(torch.tensor([[3, 7]], dtype=dtype)), embedding(torch.tensor([[3, 7]])))


def test_an_empty_text_is_refused() -> None:
    with pytest.raises(InputError, match=r"^the text is empty: there is no token in it; give at least one$"):
        TokenEmbedding(vocab_size=10, d_model=4)(torch.zeros(2, 0, dtype=torch.long))


def test_a_batch_of_no_sentences_gives_none() -> None:
    assert TokenEmbedding(vocab_size=10, d_model=4)(torch.zeros(0, 3, dtype=torch.long)).shape == (0, 3, 4)


@pytest.mark.parametrize("segment", [-1, 2])
def test_a_segment_that_does_not_exist_is_refused(segment: int) -> None:
    embedding = TokenEmbedding(vocab_size=10, d_model=4, segments=2)
    with pytest.raises(InputError, match="segment"):
        embedding(torch.tensor([[1, 2]]), torch.tensor([[0, segment]]))


def test_vectors_pass_unchanged() -> None:
    x = torch.randn(2, 3, 4)
    assert Vectors(d_model=4)(x) is x


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 5), (1, 2, 3, 4)])
def test_vectors_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"^vectors have shape .*; this model takes batch × length × 4$"):
        Vectors(d_model=4)(torch.zeros(shape))


def test_no_vectors_at_all_are_refused() -> None:
    with pytest.raises(InputError, match="the text is empty"):
        Vectors(d_model=4)(torch.zeros(2, 0, 4))


def test_only_tokens_have_a_matrix_to_share() -> None:
    embedding = TokenEmbedding(vocab_size=10, d_model=4)
    assert token_matrix(embedding) is embedding.weight
    assert token_matrix(Vectors(d_model=4)) is None
    assert token_matrix(SeriesPatches(d_model=4, context=6, length=2, stride=2)) is None
