from __future__ import annotations

import pickle
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from foreign_texts import CHANGED, DECOMPOSED, LAYOUTS, LOOK_ALIKES, UGLY, bert, gpt2, llama, random_texts, t5, written
from glassformer.errors import ConfigError, FileError
from glassformer.text import TOKENIZERS, framing, open_tokenizer, train
from texts import CORPUS, NASTY, SIZES, trained


def test_every_kind_has_its_own_name() -> None:
    assert list(TOKENIZERS) == list(SIZES)
    assert all(TOKENIZERS[kind].kind == kind for kind in TOKENIZERS)


def test_options_are_those_of_the_kind() -> None:
    assert train("bpe", CORPUS, 300, {"min_frequency": 3}).vocab_size == 300
    with pytest.raises(ConfigError, match=r"tokenizer\.min_frequenzy: 'bpe' has no such option; did you mean min_freq"):
        train("bpe", CORPUS, 300, {"min_frequenzy": 3})
    with pytest.raises(ConfigError, match=r"tokenizer\.texts: 'bpe' has no such option"):
        train("bpe", CORPUS, 300, {"texts": []})
    with pytest.raises(ConfigError, match="tokenizer='bpee' is unknown; use one of: bpe, wordpiece"):
        train("bpee", CORPUS, 300)
    with pytest.raises(ConfigError, match="vocab_size is missing, and the tokenizer 'unigram' needs it"):
        train("unigram", CORPUS)
    with pytest.raises(ConfigError, match="vocab_size='300' is of the wrong type"):
        train("bpe", CORPUS, "300")  # type: ignore[arg-type]


