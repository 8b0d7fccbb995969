from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given, settings
from tokenizers import pre_tokenizers

from foreign_texts import hostile_pattern, t5_json
from glassformer.errors import FileError, InputError
from glassformer.text import Bpe, Unigram, open_tokenizer
from glassformer.text.normalisation import normalise
from glassformer.text.pipeline import TOKENIZER_FILE, Pipeline, brings_patterns
from glassformer.text.tokenizer import NAMES
from texts import CORPUS, NASTY, SIZES, nasty_text, trained

JSON_KINDS = [kind for kind in SIZES if kind != "sentencepiece"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {kind: tmp_path_factory.mktemp(kind) for kind in JSON_KINDS}
    for kind, folder in found.items():
        trained(kind).save(folder)
    return found


@pytest.mark.parametrize("kind", JSON_KINDS)
def test_transformers_opens_the_file_and_gives_the_same_ids(kind: str, folders: dict[str, Path]) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = trained(kind)
    plain = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folders[kind] / "tokenizer.json"))
    for text in (*CORPUS, *(text for text in NASTY if text not in NAMES)):
        assert plain.encode(text, add_special_tokens=False) == tokenizer.encode(text)
    assert plain.encode("\u1112\u1161\u11ab") == tokenizer.encode("한")
    whole = transformers.AutoTokenizer.from_pretrained(str(folders[kind]))
    assert (whole.pad_token_id, whole.bos_token_id, whole.eos_token_id, whole.mask_token_id) == (0, 1, 2, 6)
    for text in (*NAMES, "<s>나는 <eos> 간다.<pad>"):
        assert whole.encode(text, add_special_tokens=False) == tokenizer.encode(text)
    if tokenizer.exact:
        ids = [1, *tokenizer.encode("나는 학교에 간다 👨‍👩‍👧."), 2]
        assert whole.decode(ids, skip_special_tokens=True) == tokenizer.decode(ids)


@pytest.mark.many
@pytest.mark.parametrize("kind", JSON_KINDS)
@settings(max_examples=50, deadline=None)
@given(text=nasty_text())
def test_the_saved_file_alone_is_exact(kind: str, folders: dict[str, Path], text: str) -> None:
    opened = open_tokenizer(folders[kind])
    assert opened.encode(text) == trained(kind).encode(text)
    if opened.exact:
        assert opened.decode(opened.encode(text)) == normalise(text)


def edited(folder: Path, target: Path, **changes: Any) -> Path:
    """A copy of a saved tokenizer with some of the values of its file replaced."""
    table = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    (target / "tokenizer.json").write_text(json.dumps(table | changes), encoding="utf-8")
    return target


def test_a_file_from_elsewhere_keeps_its_own_rules(folders: dict[str, Path], tmp_path: Path) -> None:
    padding = {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": None}
    padding |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "<pad>"}
    opened = open_tokenizer(edited(folders["bpe"], tmp_path, normalizer={"type": "Lowercase"}, padding=padding))
    assert isinstance(opened, Bpe) and not opened.exact
    assert opened.specials == trained("bpe").specials
    assert opened.encode("SCHOOL") == trained("bpe").encode("school")
    assert opened.decode(opened.encode("SCHOOL 학교에")) == "school 학교에"
    assert opened.pieces("학교에") == trained("bpe").pieces("학교에")
    assert opened.spans("SCHOOL")[-1][1] == 6
    assert opened.encode("<eos>") == trained("bpe").encode("<eos>")
    opened.save(tmp_path / "again")
    assert not open_tokenizer(tmp_path / "again").exact
    assert open_tokenizer(tmp_path / "again").encode("SCHOOL") == opened.encode("school")


