from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import tokenizers
import torch
from tokenizers import models, pre_tokenizers, trainers

from glassformer.errors import ConfigError, InputError
from glassformer.tasks.masked_language_model.fill import fill, put, split_at_gaps, with_masks
from glassformer.text import Tokenizer, open_tokenizer
from small_models import small
from texts import CORPUS, SIZES, data_file, trained

CLS, SEP, MASK = 4, 5, 6


def masked(tokenizer: Tokenizer, text: str) -> list[str]:
    """The pieces of a text with its masks."""
    loaded = small("masked_language_model", tokenizer=tokenizer)
    ids = loaded.frame.around(with_masks(loaded, split_at_gaps(tokenizer, text)[::2], tokenizer.specials.need("mask")))
    return [tokenizer.piece(token) for token in ids[1:-1]]


def test_the_candidates_are_the_models_probabilities() -> None:
    loaded = small("masked_language_model")
    (found,) = fill(loaded, "I go to ___!", top=7)
    tokenizer = loaded.tokenizer
    ids = [CLS, *tokenizer.encode("I go to"), MASK, *tokenizer.encode("!"), SEP]
    shares = loaded.model(torch.tensor([ids]))[0, ids.index(MASK)].softmax(0)
    for one in found.candidates:
        assert one.probability == pytest.approx(shares[one.token].item(), abs=1e-6)
        assert one.token > MASK
    expected = shares[7:].topk(7).indices + 7
    assert [one.token for one in found.candidates] == expected.tolist()
    assert len(found.candidates) == 7


@pytest.mark.parametrize("gap", ["[MASK]", "<mask>", "___", "______"])
def test_every_way_to_write_a_gap(gap: str) -> None:
    loaded = small("masked_language_model")
    (found,) = fill(loaded, f"나는 {gap} 간다.")
    assert found == fill(loaded, "나는 ___ 간다.")[0]
    assert all(one.text.startswith("나는") and one.text.endswith(" 간다.") for one in found.candidates)


def test_several_gaps_each_by_itself() -> None:
    loaded = small("masked_language_model")
    first, second = fill(loaded, "[MASK] go ___ school!", top=2)
    assert (first.mask, second.mask) == (1, 2)
    assert all(one.text.endswith(" go ___ school!") for one in first.candidates)
    assert all(one.text.startswith("[MASK] go") and one.text.endswith(" school!") for one in second.candidates)


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "unigram", "sentencepiece"])
def test_where_pieces_hold_the_blank_it_is_masked_with_the_word(kind: str) -> None:
    tokenizer = trained(kind)
    assert masked(tokenizer, "we go ___ the library!") == [
        *tokenizer.pieces("we go"),
        "<mask>",
        *tokenizer.pieces(" the library!"),
    ]


@pytest.mark.parametrize("kind", ["characters", "words"])
def test_elsewhere_it_is_not(kind: str) -> None:
    tokenizer = trained(kind)
    assert masked(tokenizer, "we go ___") == [*tokenizer.pieces("we go "), "<mask>"]


@pytest.mark.parametrize("kind", SIZES)
def test_a_word_in_its_place_gives_the_text_back(kind: str) -> None:
    tokenizer = trained(kind)
    for text in ("나는 학교에 간다.", "we go to the library!"):
        ids = tokenizer.encode(text)
        for place, token in enumerate(ids):
            before = tokenizer.decode(ids[:place])
            if before.endswith(" ") and kind != "characters":
                continue  # a blank that is a piece of its own: whoever writes a gap behind it masks it too
            word, joined = put(tokenizer, before + (" " if kind == "words" and before else ""), token)
            assert joined == tokenizer.decode(ids[: place + 1]) or "�" in tokenizer.decode([token])
            assert word


def test_a_part_of_a_character_shows_its_bytes() -> None:
    tokenizer = trained("bpe")
    (token,) = {i for i in range(tokenizer.vocab_size) if tokenizer.piece(i) == "<ED>"}
    assert put(tokenizer, "나", token) == ("<ED>", "나<ED>")


