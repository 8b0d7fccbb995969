from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.errors import ConfigError, InputError
from glassformer.text import Tokenizer, open_tokenizer, train
from glassformer.text.tokenizer import NAMES, ROLES, Specials, find_specials
from texts import CORPUS, EXACT, SIZES, nasty_text, trained


def test_names_stand_in_the_order_of_their_ids() -> None:
    assert NAMES == ("<pad>", "<bos>", "<eos>", "<unk>", "<cls>", "<sep>", "<mask>")
    assert Specials().ids() == {role: number for number, role in enumerate(ROLES)}


def test_all_but_the_unknown_are_left_out_of_text() -> None:
    assert Specials().dropped() == {0, 1, 2, 4, 5, 6}


def test_a_missing_one_that_is_needed_is_an_error() -> None:
    assert Specials().need("eos") == 2
    with pytest.raises(InputError, match="this tokenizer has no 'pad' token"):
        Specials(pad=None).need("pad")


def test_they_are_found_by_declaration_or_by_their_usual_names() -> None:
    vocabulary = {"[PAD]": 0, "</s>": 7, "<s>": 8, "!": 9}
    found = find_specials(vocabulary.get, {"unk": "!"})
    assert found == Specials(pad=0, bos=8, eos=7, unk=9, cls=None, sep=None, mask=None)


KINDS = tuple(SIZES)
TESTS = Path(__file__).parents[1]


def composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


@pytest.mark.many
@pytest.mark.parametrize("kind", EXACT)
@settings(deadline=None)
@given(nasty_text())
def test_every_text_comes_back(kind: str, text: str) -> None:
    tokenizer = trained(kind)
    assert tokenizer.exact
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == composed(text)
    assert all(7 <= token < tokenizer.vocab_size for token in ids)  # never a special token
    assert tokenizer.encode(unicodedata.normalize("NFD", text)) == ids
    assert tokenizer.encode_batch([text, "나는", text]) == [ids, tokenizer.encode("나는"), ids]


@pytest.mark.many
@pytest.mark.parametrize("kind", EXACT)
@settings(deadline=None)
@given(nasty_text())
def test_spans_cover_the_text_in_order(kind: str, text: str) -> None:
    tokenizer = trained(kind)
    spans, text = tokenizer.spans(text), composed(text)
    assert len(spans) == len(tokenizer.encode(text)) == len(tokenizer.pieces(text))
    reached = 0
    for first, last in spans:
        assert first < last and first in (reached, reached - 1)
        reached = last
    assert reached == len(text)


@pytest.mark.parametrize("kind", KINDS)
def test_sentences_of_its_corpus_come_back_in_few_pieces(kind: str) -> None:
    tokenizer = trained(kind)
    assert [tokenizer.decode(ids) for ids in tokenizer.encode_batch(CORPUS)] == CORPUS
    assert tokenizer.kind == kind
    assert tokenizer.vocab_size == (SIZES[kind] or tokenizer.vocab_size)
    if kind != "characters":
        assert sum(map(len, tokenizer.encode_batch(CORPUS))) < 0.6 * sum(map(len, CORPUS))


@pytest.mark.parametrize("kind", KINDS)
def test_special_tokens_are_told_from_text(kind: str) -> None:
    tokenizer = trained(kind)
    assert tokenizer.specials == Specials()
    names = [tokenizer.piece(token) for token in range(7)]
    assert names == ["<pad>", "<bos>", "<eos>", "<unk>", "<cls>", "<sep>", "<mask>"]
    for name in names:
        ids = tokenizer.encode(name)
        assert ids == [3] if kind == "words" else min(ids) > 6  # an unknown word
    ids = tokenizer.encode("나는 학교에 간다.")
    assert tokenizer.decode([1, 4, *ids, 5, 6, 2, 0, 0]) == "나는 학교에 간다."
    assert "<unk>" in tokenizer.decode([*ids, 3])