def test_a_unigram_model_from_elsewhere(folders: dict[str, Path], tmp_path: Path) -> None:
    opened = open_tokenizer(edited(folders["unigram"], tmp_path))
    assert isinstance(opened, Unigram) and not opened.exact
    assert opened.pieces("나는 간다.") == [piece.replace("▁", " ") for piece in trained("unigram").pieces("나는 간다.")]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "EOF while parsing"),
        ("{", "EOF while parsing"),
        ("[]", "expected struct Tokenizer|invalid length"),
        ("{}", "Model missing"),
        ("[" * 10**5, "invalid|recursion|expected"),
        ('{"version":"1.0","model":{"type":"Unigram","vocab":[],"unk_id":7}}', "vocab"),
        ('{"version":"1.0","model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}}', "out of vocabulary"),
        ('{"version":"1.0","model":{"type":"BPE","vocab":{"a":0},"merges":7}}', "."),
        ('{"version":"1.0","model":7}', "."),
        ('{"version":"1.0","model":{"type":"WordPiece","vocab":{"a":0},"unk_token":"u"}}', "."),
        ('{"version":"1.0","model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"u"}}', "."),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(content: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(FileError, match=rf"tokenizer\.json cannot be read as a tokenizer: .*({why})") as refused:
        open_tokenizer(tmp_path)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_what_it_says_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(FileError, match="holds a tokenizer of the kind 'unigram', not 'bpe'"):
        Bpe.open(folders["unigram"])
    with pytest.raises(FileError, match="holds a tokenizer of the kind 'characters', not 'bpe'"):
        Bpe.open(folders["characters"])
    for merges in (["a b"], [["a", "b"]]):
        model = {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": merges}
        with pytest.raises(FileError, match="merges 'a' and 'b' to what is not in the vocabulary"):
            open_tokenizer(edited(folders["bpe"], tmp_path, model=model, added_tokens=[]))
    edited(folders["characters"], tmp_path)
    (tmp_path / "tokenizer_config.json").write_text('{"kind": "bpe", "own": true}')
    with pytest.raises(FileError, match=r"the kind 'bpe': the piece .* is not in its alphabet"):
        open_tokenizer(tmp_path)
    huge = {"type": "WordLevel", "vocab": {"a": 0, "<unk>": 4_000_000_000}, "unk_token": "<unk>"}
    (tmp_path / "tokenizer_config.json").unlink()
    edited(folders["words"], tmp_path, model=huge, added_tokens=[])
    with pytest.raises(FileError, match="numbers its pieces up to 4000000000"):
        open_tokenizer(tmp_path)


def test_one_id_for_two_pieces_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    for model in (
        {"type": "WordLevel", "vocab": {"a": 0, "b": 0, "<unk>": 1}, "unk_token": "<unk>"},
        {"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []},
        {"type": "WordPiece", "vocab": {"a": 0, "b": 0}, "unk_token": "a"},
    ):
        with pytest.raises(FileError, match=r"tokenizer\.json names the id 0 or its piece 'b' twice"):
            open_tokenizer(edited(folders["words"], tmp_path, model=model, added_tokens=[]))


def test_a_mark_that_is_no_text_is_refused_in_one_line(folders: dict[str, Path], tmp_path: Path) -> None:
    vocabulary = {"a": 0, "b": 1, "ab": 2}
    model = {"type": "BPE", "vocab": vocabulary, "merges": [["a", "b"]], "continuing_subword_prefix": 0.5}
    with pytest.raises(FileError, match=r"tokenizer\.json") as caught:
        open_tokenizer(edited(folders["words"], tmp_path, model=model, added_tokens=[]))
    assert "\n" not in str(caught.value)


def test_a_special_token_that_is_a_piece_like_all_others_is_unknown_in_a_text(tmp_path: Path) -> None:
    tokenizer = open_tokenizer(t5_json(tmp_path))
    assert isinstance(tokenizer, Unigram)
    library = tokenizer.library.encode("a</s>", add_special_tokens=False).ids
    assert library[-1] == tokenizer.specials.eos
    assert tokenizer.encode("a</s>") == [*library[:-1], tokenizer.specials.unk]
    assert tokenizer.encode_batch(["a</s>"]) == [tokenizer.encode("a</s>")]


def test_the_oldest_files_do_not_name_their_model(folders: dict[str, Path], tmp_path: Path) -> None:
    model = json.loads((folders["bpe"] / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    del model["type"]
    opened = open_tokenizer(edited(folders["bpe"], tmp_path, model=model))
    assert opened.encode_batch(CORPUS) == trained("bpe").encode_batch(CORPUS)


def test_truncated_anywhere_it_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    whole = (folders["bpe"] / "tokenizer.json").read_bytes()
    for part in range(0, 100, 7):
        (tmp_path / "tokenizer.json").write_bytes(whole[: len(whole) * part // 100])
        with pytest.raises(FileError):
            open_tokenizer(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("step", ["pre_tokenizer", "normalizer"])
def test_a_pattern_that_the_library_gives_up_on_is_one_line(
    step: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A panic of the library is no Exception, and prints itself."""
    tokenizer = open_tokenizer(hostile_pattern(tmp_path, step))
    assert tokenizer.encode("bb") == tokenizer.encode_batch(["bb"])[0] != []
    for call in (tokenizer.encode, tokenizer.spans, tokenizer.pieces, lambda text: tokenizer.encode_batch(["b", text])):
        with pytest.raises(InputError, match=r"its own rules fail on 'aaaa.*: Onig: Regex search error: retry-limit"):
            call("a" * 40 + "!")
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")


def test_a_pattern_that_fails_while_the_file_is_opened_is_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = hostile_pattern(tmp_path, "pre_tokenizer", ".?" * 200 + r"\d")
    with pytest.raises(FileError, match="cannot be read as a tokenizer: Onig"):
        open_tokenizer(folder)
    assert capfd.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wordpiece", "unigram", "bpe"])
def test_a_pattern_put_into_a_file_of_ours_is_refused_in_one_line_too(
    kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    trained(kind).save(tmp_path)
    library = tokenizers.Tokenizer.from_file(str(tmp_path / TOKENIZER_FILE))
    library.pre_tokenizer = pre_tokenizers.Split(tokenizers.Regex("(a+)+$"), "isolated")
    (tmp_path / TOKENIZER_FILE).write_text(library.to_str(), encoding="utf-8")
    tokenizer = open_tokenizer(tmp_path)
    capfd.readouterr()
    with pytest.raises(InputError, match="its own rules fail"):
        tokenizer.encode("a" * 40 + "!")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["wordpiece", "unigram", "bpe", "characters", "words"])
def test_our_own_patterns_cost_nothing(kind: str) -> None:
    """Only what may panic is run with standard error closed."""
    tokenizer = trained(kind)
    assert isinstance(tokenizer, Pipeline)
    assert not brings_patterns(tokenizer.library)