def test_a_folder_without_a_tokenizer(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(FileError, match=r"holds no tokenizer; it needs tokenizer\.json"):
            open_tokenizer(folder)


@pytest.mark.parametrize("kind", ['"bpee"', "3", "[]"])
def test_a_folder_of_an_unknown_kind(kind: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text(f'{{"kind": {kind}}}')
    with pytest.raises(FileError, match=r"names the kind .*, which is unknown; use one of: bpe, wordpiece"):
        open_tokenizer(tmp_path)


@pytest.mark.many
@pytest.mark.parametrize("layout", LAYOUTS)
def test_ids_of_every_layout_are_those_of_transformers(layout: str, tmp_path: Path) -> None:
    folder = LAYOUTS[layout][0](tmp_path)
    reference, tokenizer = AutoTokenizer.from_pretrained(folder), open_tokenizer(folder)
    assert tokenizer.vocab_size == len(reference)
    texts = [*UGLY, *CORPUS[::10], *random_texts(300)]
    expected = [reference.encode(text, add_special_tokens=False) for text in texts]
    assert [tokenizer.encode(text) for text in texts] == expected
    assert tokenizer.encode_batch(texts) == expected
    for text, ids in zip(texts, expected, strict=True):
        assert len(tokenizer.spans(text)) == len(tokenizer.pieces(text)) == len(ids)


@pytest.mark.many
@pytest.mark.parametrize("layout", LAYOUTS)
def test_on_purpose_other_than_transformers_text_is_composed(layout: str, tmp_path: Path) -> None:
    folder = LAYOUTS[layout][0](tmp_path)
    reference, tokenizer = AutoTokenizer.from_pretrained(folder), open_tokenizer(folder)
    for text in DECOMPOSED:
        composed = unicodedata.normalize("NFC", text)
        assert tokenizer.encode(text) == reference.encode(composed, add_special_tokens=False)


@pytest.mark.many
@pytest.mark.parametrize("layout", LAYOUTS)
def test_on_purpose_other_than_transformers_special_tokens_typed_by_a_person_stay_text(
    layout: str, tmp_path: Path
) -> None:
    folder = LAYOUTS[layout][0](tmp_path)
    reference, tokenizer = AutoTokenizer.from_pretrained(folder), open_tokenizer(folder)
    special = set(reference.all_special_ids)
    if reference.unk_token_id != reference.eos_token_id:  # of GPT-2 they are the same
        special.discard(reference.unk_token_id)
    recognised = 0
    for text in (*LOOK_ALIKES, *reference.all_special_tokens):
        assert not special & set(tokenizer.encode(text))
        recognised += bool(special & set(reference.encode(text, add_special_tokens=False)))
    assert recognised


@pytest.mark.many
@pytest.mark.parametrize("layout", LAYOUTS)
def test_texts_that_transformers_reads_back_are_read_back_the_same(layout: str, tmp_path: Path) -> None:
    folder = LAYOUTS[layout][0](tmp_path)
    reference, tokenizer = AutoTokenizer.from_pretrained(folder), open_tokenizer(folder)
    for text in (*CORPUS[::10], "a  b", " a", "123", ""):
        ids = tokenizer.encode(text)
        if tokenizer.specials.unk in ids or layout == "marian-separate":  # transformers reads the target's list there
            continue
        assert tokenizer.decode(ids) == reference.decode(ids, skip_special_tokens=True)


@pytest.mark.many
@pytest.mark.parametrize("layout", LAYOUTS)
def test_saved_it_opens_again_here_and_in_transformers(layout: str, tmp_path: Path) -> None:
    folder = LAYOUTS[layout][0](tmp_path / "foreign")
    tokenizer = open_tokenizer(folder)
    tokenizer.save(tmp_path / "saved")
    again, reference = open_tokenizer(tmp_path / "saved"), AutoTokenizer.from_pretrained(tmp_path / "saved")
    assert framing(tmp_path / "saved") == framing(folder)
    assert (again.kind, again.vocab_size, again.specials) == (tokenizer.kind, tokenizer.vocab_size, tokenizer.specials)
    sent = pickle.loads(pickle.dumps(tokenizer))
    for text in (*UGLY, *LOOK_ALIKES):
        ids = tokenizer.encode(text)
        assert again.encode(text) == sent.encode(text) == ids
        assert again.spans(text) == sent.spans(text) == tokenizer.spans(text)
        if text in UGLY:
            assert reference.encode(text, add_special_tokens=False) == ids
    again.save(tmp_path / "twice")
    for path in (tmp_path / "saved").iterdir():
        assert (tmp_path / "twice" / path.name).read_bytes() == path.read_bytes()
        if layout not in CHANGED:
            assert (folder / path.name).read_bytes() == path.read_bytes()


@pytest.mark.many
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_folder_written_by_transformers_opens(layout: str, tmp_path: Path) -> None:
    folder = LAYOUTS[layout][0](tmp_path / "foreign")
    reference = AutoTokenizer.from_pretrained(folder)
    reference.save_pretrained(tmp_path / "written")
    tokenizer = open_tokenizer(tmp_path / "written")
    assert tokenizer.vocab_size == len(reference)
    for text in UGLY:
        assert tokenizer.encode(text) == reference.encode(text, add_special_tokens=False), ascii(text)
    roles, ids = framing(tmp_path / "written"), tokenizer.specials.ids()
    begin, end = ([ids[role]] if role != "none" else [] for role in roles or ())
    assert [*begin, *tokenizer.encode("I go"), *end] == reference.encode("I go")


@pytest.mark.parametrize("kind", SIZES)
def test_what_is_trained_here_is_read_by_transformers(kind: str, tmp_path: Path) -> None:
    """All kinds but "sentencepiece": no class there keeps every blank and every ▁ of a text, as ours does."""
    tokenizer = trained(kind)
    tokenizer.save(tmp_path)
    if kind == "sentencepiece":
        with pytest.raises(ValueError, match="Couldn't instantiate the backend tokenizer"):
            AutoTokenizer.from_pretrained(tmp_path)
        return
    reference = AutoTokenizer.from_pretrained(tmp_path)
    assert (len(reference), reference.pad_token_id, reference.eos_token_id) == (tokenizer.vocab_size, 0, 2)
    assert (reference.bos_token_id, reference.unk_token_id, reference.cls_token_id) == (1, 3, 4)
    for text in (*UGLY, *DECOMPOSED, *LOOK_ALIKES, *NASTY, *CORPUS):
        ids = tokenizer.encode(text)
        assert reference.encode(text) == ids
        read = reference.decode(ids, skip_special_tokens=True)
        if kind != "words":  # whose first word there has a blank before it, and whose unknown ones are left out
            assert read == tokenizer.decode(ids)


@pytest.mark.parametrize(
    ("make", "name"), [(gpt2, "vocab.json"), (bert, "vocab.txt"), (t5, "spiece.model"), (llama, "tokenizer.model")]
)
def test_a_class_with_rules_of_its_own_is_refused(make: Callable[..., Path], name: str, tmp_path: Path) -> None:
    written(make(tmp_path), {"tokenizer_config.json": {"tokenizer_class": "XLMRobertaTokenizer"}})
    with pytest.raises(FileError, match=f"{name} is of the class 'XLMRobertaTokenizer', whose rules are not known"):
        open_tokenizer(tmp_path)
