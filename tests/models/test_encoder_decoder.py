from __future__ import annotations

from io import StringIO

import pytest
import torch
from rich.console import Console
from torch._dynamo.testing import CompileCounter

import glassformer as gf
from glassformer.config.model import ModelConfig
from glassformer.errors import InputError
from glassformer.ledger.job import Job
from glassformer.ledger.show import table
from glassformer.ledger.work import work

TRANSLATOR = {
    "family": "encoder-decoder",
    "vocab_size": 20,
    "max_len": 16,
    "d_model": 16,
    "n_heads": 4,
    "d_ff": 24,
    "n_encoder_layers": 2,
    "n_decoder_layers": 2,
    "head": "language_model",
}
SOURCE = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]])
TARGET = torch.tensor([[7, 8, 9], [10, 11, 0]])
SOURCE_MASK, TARGET_MASK = SOURCE > 0, TARGET > 0


def test_source_becomes_memory_and_target_looks_at_it() -> None:
    model = gf.build(TRANSLATOR, seed=0).eval()
    memory = model.encoder(model.embedding(SOURCE), real=SOURCE_MASK)
    stream = model.decoder(model.target_embedding(TARGET), memory, real=TARGET_MASK, memory_real=SOURCE_MASK)
    expected = stream @ model.head.weight.T
    logits = model(SOURCE, TARGET, SOURCE_MASK, TARGET_MASK)
    assert logits.shape == (2, 3, 20)
    torch.testing.assert_close(logits, expected)
    assert torch.equal(model.encode(SOURCE, SOURCE_MASK), memory)


def test_queries_come_from_the_target_and_keys_and_values_from_the_source() -> None:
    model = gf.build(TRANSLATOR, seed=0).eval()
    with gf.record(model) as before:
        model(SOURCE, TARGET)
    with gf.record(model) as after:
        model(SOURCE.flip(1), TARGET)
    path = "decoder.blocks.0.cross_attention"
    assert torch.equal(before[f"{path}.q"], after[f"{path}.q"])
    assert not torch.equal(before[f"{path}.k"], after[f"{path}.k"])
    assert not torch.equal(before[f"{path}.v"], after[f"{path}.v"])
    assert before[f"{path}.weights"].shape == (2, 4, 3, 4)


def test_maps_of_both_kinds_of_attention() -> None:
    model = gf.build(TRANSLATOR, seed=0).eval()
    with gf.record(model) as trace:
        model(SOURCE, TARGET)
    assert [tuple(one.shape[2:]) for one in trace.attention()] == [(4, 4), (4, 4), (3, 3), (3, 3)]
    assert [tuple(one.shape[2:]) for one in trace.attention("cross_attention")] == [(3, 4), (3, 4)]


@pytest.mark.parametrize(
    ("tie", "matrices"),
    [
        ("none", ["embedding", "head", "target_embedding"]),
        ("output", ["embedding", "target_embedding"]),
        ("inputs", ["embedding", "head"]),
        ("all", ["embedding"]),
    ],
)
def test_three_ways_of_tying(tie: str, matrices: list[str]) -> None:
    model = gf.build({**TRANSLATOR, "tie_embeddings": tie}, seed=0).eval()
    found = sorted(name.split(".")[0] for name, p in model.named_parameters() if tuple(p.shape) == (20, 16))
    assert found == matrices
    target = model.embedding if model.target_embedding is None else model.target_embedding
    stream = model.decoder(target(TARGET), model.encode(SOURCE))
    weight = target.weight if model.head.weight is None else model.head.weight
    torch.testing.assert_close(model(SOURCE, TARGET), stream @ weight.T)


def test_two_vocabularies() -> None:
    model = gf.build({**TRANSLATOR, "target_vocab_size": 13, "tie_embeddings": "output"}, seed=0).eval()
    assert model.embedding.weight.shape == (20, 16)
    assert model.target_embedding.weight.shape == (13, 16)
    assert model(SOURCE, TARGET).shape == (2, 3, 13)
    with pytest.raises(InputError, match="token 13 is not in the vocabulary, whose ids are 0 to 12"):
        model(SOURCE, torch.full((2, 3), 13))


def test_a_source_of_images_is_described_in_tokens() -> None:
    table = {"kind": "image", "size": 8, "patch": 4, "class_tokens": 0}
    model = gf.build({**TRANSLATOR, "input": table}, seed=0)
    assert model(torch.randn(2, 3, 8, 8), TARGET).shape == (2, 3, 20)


def test_decoding_step_by_step_with_a_cache() -> None:
    model = gf.build(TRANSLATOR, seed=0, dtype=torch.float64).eval()
    memory, cache = model.encode(SOURCE, SOURCE_MASK), model.decoder.empty_cache()
    steps = [model.decode(TARGET[:, t : t + 1], memory, None, SOURCE_MASK, cache=cache) for t in range(3)]
    whole = model.decode(TARGET, memory, None, SOURCE_MASK)
    torch.testing.assert_close(torch.cat(steps, 1), whole, atol=1e-10, rtol=0)


def test_bad_texts_on_either_side_are_refused() -> None:
    model = gf.build(TRANSLATOR, seed=0)
    with pytest.raises(InputError, match="token 20 is not in the vocabulary"):
        model(torch.tensor([[20]]), torch.tensor([[1]]))
    with pytest.raises(InputError, match="token -1 is not in the vocabulary"):
        model(torch.tensor([[1]]), torch.tensor([[-1]]))
    with pytest.raises(InputError, match="the text is empty"):
        model(torch.zeros(1, 0, dtype=torch.long), torch.tensor([[1]]))
    with pytest.raises(InputError, match="the text has 17 positions, and max_len=16"):
        model(torch.tensor([[1]]), torch.zeros(1, 17, dtype=torch.long))


