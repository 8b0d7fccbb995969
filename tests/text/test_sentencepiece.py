from __future__ import annotations

import io
import json
import random
import unicodedata
from pathlib import Path

import pytest
import sentencepiece as spm
from hypothesis import given, settings
from transformers import AutoTokenizer

from foreign_texts import llama, mistral_json, of, t5, t5_undeclared, written
from glassformer.errors import ConfigError, FileError, GlassformerError, InputError
from glassformer.text import SentencePiece, open_tokenizer
from texts import CORPUS, nasty_text, trained


def foreign_model(**options: object) -> bytes:
    """As other people train one: NFKC, a blank before every text, their own special tokens."""
    written = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=written, vocab_size=120, minloglevel=3, **options
    )
    return written.getvalue()


def test_a_lower_one_eighth_block_of_the_text_is_given_in_bytes() -> None:
    tokenizer = trained("sentencepiece")
    assert tokenizer.pieces("a▁b") == ["a", "<E2>", "<96>", "<81>", "b"]
    assert tokenizer.spans("a▁b") == [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]
    assert tokenizer.encode_batch(["a▁b", "a b"]) == [tokenizer.encode("a▁b"), tokenizer.encode("a b")]


@settings(deadline=None)
@given(nasty_text())
def test_byte_pairs_are_exact_too(text: str) -> None:
    tokenizer = _pairs()
    assert tokenizer.decode(tokenizer.encode(text)) == unicodedata.normalize("NFC", text)


def _pairs(cache: list[SentencePiece] = []) -> SentencePiece:  # noqa: B006
    if not cache:
        cache.append(SentencePiece.train(CORPUS, 380, model_type="bpe"))
    return cache[0]


def test_an_unknown_type_of_model_is_refused() -> None:
    with pytest.raises(ConfigError, match="model_type='word' is unknown; use one of: unigram, bpe"):
        SentencePiece.train(CORPUS, 380, model_type="word")


@pytest.mark.parametrize("name", ["spm.model", "spiece.model", "tokenizer.model"])
def test_a_model_trained_elsewhere_keeps_its_own_rules(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(foreign_model())
    tokenizer = open_tokenizer(tmp_path)
    assert isinstance(tokenizer, SentencePiece) and not tokenizer.exact
    specials = tokenizer.specials
    assert (specials.unk, specials.bos, specials.eos, specials.pad) == (0, 1, 2, None)
    reference = spm.SentencePieceProcessor(model_file=str(tmp_path / name))
    text = "나는  Ａschool에 간다."
    assert tokenizer.encode(text) == reference.encode(text)
    assert tokenizer.encode_batch([text, "a▁b"]) == [reference.encode(text), reference.encode("a▁b")]
    assert tokenizer.decode([1, *tokenizer.encode("나는 학교에 간다."), 2]) == "나는 학교에 간다."
    assert not {1, 2} & set(tokenizer.encode("<s> </s>"))


def test_spans_of_a_model_trained_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "spm.model").write_bytes(foreign_model())
    tokenizer = open_tokenizer(tmp_path)
    text = "나는  school에 간다."
    spans = tokenizer.spans(text)
    assert len(spans) == len(tokenizer.encode(text))
    assert "".join(text[first:last] for first, last in spans) == text
    tokenizer.save(tmp_path / "again")
    assert open_tokenizer(tmp_path / "again").spans(text) == spans


def test_an_altered_model_of_our_own_is_refused(tmp_path: Path) -> None:
    trained("sentencepiece").save(tmp_path)
    model = bytearray((tmp_path / "spm.model").read_bytes())
    model[len(model) // 2] ^= 1
    (tmp_path / "spm.model").write_bytes(model)
    with pytest.raises(FileError, match=r"spm\.model is not the file that was saved: its SHA-256 differs"):
        open_tokenizer(tmp_path)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x0a\xff\xff\xff\xff\x0f"])
def test_what_is_no_model_is_refused_in_one_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "spm.model").write_bytes(content)
    with pytest.raises(FileError, match="cannot be read as a tokenizer: ") as refused:
        open_tokenizer(tmp_path)
    assert "\n" not in str(refused.value)


def test_damage_of_any_kind_is_an_error_or_a_tokenizer(tmp_path: Path) -> None:
    model, chance = foreign_model(), random.Random(0)
    refused = 0
    for number in range(150):
        damaged = bytearray(model)
        if number % 3 == 0:
            damaged = damaged[: chance.randrange(len(model))]
        else:
            for _ in range(1 if number % 3 == 1 else 20):
                damaged[chance.randrange(len(model))] = chance.randrange(256)
        (tmp_path / "spm.model").write_bytes(damaged)
        try:
            tokenizer = open_tokenizer(tmp_path)
        except GlassformerError as error:
            refused += 1
            assert "\n" not in str(error)
        else:
            tokenizer.decode(tokenizer.encode(CORPUS[0]))
            tokenizer.spans(CORPUS[0])
    assert refused >= 50


def test_the_kind_must_be_right(tmp_path: Path) -> None:
    trained("bpe").save(tmp_path)
    with pytest.raises(FileError, match="holds a tokenizer of the kind 'bpe', not 'sentencepiece'"):
        SentencePiece.open(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"kind": "sentencepiece"}))
    with pytest.raises(FileError, match="holds no tokenizer"):
        SentencePiece.open(tmp_path)


