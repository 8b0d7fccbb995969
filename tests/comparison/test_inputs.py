from __future__ import annotations

from pathlib import Path

import pytest
import torch

import glassformer as gf
from glassformer.comparison.inputs import Entrance, Reads, SharedInput, common, input_batch, reads, real_places
from glassformer.errors import InputError
from glassformer.loading import open_recipe
from small_translator import trained

TOKENS = Entrance("tokens", vocab_size=50)
MASK = torch.tensor([[True, True, True], [True, False, False]])


def test_what_a_model_reads_is_seen_without_weights() -> None:
    assert reads(gf.build("paper-base", device="meta")) == Reads(
        Entrance("tokens", vocab_size=37000), Entrance("tokens", vocab_size=37000), 5000
    )
    gpt = reads(gf.build("gpt2", device="meta"))
    assert (gpt.source.vocab_size, gpt.target, gpt.longest) == (50257, None, 1024)
    assert reads(gf.build("deit-tiny", device="meta")).source == Entrance("image", shape=(3, 224, 224))
    assert reads(gf.build("stock-patches", device="meta")).source == Entrance("series", shape=(1, 30))
    assert reads(gf.build("lesson-encoder", device="meta")).source.kind == "vectors"
    assert reads(gf.build("llama2-7b", device="meta", layers=1)).longest > 10**6


def test_rows_of_a_table_that_are_never_used_do_not_make_it_longer() -> None:
    model = gf.build("bart-base", device="meta", max_len=6)
    assert reads(model).longest == 6


def test_common_is_the_smaller() -> None:
    a = Reads(TOKENS, Entrance("tokens", vocab_size=9), 100)
    b = Reads(Entrance("tokens", vocab_size=30), Entrance("tokens", vocab_size=12), 7, pad=1)
    assert common(a, b) == Reads(Entrance("tokens", vocab_size=30), Entrance("tokens", vocab_size=9), 7, 1)
    assert common(Reads(TOKENS), b).target == b.target
    assert common(a, Reads(TOKENS)).target == a.target


def test_no_input_fits_both() -> None:
    with pytest.raises(InputError, match=r"A reads tokens, B reads image 3×8×8: no input fits both"):
        common(Reads(TOKENS), Reads(Entrance("image", shape=(3, 8, 8))))
    with pytest.raises(InputError, match=r"A reads vectors 4, B reads vectors 8"):
        common(Reads(Entrance("vectors", shape=(4,))), Reads(Entrance("vectors", shape=(8,))))


def test_the_built_in_batch_is_always_the_same_and_padded() -> None:
    fits = Reads(TOKENS, Entrance("tokens", vocab_size=20), pad=3)
    one, two = (input_batch(None, fits, "m", None) for _ in range(2))
    assert one.mask is not None and two.mask is not None and one.target is not None and two.target is not None
    assert torch.equal(one.source, two.source) and torch.equal(one.target, two.target)
    assert one.mask.sum(1).tolist() == [9, 6, 3]
    assert (one.source[~one.mask] == 3).all() and (one.source[one.mask] != 3).all()
    assert one.source.max() < 50 and one.target.max() < 20 and one.target.shape == (3, 7)


@pytest.mark.parametrize("longest", [1, 2, 5])
def test_a_short_table_makes_a_short_batch(longest: int) -> None:
    batch = input_batch(None, Reads(TOKENS, TOKENS, longest), "m", None)
    assert batch.mask is not None and batch.target is not None
    assert batch.source.shape[1] == batch.target.shape[1] == longest and batch.mask.any(1).all()


def test_numbers_for_those_that_read_no_tokens() -> None:
    image = input_batch(None, Reads(Entrance("image", shape=(1, 4, 4))), "m", None)
    assert (image.source.shape, image.mask, image.target) == ((3, 1, 4, 4), None, None)
    vectors = input_batch(None, Reads(Entrance("vectors", shape=(8,))), "m", None)
    assert vectors.source.shape == (3, 9, 8)
    assert input_batch(None, Reads(TOKENS, Entrance("vectors", shape=(8,))), "m", None).target.shape == (3, 7, 8)  # type: ignore[union-attr]


def test_a_tensor_is_taken_as_it_is() -> None:
    ids = torch.tensor([[1, 2, 3]])
    batch = input_batch(ids, Reads(TOKENS, TOKENS), "m", None)
    assert batch.source is ids and batch.mask is None and batch.target is not None and batch.target.shape == (1, 7)