@pytest.mark.parametrize("kind", KINDS)
def test_saved_opened_and_sent_to_another_process_it_is_the_same(kind: str, tmp_path: Path) -> None:
    tokenizer = trained(kind)
    tokenizer.save(tmp_path / "once")
    opened = open_tokenizer(tmp_path / "once")
    opened.save(tmp_path / "twice")
    files = sorted(path.name for path in (tmp_path / "once").iterdir())
    assert "spm.model" in files or "tokenizer.json" in files
    for name in files:
        assert (tmp_path / "once" / name).read_bytes() == (tmp_path / "twice" / name).read_bytes()
    sent = pickle.loads(pickle.dumps(tokenizer))
    for other in (opened, sent):
        assert type(other) is type(tokenizer)
        assert (other.kind, other.exact, other.specials) == (kind, tokenizer.exact, Specials())
        assert other.vocab_size == tokenizer.vocab_size
        for text in (*CORPUS[:20], "<eos> ▁ 한글 \0 😀"):
            assert other.encode(text) == tokenizer.encode(text)
            assert other.pieces(text) == tokenizer.pieces(text)
            assert other.spans(text) == tokenizer.spans(text)
            assert other.decode(other.encode(text)) == tokenizer.decode(tokenizer.encode(text))


def hashes(folder: Path) -> list[str]:
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.rglob("*")) if path.is_file()]


@pytest.mark.slow
def test_the_same_texts_give_the_same_files_in_every_process(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys, texts\nfor kind in texts.SIZES: texts.trained(kind).save(pathlib.Path(sys.argv[1], kind))"
    )
    for kind in KINDS:
        train(kind, CORPUS, SIZES[kind]).save(tmp_path / "here" / kind)
    for number, threads in enumerate(("1", "2", "3")):
        path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": threads, "RAYON_NUM_THREADS": threads}
        folder = tmp_path / str(number)
        subprocess.run([sys.executable, "-c", code, str(folder)], env=environment, check=True)
        assert hashes(folder) == hashes(tmp_path / "here")


@pytest.mark.parametrize("kind", KINDS)
def test_a_vocabulary_larger_than_the_texts_can_give_is_refused_with_the_size_that_they_can(kind: str) -> None:
    with pytest.raises(ConfigError, match=f"vocab_size=90000 is more than the tokenizer '{kind}' can learn") as refused:
        train(kind, CORPUS, 90_000)
    most = int(str(refused.value.values["most"]))
    assert train(kind, CORPUS, most).vocab_size == most
    with pytest.raises(ConfigError, match=f"use {most} or less"):
        train(kind, CORPUS, most + 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_vocabulary_smaller_than_its_alphabet_is_refused_with_the_smallest(kind: str) -> None:
    with pytest.raises(ConfigError, match=f"vocab_size=7 is too small for the tokenizer '{kind}'") as refused:
        train(kind, CORPUS, 7)
    least = int(str(refused.value.values["least"]))
    if kind in ("unigram", "sentencepiece"):  # what the characters of the texts take is known only from the texts
        with pytest.raises(ConfigError, match="is too small") as refused:
            train(kind, CORPUS, least)
        least = int(str(refused.value.values["least"]))
    assert train(kind, CORPUS, least).vocab_size == least


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("texts", [[], [""], iter(())])
def test_nothing_to_learn_from(kind: str, texts: list[str]) -> None:
    with pytest.raises(InputError, match="there is no text to learn a vocabulary from"):
        train(kind, texts, 1000)


@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_text_among_the_others_is_named(kind: str) -> None:
    with pytest.raises(InputError, match="half of a surrogate pair"):
        train(kind, iter([*CORPUS, "\ud800"]), SIZES[kind])
    with pytest.raises(InputError, match="half of a surrogate pair"):
        trained(kind).encode("\udfff")
    with pytest.raises(InputError, match="is not a text"):
        trained(kind).encode_batch(["a", None])  # type: ignore[list-item]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("token", [-1, 10**6, 2**70])
def test_an_id_out_of_range_is_refused(kind: str, token: int) -> None:
    tokenizer: Tokenizer = trained(kind)
    with pytest.raises(InputError, match="is not in the vocabulary"):
        tokenizer.decode([7, token])
    with pytest.raises(InputError, match="is not in the vocabulary"):
        tokenizer.piece(token)


@pytest.mark.many
@pytest.mark.parametrize("kind", EXACT)
@settings(deadline=None)
@given(st.lists(st.integers(0, 379)))
def test_any_ids_decode_to_some_text(kind: str, ids: list[int]) -> None:
    tokenizer = trained(kind)
    text = tokenizer.decode([token % tokenizer.vocab_size for token in ids])
    assert text.encode().decode() == text


@pytest.mark.many
@pytest.mark.parametrize("kind", EXACT)
def test_a_long_text_without_a_blank_is_no_trouble(kind: str) -> None:
    tokenizer = trained(kind)
    text = "가나다abc" * 20_000
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert train(kind, [text, *CORPUS], SIZES[kind]).exact
