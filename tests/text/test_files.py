from __future__ import annotations

import json
from pathlib import Path

import pytest

from foreign_texts import CHANGED, LAYOUTS, written
from glassformer.errors import ConfigError, FileError
from glassformer.text.files import (
    LARGEST_TOKENIZER,
    TOKENIZER_CONFIG_FILE,
    Added,
    Declared,
    declared_specials,
    read_bytes,
    read_config,
    read_table,
    read_text,
    read_vocabulary,
    to_json,
    write_files,
)
from texts import trained


def test_written_and_read_again(tmp_path: Path) -> None:
    write_files(tmp_path / "a" / "b", {TOKENIZER_CONFIG_FILE: to_json({"kind": "bpe", "word": "학교"})})
    assert read_config(tmp_path / "a" / "b") == {"kind": "bpe", "word": "학교"}
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == [TOKENIZER_CONFIG_FILE]
    assert read_config(tmp_path) == {}


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nothing cannot be read: No such file"):
        read_bytes(tmp_path / "nothing")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(LARGEST_TOKENIZER + 1)
    with pytest.raises(FileError, match="huge has 268435457 bytes, more than a tokenizer may have"):
        read_bytes(tmp_path / "huge")
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    with pytest.raises(FileError, match=r"latin is not UTF-8 text \(byte 3\)"):
        read_text(tmp_path / "latin")


@pytest.mark.parametrize(
    ("text", "why"), [("{", "Expecting property name"), ("[" * 10**5, "recursion"), ("[1]", "it is not a JSON object")]
)
def test_what_is_no_json_object(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / TOKENIZER_CONFIG_FILE).write_text(text)
    with pytest.raises(FileError, match=f"cannot be read as a tokenizer: .*{why}"):
        read_table(tmp_path / TOKENIZER_CONFIG_FILE)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / TOKENIZER_CONFIG_FILE).write_text('{"format": 2}')
    with pytest.raises(FileError, match="has format 2, and this version reads up to 1"):
        read_config(tmp_path)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FileError, match="cannot be written"):
        write_files(tmp_path / "file", {TOKENIZER_CONFIG_FILE: b"{}"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 0, "b": 0}', "names the id 0 or its piece 'b' twice"),
        ('{"a": 0, "a": 1}', "names the id 1 or its piece 'a' twice"),
        ('{"a": 0, "b": -1}', "gives the piece 'b' the id -1, and ids are whole numbers from 0 to 1"),
        ('{"a": 0, "b": 2}', "gives the piece 'b' the id 2, and ids are whole numbers from 0 to 1"),
        ('{"a": 0, "b": 4194305}', "gives the piece 'b' the id 4194305"),
        ('{"a": true}', "gives the piece 'a' the id True"),
        ('{"a": 0.0}', r"gives the piece 'a' the id 0\.0"),
        ('{"a": null}', "gives the piece 'a' the id None"),
        ('{"a": {"b": 1}}', "gives the piece 'a' the id"),
        (f'{{"a": 1{"0" * 4000}}}', "gives the piece 'a' the id 1000"),
        (f'{{"a": 1{"0" * 5000}}}', "cannot be read as a tokenizer"),
        ("{}", "numbers its pieces up to -1"),
        ("[1]", "it is not a JSON object"),
        ("", "cannot be read as a tokenizer"),
        ('{"a":' * 10**5, "cannot be read as a tokenizer: .*recursion"),
    ],
)
def test_a_list_of_pieces_numbers_each_of_them_once(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(text)
    with pytest.raises(FileError, match=rf"vocab\.json .*{why}") as refused:
        read_vocabulary(tmp_path / "vocab.json")
    assert len(str(refused.value).splitlines()) == 1 and len(str(refused.value)) < 600


def test_a_list_of_pieces(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text('{"b": 1, "학교": 0}', encoding="utf-8")
    assert read_vocabulary(tmp_path / "vocab.json") == {"b": 1, "학교": 0}
    (tmp_path / "vocab.json").write_bytes(b'{"\xff": 0}')
    with pytest.raises(FileError, match="is not UTF-8 text"):
        read_vocabulary(tmp_path / "vocab.json")


def test_special_tokens_as_hugging_face_declares_them() -> None:
    assert declared_specials({"eos_token": "</s>", "pad_token": {"content": "<p>"}, "unk_token": None}) == {
        "eos": "</s>",
        "pad": "<p>",
    }


def test_an_empty_folder_says_nothing(tmp_path: Path) -> None:
    assert Declared.read(tmp_path) == Declared()


def test_of_a_tokenizer_trained_here_no_files_are_kept(tmp_path: Path) -> None:
    trained("bpe").save(tmp_path)
    declared = Declared.read(tmp_path)
    assert (declared.files, declared.maker, declared.truth("own", False)) == ({}, "", True)


def test_the_map_of_special_tokens_fills_what_the_configuration_leaves_out(tmp_path: Path) -> None:
    map_ = {"eos_token": "</s>", "pad_token": {"content": "<pad>"}, "unk_token": "<?>"}
    files = {"special_tokens_map.json": map_, "tokenizer_config.json": {"unk_token": "<unk>", "pad_token": None}}
    declared = Declared.read(written(tmp_path, files))
    assert declared.specials == {"eos": "</s>", "pad": "<pad>", "unk": "<unk>"}
    assert set(declared.files) == set(files)


@pytest.mark.parametrize(
    ("config", "model", "maker"),
    [
        ({"tokenizer_class": "BertTokenizerFast"}, {"model_type": "t5"}, "BertTokenizer"),
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, {"model_type": "t5"}, ""),
        ({}, {"model_type": "t5"}, "T5Tokenizer"),
        ({}, {"model_type": "t5", "tokenizer_class": "ByT5Tokenizer"}, "ByT5Tokenizer"),
        ({}, {"model_type": "llama"}, ""),
        ({}, {"model_type": ["t5"]}, ""),
        ({"tokenizer_class": 3}, {}, ""),
    ],
)
def test_the_class_that_the_folder_names(
    config: dict[str, object], model: dict[str, object], maker: str, tmp_path: Path
) -> None:
    written(tmp_path, {"tokenizer_config.json": config, "config.json": model})
    assert Declared.read(tmp_path).maker == maker


def test_the_class_is_kept_where_only_the_model_told_it(tmp_path: Path) -> None:
    written(tmp_path, {"tokenizer_config.json": {"do_lower_case": True}, "config.json": {"model_type": "bert"}})
    kept = Declared.read(tmp_path).files
    assert json.loads(kept["tokenizer_config.json"]) == {"do_lower_case": True, "tokenizer_class": "BertTokenizer"}
    assert "config.json" not in kept


@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if layout not in CHANGED])
def test_files_are_kept_byte_for_byte(layout: str, tmp_path: Path) -> None:
    folder = LAYOUTS[layout][0](tmp_path)
    kept = Declared.read(folder).files
    assert kept == {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "config.json"}