def test_texts_are_read_by_the_first_model(tmp_path: Path) -> None:
    loaded = gf.load(trained(tmp_path))
    size = Entrance("tokens", vocab_size=29)
    batch = input_batch(["나는 학교에 간다", "나는"], Reads(size, size), "m", loaded)
    assert batch.mask is not None and batch.target is not None
    assert batch.source[batch.mask].tolist() == [*loaded.framed("나는 학교에 간다"), *loaded.framed("나는")]
    assert (batch.target[:, 0] == loaded.start).all()
    assert input_batch(["나는"], Reads(size, size), "m", loaded).mask is None


def test_texts_that_cannot_be_read(tmp_path: Path) -> None:
    loaded = gf.load(trained(tmp_path))
    with pytest.raises(InputError, match=r"m has no tokenizer to read texts with"):
        input_batch(["a"], Reads(TOKENS), "m", None)
    with pytest.raises(InputError, match="m takes 'image' as input, not text"):
        input_batch(["a"], Reads(Entrance("image", shape=(1, 2, 2))), "m", loaded)
    with pytest.raises(InputError, match=r"the texts give the id \d+, and the smaller vocabulary ends at 3"):
        input_batch(["나는 학교에 간다"], Reads(Entrance("tokens", vocab_size=4)), "m", loaded)
    with pytest.raises(InputError, match="empty"):
        input_batch([], Reads(TOKENS), "m", loaded)


def test_learned_queries_take_the_place_of_a_target() -> None:
    queries = Entrance("queries")
    assert reads(gf.build(open_recipe("object-queries").model, device="meta")).target == queries
    batch = input_batch(None, Reads(TOKENS, queries), "m", None)
    assert batch.target is None and batch.queries and batch.mask is not None
    assert real_places("decoder.blocks.0.self_attention.q", (3, 2, 4, 8), batch) is None
    assert real_places("decoder.blocks.0.cross_attention.k", (3, 2, 9, 8), batch) is not None


def real(tap: str, shape: tuple[int, ...], target: bool = False) -> list[int] | None:
    """The shape of the mask of a tap."""
    batch = SharedInput(torch.zeros(2, 3), MASK, torch.zeros(2, 3) if target else None)
    found = real_places(tap, shape, batch)
    return None if found is None else list(found.shape)


def test_real_places_of_every_kind_of_tap() -> None:
    assert real("encoder.blocks.0.output", (2, 3, 8)) == [2, 3, 1]
    assert real("encoder.blocks.0.self_attention.q", (2, 4, 3, 8)) == [2, 1, 3, 1]
    assert real("decoder.blocks.0.self_attention.k", (2, 4, 3, 8)) == [2, 1, 3, 1]
    assert real("encoder.blocks.0.self_attention.weights", (2, 4, 3, 3)) == [2, 1, 3, 3]
    assert real("encoder.positions.encoding", (3, 8)) is None
    assert real("head.pooled", (2, 8)) is None
    assert real_places("embedding.output", (2, 3, 8), SharedInput(torch.zeros(2, 3))) is None


def test_real_places_with_two_sides() -> None:
    """The target is not padded, and may be as long as the source."""
    assert real("embedding.output", (2, 3, 8), target=True) == [2, 3, 1]
    assert real("embedding.output#2", (2, 3, 8), target=True) is None
    assert real("target_embedding.output", (2, 3, 8), target=True) is None
    assert real("encoder.output", (2, 3, 8), target=True) == [2, 3, 1]
    assert real("decoder.blocks.0.output", (2, 3, 8), target=True) is None
    assert real("head.logits", (2, 3, 8), target=True) is None
    assert real("decoder.blocks.0.self_attention.k", (2, 4, 3, 8), target=True) is None
    assert real("decoder.blocks.0.self_attention.scores", (2, 4, 3, 3), target=True) is None
    assert real("decoder.blocks.0.cross_attention.q", (2, 4, 3, 8), target=True) is None
    assert real("decoder.blocks.0.cross_attention.v", (2, 4, 3, 8), target=True) == [2, 1, 3, 1]
    assert real("decoder.blocks.0.cross_attention.scores", (2, 4, 3, 3), target=True) == [2, 1, 1, 3]
