from __future__ import annotations

import pytest
import torch
from torch._dynamo.testing import CompileCounter

import glassformer as gf
from glassformer.errors import InputError
from glassformer.models.encoder import Encoder

SIZES = {"d_model": 16, "n_heads": 4, "d_ff": 24, "n_layers": 2, "max_len": 16}
CLASSIFIER = {
    "family": "encoder",
    "vocab_size": 20,
    "max_len": 16,
    "d_model": 16,
    "n_heads": 4,
    "d_ff": 24,
    "n_encoder_layers": 2,
    "head": {"kind": "classifier", "classes": 3, "pool": "mean"},
}


def test_the_lesson_encoder_has_its_published_size_and_six_maps() -> None:
    encoder = gf.Encoder(
        d_model=256, n_heads=8, d_ff=1024, n_layers=6, max_len=5000, dropout=0.1, norm_order="pre", activation="gelu"
    )
    assert sum(parameter.numel() for parameter in encoder.parameters()) == 4_739_072
    x = torch.randn(2, 16, 256)
    with gf.record(encoder) as trace:
        y = encoder(x, mask=None)
    assert y.shape == (2, 16, 256)
    maps = trace.attention()
    assert [tuple(one.shape) for one in maps] == [(2, 8, 16, 16)] * 6
    assert maps[0].mean(1).shape == (2, 16, 16)
    assert trace["blocks.0.self_attention.scores"].shape == (2, 8, 16, 16)


def test_every_position_looks_at_every_position() -> None:
    encoder = Encoder(**SIZES)
    with gf.record(encoder) as trace:
        encoder(torch.randn(1, 5, 16))
    assert all((weights > 0).all() for weights in trace.attention())


def test_masks_of_every_shape_say_the_same() -> None:
    encoder, x = Encoder(**SIZES, position="none").double(), torch.randn(2, 5, 16).double()
    real = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    pairs = real[:, None, :].expand(2, 5, 5)
    heads = pairs[:, None].expand(2, 4, 5, 5)
    expected = encoder(x, real=real)
    torch.testing.assert_close(encoder(x, pairs), expected, atol=1e-12, rtol=0)
    torch.testing.assert_close(encoder(x, heads), expected, atol=1e-12, rtol=0)
    assert not torch.allclose(encoder(x), expected)


def test_a_mask_of_numbers_or_of_another_shape_is_refused() -> None:
    encoder, x = Encoder(**SIZES), torch.randn(2, 5, 16)
    with pytest.raises(InputError, match="mask has type int64; use booleans: mask True = may look"):
        encoder(x, torch.ones(2, 5, dtype=torch.long))
    with pytest.raises(InputError, match=r"a mask has shape \(5,\) for batch 2, 5 queries and 5 keys"):
        encoder(x, torch.ones(5, dtype=torch.bool))
    with pytest.raises(InputError, match=r"a mask has shape \(2, 4\) for batch 2"):
        encoder(x, torch.ones(2, 4, dtype=torch.bool))
    with pytest.raises(
        InputError, match=r"real has shape \(5,\) for batch 2 and 5 keys; use batch × keys, and say who"
    ):
        encoder(x, real=torch.ones(5, dtype=torch.bool))


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_two_dimensions_are_queries_and_keys_whatever_the_batch(batch: int) -> None:
    """As in PyTorch; with 5 rows of 5 tokens as with 2. Which tokens are real has a keyword of its own."""
    encoder, x = Encoder(**SIZES, position="none").double().eval(), torch.randn(batch, 5, 16).double()
    triangle = torch.ones(5, 5, dtype=torch.bool).tril()
    torch.testing.assert_close(encoder(x, triangle), encoder(x, triangle[None]), atol=1e-12, rtol=0)
    if batch != 5:
        with pytest.raises(
            InputError, match=r"for batch \d, 5 queries and 5 keys; use queries × keys, .* with real=…$"
        ):
            encoder(x, torch.ones(batch + 1, 5, dtype=torch.bool))
    real = torch.ones(batch, 5, dtype=torch.bool)
    real[0, 3:] = False
    alone = encoder(x[:1, :3])
    torch.testing.assert_close(encoder(x, real=real)[:1, :3], alone, atol=1e-12, rtol=0)
    both = encoder(x, triangle, real=real)[:1, :3]
    torch.testing.assert_close(both, encoder(x[:1, :3], triangle[:3, :3]), atol=1e-12, rtol=0)


