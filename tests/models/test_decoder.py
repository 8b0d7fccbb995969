from __future__ import annotations

from itertools import product

import pytest
import torch
from torch._dynamo.testing import CompileCounter

import glassformer as gf
from glassformer.decoding.state import State
from glassformer.errors import InputError
from glassformer.layers.position import POSITIONS
from glassformer.models.decoder import Decoder

SIZES = {"d_model": 16, "n_heads": 4, "d_ff": 24, "n_layers": 2, "max_len": 16}
LANGUAGE_MODEL = {
    "family": "decoder",
    "vocab_size": 20,
    "max_len": 16,
    "d_model": 16,
    "n_heads": 4,
    "d_ff": 24,
    "n_decoder_layers": 2,
    "head": "language_model",
}


def picture(weights: torch.Tensor) -> list[str]:
    return ["".join("x" if one > 0 else "." for one in row) for row in weights.tolist()]


def test_a_position_looks_at_those_before_it() -> None:
    decoder = Decoder(**SIZES)
    with gf.record(decoder) as trace:
        decoder(torch.randn(1, 4, 16))
    for weights in trace.attention():
        assert picture(weights[0, 0]) == ["x...", "xx..", "xxx.", "xxxx"]


def test_a_window_and_padding_are_added_to_the_triangle() -> None:
    decoder = Decoder(**SIZES, window=2)
    with gf.record(decoder) as trace:
        decoder(torch.randn(1, 4, 16), real=torch.tensor([[False, True, True, True]]))
    assert picture(trace.attention()[0][0, 0]) == ["....", ".x..", ".xx.", "..xx"]


def test_a_prefix_is_seen_by_everyone() -> None:
    decoder = Decoder(**SIZES)
    with gf.record(decoder) as trace:
        decoder(torch.randn(2, 4, 16), prefix=torch.tensor([3, 0]))
    first, second = trace.attention()[0][:, 0]
    assert picture(first) == ["xxx.", "xxx.", "xxx.", "xxxx"]
    assert picture(second) == ["x...", "xx..", "xxx.", "xxxx"]


def test_a_cache_goes_on_after_a_prefix() -> None:
    decoder, x = Decoder(**SIZES, position="rotary").double(), torch.randn(2, 6, 16).double()
    prefix = torch.tensor([3, 2])
    whole, cache = decoder(x, prefix=prefix), decoder.empty_cache()
    pieces = [decoder(piece, prefix=prefix, cache=cache) for piece in x.split([3, 1, 2], 1)]
    torch.testing.assert_close(torch.cat(pieces, 1), whole, atol=1e-10, rtol=0)


def test_an_empty_cache_has_a_place_for_each_layer() -> None:
    decoder = Decoder(**SIZES)
    cache = decoder.empty_cache()
    assert (len(cache.layers), cache.length) == (2, 0)
    decoder(torch.randn(1, 3, 16), cache=cache)
    assert cache.length == 3
    decoder(torch.randn(1, 1, 16), cache=cache)
    assert cache.length == 4


def test_a_cache_that_has_filled_the_table_is_refused() -> None:
    decoder = Decoder(**SIZES)
    cache = decoder.empty_cache()
    decoder(torch.randn(1, 16, 16), cache=cache)
    with pytest.raises(InputError, match="the text has 17 positions, and max_len=16"):
        decoder(torch.randn(1, 1, 16), cache=cache)


def test_the_memory_is_looked_at_through_its_mask() -> None:
    decoder = Decoder(**SIZES, cross_attention=True)
    with gf.record(decoder) as trace:
        decoder(torch.randn(1, 2, 16), torch.randn(1, 4, 16), memory_real=torch.tensor([[True, True, False, False]]))
    maps = trace.attention("cross_attention")
    assert len(maps) == 2
    assert picture(maps[0][0, 0]) == ["xx..", "xx.."]


def test_a_memory_must_be_given_exactly_where_it_is_looked_at() -> None:
    x = torch.randn(1, 3, 16)
    with pytest.raises(InputError, match="this decoder has cross-attention and was given no memory"):
        Decoder(**SIZES, cross_attention=True)(x)
    with pytest.raises(InputError, match="this decoder has no cross-attention and was given a memory"):
        Decoder(**SIZES)(x, x)


def test_a_mask_of_numbers_is_refused() -> None:
    x = torch.randn(1, 3, 16)
    with pytest.raises(InputError, match="mask has type float32"):
        Decoder(**SIZES)(x, mask=torch.ones(1, 3))
    with pytest.raises(InputError, match="mask has type int64"):
        Decoder(**SIZES, cross_attention=True)(x, x, memory_mask=torch.ones(1, 3, dtype=torch.long))


