from __future__ import annotations

import json
import pickle
import random
import unicodedata
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from foreign_texts import DECOMPOSED, LOOK_ALIKES, UGLY, marian, written
from glassformer.errors import ConfigError, FileError, GlassformerError, InputError
from glassformer.text import Marian, Vocabularies, open_tokenizer
from glassformer.text.marian import split_code
from texts import CORPUS


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("side", ["source", "target"])
def test_ids_of_either_side_are_those_of_transformers(side: str, separate: bool, tmp_path: Path) -> None:
    folder = marian(tmp_path, separate=separate)
    reference, tokenizer = AutoTokenizer.from_pretrained(folder), Marian.open(folder, side)
    key = "text" if side == "source" else "text_target"
    texts = [
        *UGLY,
        *CORPUS[::20],
        ">>fra<< I go",
        ">>kor<<나는",
        ">>xxx<< I go",
        "I >>fra<< go",
        ">> a",
        ">>",
        "a << b",
    ]
    for text in texts:
        assert tokenizer.encode(text) == reference(**{key: text}, add_special_tokens=False)["input_ids"], ascii(text)
    for text in DECOMPOSED:
        composed = unicodedata.normalize("NFC", text)
        assert tokenizer.encode(text) == reference(**{key: composed}, add_special_tokens=False)["input_ids"]
    assert tokenizer.encode_batch(texts) == [tokenizer.encode(text) for text in texts]


def test_special_tokens_typed_by_a_person_stay_text(tmp_path: Path) -> None:
    folder = marian(tmp_path)
    for side in ("source", "target"):
        tokenizer = Marian.open(folder, side)
        specials = tokenizer.specials
        for text in LOOK_ALIKES:
            assert not {specials.eos, specials.pad} & set(tokenizer.encode(text))
    assert AutoTokenizer.from_pretrained(folder).encode("</s>", add_special_tokens=False) == [0]


@pytest.mark.parametrize("separate", [False, True])
def test_the_target_reads_back_as_in_transformers(separate: bool, tmp_path: Path) -> None:
    folder = marian(tmp_path, separate=separate)
    reference, tokenizer = AutoTokenizer.from_pretrained(folder), Marian.open(folder, "target")
    for text in (text for text in CORPUS if not text.isascii()):
        ids = tokenizer.encode(text)
        assert tokenizer.decode([*ids, 0, tokenizer.specials.need("pad")]) == text
        if not separate:  # there it leaves out of the target what is the source's <pad> by number
            assert reference.decode([*ids, 0], skip_special_tokens=True) == text
    assert tokenizer.decode([*tokenizer.encode("나는 Q"), 0]) == "나는  ⁇"


def test_a_language_code_is_one_token(tmp_path: Path) -> None:
    tokenizer = Marian.open(marian(tmp_path))
    ids = tokenizer.encode(">>fra<< I go")
    assert ids[0] == tokenizer.vocabulary[">>fra<<"]
    assert tokenizer.pieces(">>fra<< I go")[0] == ">>fra<<"
    assert tokenizer.spans(">>fra<< I go") == [(0, 7), (8, 9), (9, 12)]
    assert split_code(">>fra I go") == ([], ">>fra I go")
    assert split_code("I >>fra<< go") == ([], "I >>fra<< go")


def test_spans_and_pieces_have_one_entry_for_each_id(tmp_path: Path) -> None:
    tokenizer = Marian.open(marian(tmp_path))
    for text in (*UGLY, *LOOK_ALIKES):
        count = len(tokenizer.encode(text))
        assert len(tokenizer.spans(text)) == len(tokenizer.pieces(text)) == count
    assert tokenizer.pieces("I go") == ["▁I", "▁go"]
    assert tokenizer.piece(0) == "</s>"
    with pytest.raises(InputError, match="is not in the vocabulary"):
        tokenizer.piece(tokenizer.vocab_size)


@pytest.mark.parametrize("separate", [False, True])
def test_a_folder_holds_both_sides(separate: bool, tmp_path: Path) -> None:
    folder = marian(tmp_path / "foreign", separate=separate)
    both = Vocabularies.open(folder)
    assert (both.source.kind, both.target.kind, both.joint) == ("marian", "marian", not separate)
    assert open_tokenizer(folder).encode("I go") == both.source.encode("I go")
    both.save(tmp_path / "run")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["tokenizer"]
    saved = tmp_path / "run" / "tokenizer"
    for path in saved.iterdir():
        assert path.read_bytes() == (folder / path.name).read_bytes()
    again = Vocabularies.open(tmp_path / "run")
    reference = AutoTokenizer.from_pretrained(saved)
    for text in (*UGLY, *CORPUS[::20]):
        assert again.source.encode(text) == both.source.encode(text)
        assert again.target.encode(text) == both.target.encode(text)
        assert reference.encode(text, add_special_tokens=False) == both.source.encode(text)
    sent = pickle.loads(pickle.dumps(both))
    assert sent.target.encode("나는 간다") == both.target.encode("나는 간다")


def test_a_folder_saved_by_transformers_opens(tmp_path: Path) -> None:
    folder = marian(tmp_path / "foreign")
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "again")
    assert open_tokenizer(tmp_path / "again").encode("I go") == open_tokenizer(folder).encode("I go")


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    folder = marian(tmp_path)
    vocabulary = json.loads((folder / "vocab.json").read_text())
    for piece in ("<unk>", "</s>"):
        rest = [name for name in vocabulary if name != piece]
        written(folder, {"vocab.json": {name: number for number, name in enumerate(rest)}})
        with pytest.raises(FileError, match=rf"vocab\.json has no piece '{piece}', which its tokenizer needs"):
            open_tokenizer(folder)
    written(folder, {"tokenizer_config.json": {"separate_vocabs": True}, "vocab.json": vocabulary})
    with pytest.raises(FileError, match=r"target_vocab\.json cannot be read: No such file"):
        Vocabularies.open(folder)
    written(folder, {"tokenizer_config.json": {"separate_vocabs": "yes"}})
    with pytest.raises(ConfigError, match="separate_vocabs='yes' is of the wrong type"):
        Vocabularies.open(folder)
    written(folder, {"tokenizer_config.json": {"tokenizer_class": "M2M100Tokenizer"}})
    with pytest.raises(FileError, match="is of the class 'M2M100Tokenizer', whose rules are not known here"):
        Vocabularies.open(folder)
    (folder / "target.spm").unlink()
    written(folder, {"tokenizer_config.json": {}})
    with pytest.raises(FileError, match="holds no tokenizer"):
        Marian.open(folder)


def test_damage_of_any_kind_is_an_error_or_a_tokenizer(tmp_path: Path) -> None:
    folder, chance = marian(tmp_path), random.Random(0)
    names = ("source.spm", "target.spm", "vocab.json", "tokenizer_config.json")
    whole = {name: (folder / name).read_bytes() for name in names}
    refused = 0
    for number in range(120):
        name = names[number % 4]
        damaged = bytearray(whole[name])
        if number % 3 == 0:
            damaged = damaged[: chance.randrange(len(damaged))]
        else:
            for _ in range(1 if number % 3 == 1 else 20):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        (folder / name).write_bytes(damaged)
        try:
            both = Vocabularies.open(folder)
        except GlassformerError as error:
            refused += 1
            assert "\n" not in str(error)
        else:
            both.target.decode(both.source.encode(CORPUS[0])[:1])
        (folder / name).write_bytes(whole[name])
    assert refused >= 50