def test_no_more_candidates_than_words() -> None:
    loaded = small("masked_language_model", tokenizer=trained("words"))
    (found,) = fill(loaded, "I ___", top=10_000)
    assert len(found.candidates) == loaded.tokenizer.vocab_size - 7
    assert sum(one.probability for one in found.candidates) < 1.0


def test_rows_that_no_piece_belongs_to_are_no_candidates() -> None:
    loaded = small("masked_language_model")
    known = loaded.tokenizer.vocab_size
    loaded.model.head.weight = torch.nn.Parameter(torch.cat([loaded.model.head.weight, torch.full((9, 16), 5.0)]))
    (found,) = fill(loaded, "I ___", top=known)
    assert max(one.token for one in found.candidates) < known


def test_what_cannot_be_filled() -> None:
    loaded = small("masked_language_model")
    with pytest.raises(InputError, match="there is no gap in 'I go'; write <mask> or ___ where a word is missing"):
        fill(loaded, "I go")
    with pytest.raises(InputError, match="3 is not a text; give a string"):
        fill(loaded, 3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="top=0 is out of range"):
        fill(loaded, "I ___", top=0)
    with pytest.raises(InputError, match="and cannot fill; use glassformer generate"):
        fill(small("language_model"), "I ___")
    with pytest.raises(InputError, match="the text has 60 positions, and at most 48 are read"):
        fill(loaded, "\0" * 57 + "___")


def test_the_end_of_a_long_text_is_cut_but_never_a_gap() -> None:
    loaded = small("masked_language_model")
    (found,) = fill(loaded, "a ___ b" + " c" * 40, truncate=True)
    assert len(found.candidates) == 5 and found.candidates[0].text.endswith(" c" * 40)
    with pytest.raises(InputError, match="a gap would be cut off; shorten the text around the gap"):
        fill(loaded, "c " * 40 + "___", truncate=True)


def test_it_shows_itself() -> None:
    found = fill(small("masked_language_model"), "I ___", top=2)
    assert [len(line) for line in found[0].lines()] == [4, 4]
    assert found._repr_html_().count("<tr>") == 3
    assert found[0].to_json()["candidates"][0].keys() == {"word", "probability", "text", "token"}


# --- the same ids as transformers ---


def test_bert_reads_a_gap_as_in_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    words = gzip.decompress(data_file("vocab-bert-base-uncased/vocab.txt.gz").read_bytes())
    (tmp_path / "vocab.txt").write_bytes(words)
    theirs, ours = transformers.BertTokenizer.from_pretrained(tmp_path), open_tokenizer(tmp_path)
    loaded = small("masked_language_model", tokenizer=ours)
    for text in ("Paris is the [MASK] of France.", "[MASK]", "walk[MASK] in the [MASK], now"):
        ids = with_masks(loaded, split_at_gaps(ours, text)[::2], ours.specials.need("mask"))
        assert loaded.frame.around(ids) == theirs(text)["input_ids"]
    inside, whole = (words.decode().split("\n").index(word) for word in ("##ing", "city"))
    assert put(ours, "walk ", inside) == ("ing", "walking")
    assert put(ours, "the ", whole) == ("city", "the city")


def test_roberta_reads_a_gap_as_in_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    library = tokenizers.Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    library.train_from_iterator(CORPUS, trainer)
    library.model.save(str(tmp_path))
    mask = tokenizers.AddedToken("<mask>", lstrip=True, special=True)  # as in the published files
    theirs = transformers.RobertaTokenizer.from_pretrained(tmp_path, mask_token=mask)
    ours = open_tokenizer(tmp_path)
    loaded = small("masked_language_model", tokenizer=ours, frame=("bos", "eos"))
    for text in ("we go to <mask>!", "<mask> go home", "나는 <mask> 간다.", "we <mask> <mask> school"):
        ids = with_masks(loaded, split_at_gaps(ours, text)[::2], ours.specials.need("mask"))
        assert loaded.frame.around(ids) == theirs(text)["input_ids"]