def test_embedding_decoder_and_head_are_joined() -> None:
    model = gf.build(LANGUAGE_MODEL, seed=0).eval()
    tokens = torch.tensor([[1, 2, 3]])
    expected = model.head(model.decoder(model.embedding(tokens)))
    assert torch.equal(model(tokens), expected)
    assert expected.shape == (1, 3, 20)


def test_a_tied_head_shares_the_embedding() -> None:
    model = gf.build({**LANGUAGE_MODEL, "tie_embeddings": True}, seed=0).eval()
    tokens = torch.tensor([[1, 2, 3]])
    stream = model.decoder(model.embedding(tokens))
    assert model.head.weight is None
    torch.testing.assert_close(model(tokens), stream @ model.embedding.weight.T)


def test_a_classifier_reads_the_last_real_token() -> None:
    head = {"kind": "classifier", "classes": 3, "pool": "sep"}
    model = gf.build({**LANGUAGE_MODEL, "head": head}, seed=0, dtype=torch.float64).eval()
    tokens = torch.tensor([[1, 2, 3, 0]])
    padded = model(tokens, torch.tensor([[True, True, True, False]]))
    torch.testing.assert_close(padded, model(tokens[:, :3]), atol=1e-10, rtol=0)


@pytest.mark.many
@pytest.mark.parametrize("position", ["sinusoidal", "learned", "rotary", "alibi", "relative", "none"])
def test_one_graph_that_recording_does_not_break(position: str) -> None:
    torch._dynamo.reset()
    model = gf.build({**LANGUAGE_MODEL, "position": position, "n_decoder_layers": 1, "window": 3}, seed=0).eval()
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
def test_a_compiled_decoder_answers_as_the_eager_one() -> None:
    torch._dynamo.reset()
    modern = {"position": "rotary", "norm": "rms", "norm_order": "pre", "feed_forward": "gated", "activation": "silu"}
    model = gf.build({**LANGUAGE_MODEL, **modern, "n_kv_heads": 2, "n_decoder_layers": 1}, seed=0).eval()
    tokens = torch.tensor([[1, 2, 3, 0], [4, 5, 6, 7]])
    with gf.record(model):
        model(tokens)
    with torch.no_grad():
        compiled = torch.compile(model, fullgraph=True)(tokens)
        torch.testing.assert_close(compiled, model(tokens), atol=1e-4, rtol=0)


def test_a_prefix_counts_real_tokens() -> None:
    torch.manual_seed(0)
    decoder = Decoder(**SIZES).eval().double()
    x = torch.randn(1, 4, 16, dtype=torch.float64)
    padded = torch.cat([torch.randn(1, 2, 16, dtype=torch.float64), x], 1)
    mask = torch.tensor([[False, False, True, True, True, True]])
    alone = decoder(x, prefix=torch.tensor([2]))
    torch.testing.assert_close(decoder(padded, real=mask, prefix=torch.tensor([2]))[:, 2:], alone, atol=1e-10, rtol=0)
    assert not torch.allclose(decoder(x), alone)


@pytest.mark.parametrize("prefix", [3, [3, 2], torch.tensor([1.0, 2.0]), torch.tensor([1])])
def test_a_prefix_that_is_none_is_refused(prefix: object) -> None:
    with pytest.raises(InputError, match="prefix is not one whole number for each of the 2 rows"):
        Decoder(**SIZES)(torch.randn(2, 3, 16), prefix=prefix)


def test_a_memory_or_cache_of_another_size_is_refused() -> None:
    decoder = Decoder(**SIZES, cross_attention=True).eval()
    x = torch.randn(2, 3, 16)
    with pytest.raises(InputError, match=r"memory has shape \(3, 4, 16\); this decoder takes 2 × source length × 16"):
        decoder(x, torch.randn(3, 4, 16))
    cache = decoder.empty_cache()
    decoder(x, torch.randn(2, 4, 16), cache=cache)
    with pytest.raises(InputError, match="the cache has 2 layers and 2 rows, and the decoder 2 layers and the batch 1"):
        decoder(x[:1], torch.randn(1, 4, 16), cache=cache)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("position", ["sinusoidal", "rotary"])