def test_the_extra_ids_of_t5_are_counted_from_the_end(tmp_path: Path) -> None:
    for number, count in enumerate((0, 7, 100)):
        folder = t5(tmp_path / str(number), extra_ids=count)
        tokenizer, reference = open_tokenizer(folder), AutoTokenizer.from_pretrained(folder)
        assert tokenizer.vocab_size == len(reference) == 120 + count
        names = [tokenizer.piece(token) for token in range(120, 120 + count)]
        assert names == [f"<extra_id_{i}>" for i in reversed(range(count))]
        assert reference.convert_tokens_to_ids(names) == list(range(120, 120 + count))
        ids = tokenizer.encode("I go")
        assert tokenizer.decode([*ids, *range(120, 120 + count), 1]) == "I go"
        with pytest.raises(InputError, match="is not in the vocabulary"):
            tokenizer.decode([120 + count])
    assert open_tokenizer(t5_undeclared(tmp_path / "old")).vocab_size == 220


@pytest.mark.parametrize(
    ("count", "why"), [(-1, "is out of range|must"), (2**20, "is out of range|must"), ("7", "is of the wrong type")]
)
def test_a_wrong_number_of_extra_ids(count: object, why: str, tmp_path: Path) -> None:
    written(t5(tmp_path), {"tokenizer_config.json": {"tokenizer_class": "T5Tokenizer", "extra_ids": count}})
    with pytest.raises(ConfigError, match=f"extra_ids=.*({why})"):
        open_tokenizer(tmp_path)


def test_tokens_added_to_a_model(tmp_path: Path) -> None:
    entries = {"1": {"content": "<s>", "special": True}, "420": {"content": "<pad>", "special": True}}
    folder = llama(tmp_path / "pad", pad_token="<pad>", added_tokens_decoder=entries)
    tokenizer, reference = open_tokenizer(folder), AutoTokenizer.from_pretrained(folder)
    assert (tokenizer.specials.pad, tokenizer.vocab_size) == (reference.pad_token_id, len(reference)) == (420, 421)
    assert tokenizer.piece(420) == "<pad>"
    assert tokenizer.decode([1, *tokenizer.encode("I go"), 420]) == "I go"
    written(folder, {"tokenizer_config.json": {"added_tokens_decoder": {"425": {"content": "a", "special": True}}}})
    assert (open_tokenizer(folder).vocab_size, open_tokenizer(folder).piece(423)) == (426, "")
    written(folder, {"added_tokens.json": {"school": 420}})
    with pytest.raises(FileError, match=r"tokenizer\.model: the word 'school' is added to a SentencePiece model"):
        open_tokenizer(folder)


def test_a_text_that_begins_with_a_blank(tmp_path: Path) -> None:
    """Of Llama's class there is no second one, as for `transformers`; SentencePiece itself adds it."""
    folder = llama(tmp_path)
    itself = spm.SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))
    tokenizer, reference = open_tokenizer(folder), AutoTokenizer.from_pretrained(folder)
    for text in (" I go", " ", "  ", "▁a", " ▁ a"):
        assert tokenizer.encode(text) == reference.encode(text, add_special_tokens=False)
        assert tokenizer.encode_batch([text]) == [itself.encode(text)[1:]] == [tokenizer.encode(text)]
    assert tokenizer.decode(tokenizer.encode("I  go ")) == "I  go "
    assert tokenizer.spans(" I go") == [(0, 1), (1, 2), (2, 5)]
    (folder / "tokenizer_config.json").unlink()
    assert open_tokenizer(folder).encode(" I go") == itself.encode(" I go")


def test_a_mark_after_a_character_that_is_rewritten_is_kept(tmp_path: Path) -> None:
    folder = t5(tmp_path)
    itself = spm.SentencePieceProcessor(model_file=str(folder / "spiece.model"))
    text = "\ufb01\u032d"
    assert open_tokenizer(folder).encode(text) == itself.encode(text)
    assert AutoTokenizer.from_pretrained(folder).encode(text, add_special_tokens=False) == itself.encode(text)[:-1]


def test_mistrals_model_alone_is_read_as_sentencepiece_reads_it(tmp_path: Path) -> None:
    """So it was trained; `transformers` has no class for it and forgets the blank that its own tokenizer.json adds."""
    tokenizer = open_tokenizer(written(llama(tmp_path / "mistral"), of("mistral")))
    library = spm.SentencePieceProcessor(model_file=str(tmp_path / "mistral" / "tokenizer.model"))
    as_json = AutoTokenizer.from_pretrained(mistral_json(tmp_path / "json"))
    for text in (" I go", "  I", "I go", "\t나는", "나는 학교에 간다.", " "):
        expected = library.encode(text, out_type=int)
        assert tokenizer.encode(text) == expected == as_json.encode(text, add_special_tokens=False)
    tokenizer.save(tmp_path / "saved")
    assert open_tokenizer(tmp_path / "saved").encode(" I go") == library.encode(" I go", out_type=int)