def test_one_graph_that_recording_does_not_break() -> None:
    torch._dynamo.reset()
    layers = {"n_encoder_layers": 1, "n_decoder_layers": 1}
    model = gf.build({**TRANSLATOR, **layers, "tie_embeddings": "all"}, seed=0).eval()
    with gf.record(model):
        model(SOURCE, TARGET)
    counter = CompileCounter()
    compiled = torch.compile(model, fullgraph=True, backend=counter)
    expected = model(SOURCE, TARGET, SOURCE_MASK, TARGET_MASK)
    torch.testing.assert_close(compiled(SOURCE, TARGET, SOURCE_MASK, TARGET_MASK), expected, atol=1e-6, rtol=0)
    with gf.record(model):
        model(SOURCE, TARGET)
    torch.testing.assert_close(compiled(SOURCE, TARGET, SOURCE_MASK, TARGET_MASK), expected, atol=1e-6, rtol=0)
    assert counter.frame_count == 1  # the graph made before the recording still serves


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch's own, on its way to the compiler
def test_a_compiled_encoder_decoder_answers_as_the_eager_one() -> None:
    torch._dynamo.reset()
    layers = {"n_encoder_layers": 1, "n_decoder_layers": 1}
    model = gf.build({**TRANSLATOR, **layers, "tie_embeddings": "all"}, seed=0).eval()
    with gf.record(model):
        model(SOURCE, TARGET)
    with torch.no_grad():
        compiled = torch.compile(model, fullgraph=True)(SOURCE, TARGET, SOURCE_MASK, TARGET_MASK)
        expected = model(SOURCE, TARGET, SOURCE_MASK, TARGET_MASK)
        torch.testing.assert_close(compiled, expected, atol=1e-4, rtol=0)


# --- learned queries: object detection ---

FINDER = {
    "family": "encoder-decoder",
    "input": {"kind": "image", "size": 8, "patch": 4, "channels": 1, "class_tokens": 0},
    "queries": 3,
    "causal": False,
    "max_len": 8,
    "d_model": 16,
    "n_heads": 4,
    "d_ff": 24,
    "n_encoder_layers": 1,
    "n_decoder_layers": 2,
    "head": {"kind": "objects", "classes": 5},
}
IMAGES = torch.rand(2, 1, 8, 8, generator=torch.Generator().manual_seed(0))


def test_queries_take_the_place_of_the_target() -> None:
    model = gf.build(FINDER, seed=0).eval()
    stream = model.decoder(model.target_embedding.weight.expand(2, -1, -1), model.encode(IMAGES))
    torch.testing.assert_close(model(IMAGES), model.head(stream))
    assert model(IMAGES).shape == (2, 3, 5 + 1 + 4)


def test_a_target_too_much_or_too_few_is_refused() -> None:
    with pytest.raises(InputError, match="begins with learned queries and was given a target; pass the source alone"):
        gf.build(FINDER)(IMAGES, torch.zeros(2, 3, 16))
    with pytest.raises(InputError, match="takes a source and a target, and was given a source alone; pass the target"):
        gf.build(TRANSLATOR)(SOURCE)


def test_queries_see_each_other_only_without_the_look_ahead_mask() -> None:
    for causal in (True, False):
        model = gf.build({**FINDER, "causal": causal}, seed=0).eval()
        before = model(IMAGES)
        with torch.no_grad():
            model.target_embedding.weight[-1] += torch.linspace(-1, 1, 16)
        after = model(IMAGES)
        assert torch.equal(before[:, :2], after[:, :2]) == causal
        assert not torch.equal(before[:, 2], after[:, 2])


def test_a_finder_can_be_counted_traced_and_edited() -> None:
    model = gf.build(FINDER, seed=0).eval()
    rows = {row.name: row for row in gf.count(FINDER).parts}
    assert rows["target_embedding"].numbers == "3×16"
    assert rows["head"].formula == "d_model×(classes+1)+(classes+1)+d_model×d_model+d_model+d_model×4+4"
    assert rows["head"].parameters == sum(p.numel() for p in model.head.parameters())
    with gf.record(model) as trace:
        plain = model(IMAGES)
    assert [tuple(one.shape[1:]) for one in trace.attention("cross_attention")] == [(4, 3, 4), (4, 3, 4)]
    assert {"target_embedding.output", "head.logits", "head.boxes"} <= set(trace.names())
    with gf.edit(model, {"decoder.blocks.1.cross_attention.heads": gf.zero(head=0)}):
        assert not torch.equal(model(IMAGES), plain)
    assert work(ModelConfig.from_dict(FINDER), Job(batch=2)).tokens == 2 * (4 + 3)


def test_both_languages_name_the_parts_of_a_finder() -> None:
    console = Console(width=200, file=StringIO())
    for lang, words in (("en", ("learned queries", "object head")), ("ko", ("학습되는 쿼리", "객체 헤드"))):
        ledger = gf.count(FINDER)
        console.print(table("finder", ledger.in_symbols, ledger.rows, lang))
        assert all(word in console.file.getvalue() for word in words)