def test_a_compiled_decoder_with_a_cache(position: str) -> None:
    torch.manual_seed(0)
    decoder = Decoder(**{**SIZES, "n_layers": 1}, position=position).eval()
    compiled, cache, x = torch.compile(decoder, fullgraph=True), decoder.empty_cache(), torch.randn(1, 6, 16)
    with torch.no_grad():
        steps = [compiled(x[:, i : i + 1], cache=cache) for i in range(6)]
        torch.testing.assert_close(torch.cat(steps, 1), decoder(x), atol=1e-5, rtol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize("position", POSITIONS)
def test_branches_of_a_text_are_what_they_are_in_rows_of_their_own(position: str, window: int | None) -> None:
    torch.manual_seed(0)
    decoder = Decoder(**SIZES, cross_attention=True, position=position, window=window).double().eval()
    texts, memory = torch.randn(2, 3, 16).double(), torch.randn(2, 5, 16).double()  # b s d_model
    real = torch.tensor([[True] * 5, [True, True, False, False, False]])
    cache = decoder.empty_cache()
    decoder(texts, memory, memory_real=real, cache=cache)
    state = State(cache, memory=memory, memory_mask=real)
    rows = [[texts[b] for _ in range(1)] for b in range(2)]  # the past of every branch
    for parents in ([[0, 0, 0], [0, 0, 0]], [[2, 0, 2], [1, 1, 0]], [[0, 1], [2, 0]]):
        new = torch.randn(2, len(parents[0]), 16).double()  # b w d_model
        state.branch(torch.tensor(parents))
        found = decoder(new, memory, memory_real=real, branches=state.branches, cache=cache)
        rows = [[torch.cat([rows[b][old], new[b, w : w + 1]]) for w, old in enumerate(parents[b])] for b in range(2)]
        for b, w in product(range(2), range(len(parents[0]))):
            alone = decoder(rows[b][w][None], memory[b : b + 1], memory_real=real[b : b + 1])
            torch.testing.assert_close(found[b, w], alone[0, -1], atol=1e-10, rtol=0)
    assert cache.layers[0].memory.whole()[0].shape[0] == 2 and cache.length == 3 + 3 + 3 + 2


DOCUMENTS = torch.tensor([[0, 0, 1, 1, 1, 2], [5, 5, 5, 5, 5, 5]])


def test_packed_documents_do_not_see_each_other() -> None:
    decoder = Decoder(**SIZES)
    with gf.record(decoder) as trace:
        decoder(torch.randn(2, 6, 16), documents=DOCUMENTS)
    for weights in trace.attention():
        assert picture(weights[0, 0]) == ["x.....", "xx....", "..x...", "..xx..", "..xxx.", ".....x"]
        assert picture(weights[1, 0])[-1] == "xxxxxx"


@pytest.mark.parametrize("position", ["sinusoidal", "learned", "rotary", "alibi", "relative", "none"])
def test_a_packed_document_is_read_as_if_it_stood_alone(position: str) -> None:
    decoder = Decoder(**SIZES, position=position).double().eval()
    x = torch.randn(2, 6, 16).double()
    packed = decoder(x, documents=DOCUMENTS)
    for row, start, end in ((0, 0, 2), (0, 2, 5), (0, 5, 6), (1, 0, 6)):
        alone = decoder(x[row : row + 1, start:end])
        torch.testing.assert_close(packed[row : row + 1, start:end], alone, atol=1e-12, rtol=0)


def test_packed_documents_of_a_language_model() -> None:
    model = gf.build(LANGUAGE_MODEL).double().eval()
    tokens = torch.randint(20, (2, 6))
    packed = model(tokens, documents=DOCUMENTS)
    torch.testing.assert_close(packed[:1, 2:5], model(tokens[:1, 2:5]), atol=1e-12, rtol=0)
    torch.testing.assert_close(packed[1:], model(tokens[1:]), atol=1e-12, rtol=0)


@pytest.mark.parametrize("documents", [torch.zeros(2, 5, dtype=torch.long), torch.zeros(2, 6), [[0] * 6] * 2])
def test_documents_of_another_shape_are_refused(documents: object) -> None:
    with pytest.raises(InputError, match="documents must be whole numbers, one for each of 6 tokens in 2 rows"):
        Decoder(**SIZES)(torch.randn(2, 6, 16), documents=documents)


def test_documents_behind_a_cache_are_refused() -> None:
    decoder = Decoder(**SIZES)
    cache, x = decoder.empty_cache(), torch.randn(2, 6, 16)
    decoder(x, cache=cache)
    with pytest.raises(InputError, match="no cache may hold earlier ones"):
        decoder(x, documents=DOCUMENTS, cache=cache)


def test_a_decoder_that_sees_everything_has_no_order_to_decode_in() -> None:
    decoder = Decoder(d_model=8, n_heads=2, d_ff=8, n_layers=1, causal=False).eval()
    x = torch.randn(1, 3, 8)
    other = torch.cat([x[:, :2], x[:, 2:] + torch.randn(8)], 1)
    assert not torch.equal(decoder(x)[:, 0], decoder(other)[:, 0])
    for given in ({"cache": decoder.empty_cache()}, {"prefix": torch.tensor([1])}):
        with pytest.raises(
            InputError, match=r"all positions at once \(causal=false\) and was given a cache or a prefix"
        ):
            decoder(x, **given)


def test_relative_positions_of_a_decoder_that_sees_everything_look_both_ways() -> None:
    for causal in (None, True, False):
        decoder = Decoder(d_model=8, n_heads=2, d_ff=8, n_layers=1, position="relative", causal=causal)
        assert decoder.positions.bidirectional == (causal is False)