def test_input_encoder_and_head_are_joined() -> None:
    model = gf.build(CLASSIFIER, seed=0).eval()
    tokens = torch.tensor([[1, 2, 3, 0], [4, 5, 6, 7]])
    mask = torch.tensor([[True, True, True, False], [True] * 4])
    expected = model.head(model.encoder(model.embedding(tokens), real=mask), mask)
    assert torch.equal(model(tokens, mask), expected)
    assert expected.shape == (2, 3)


def test_segments_reach_the_embedding() -> None:
    model = gf.build({**CLASSIFIER, "segments": 2}, seed=0).eval()
    tokens = torch.tensor([[1, 2, 3]])
    assert torch.equal(model(tokens), model(tokens, segments=torch.zeros_like(tokens)))
    assert not torch.equal(model(tokens), model(tokens, segments=torch.ones_like(tokens)))


def test_a_masked_language_model_shares_its_embedding() -> None:
    head = {"kind": "language_model", "bias": True, "transform": True}
    model = gf.build({**CLASSIFIER, "head": head, "tie_embeddings": True}, seed=0)
    tokens = torch.tensor([[1, 2, 3]])
    model(tokens)[..., 7].sum().backward()
    assert model(tokens).shape == (1, 3, 20)
    assert model.head.weight is None
    assert model.embedding.weight.grad[7].abs().sum().item() > 0  # token 7 is not in the text


def test_an_encoder_on_patches_of_an_image() -> None:
    table = {"kind": "image", "size": 8, "patch": 4}
    model = gf.build({**CLASSIFIER, "vocab_size": None, "input": table}, seed=0)
    assert model(torch.randn(2, 3, 8, 8)).shape == (2, 3)


def test_an_encoder_on_patches_of_a_series_forecasts() -> None:
    model = gf.build(
        {
            **CLASSIFIER,
            "vocab_size": None,
            "input": {"kind": "series", "context": 30, "length": 6, "stride": 3},
            "head": {"kind": "regression", "outputs": 5, "pool": "flatten"},
        },
        seed=0,
    )
    assert model.head.output.weight.shape == (5, 9 * 16)
    assert model(torch.randn(2, 1, 30)).shape == (2, 5)


def test_a_bad_text_is_refused_by_the_model() -> None:
    model = gf.build(CLASSIFIER, seed=0)
    with pytest.raises(InputError, match="token 20 is not in the vocabulary, whose ids are 0 to 19"):
        model(torch.tensor([[20]]))
    with pytest.raises(InputError, match="the text is empty"):
        model(torch.zeros(1, 0, dtype=torch.long))
    with pytest.raises(InputError, match="the text has 17 positions, and max_len=16"):
        model(torch.zeros(1, 17, dtype=torch.long))


@pytest.mark.parametrize("position", ["sinusoidal", "relative"])
def test_one_graph_that_recording_does_not_break(position: str) -> None:
    torch._dynamo.reset()
    model = gf.build({**CLASSIFIER, "position": position, "n_encoder_layers": 1}, seed=0).eval()
    tokens = torch.tensor([[1, 2, 3, 0], [4, 5, 6, 7]])
    with gf.record(model):
        model(tokens)
    counter = CompileCounter()
    compiled = torch.compile(model, fullgraph=True, backend=counter)
    expected = model(tokens)
    torch.testing.assert_close(compiled(tokens), expected, atol=1e-6, rtol=0)
    with gf.record(model):
        model(tokens)
    torch.testing.assert_close(compiled(tokens), expected, atol=1e-6, rtol=0)
    assert counter.frame_count == 1  # the graph made before the recording still serves


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch's own, on its way to the compiler
def test_a_compiled_encoder_answers_as_the_eager_one() -> None:
    torch._dynamo.reset()
    model = gf.build({**CLASSIFIER, "n_encoder_layers": 1}, seed=0).eval()
    tokens, mask = torch.tensor([[1, 2, 3, 0], [4, 5, 6, 7]]), torch.tensor([[True] * 3 + [False], [True] * 4])
    with gf.record(model):
        model(tokens, mask)
    with torch.no_grad():
        compiled = torch.compile(model, fullgraph=True)(tokens, mask)
        torch.testing.assert_close(compiled, model(tokens, mask), atol=1e-4, rtol=0)