def test_tokens_added_behind_the_vocabulary(tmp_path: Path) -> None:
    config = {
        "pad_token": "<pad>",
        "extra_special_tokens": ["<a>", {"content": "<b>"}, 3],
        "added_tokens_decoder": {"7": {"content": "<c>", "special": True}, "8": "word"},
    }
    written(tmp_path, {"added_tokens.json": {"<pad>": 4, "<a>": 5, "<b>": 6}, "tokenizer_config.json": config})
    assert Declared.read(tmp_path).added == {
        "<pad>": Added(4, True),
        "<a>": Added(5, True),
        "<b>": Added(6, True),
        "<c>": Added(7, True),
        "word": Added(8, False),
    }


@pytest.mark.parametrize(
    "files",
    [
        {"added_tokens.json": {"x": -1}},
        {"added_tokens.json": {"x": 2**22}},
        {"added_tokens.json": {"x": True}},
        {"added_tokens.json": {"x": "7"}},
        {"tokenizer_config.json": {"added_tokens_decoder": {"-1": "x"}}},
        {"tokenizer_config.json": {"added_tokens_decoder": {"x": "x"}}},
        {"tokenizer_config.json": {"added_tokens_decoder": {"٣": "x"}}},
        {"tokenizer_config.json": {"added_tokens_decoder": {"9" * 5000: "x"}}},
        {"tokenizer_config.json": {"added_tokens_decoder": {"7": 7}}},
        {"tokenizer_config.json": {"added_tokens_decoder": {"7": {"content": None}}}},
    ],
)
def test_an_added_token_without_a_proper_id_is_refused(files: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"json adds the token .* with the id .*, which is not the next free one"):
        Declared.read(written(tmp_path, files))  # type: ignore[arg-type]


def test_what_is_said_wrongly(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="add_bos_token='no' is of the wrong type"):
        Declared({"add_bos_token": "no"}).truth("add_bos_token", True)
    assert Declared({"add_bos_token": None}).truth("add_bos_token", True)
    with pytest.raises(
        FileError, match="is of the class 'XTokenizer', whose rules are not known here, only: YTokenizer"
    ):
        Declared(maker="XTokenizer").made_by(("YTokenizer",), tmp_path)
    for name in ("special_tokens_map.json", "added_tokens.json", "config.json", "tokenizer_config.json"):
        folder = written(tmp_path / name, {name: "[" * 10**5})
        with pytest.raises(FileError, match=rf"{name} cannot be read as a tokenizer: .*recursion"):
            Declared.read(folder)
