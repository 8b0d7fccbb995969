"""The files of a tokenizer: read with a limit, checked before a library sees them, written whole.

Besides the vocabulary, a folder declares the tokenizer's class, its special tokens and added tokens. These files are
kept byte for byte, so that after saving, every program finds in them what it found before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from glassformer.config.values import truth
from glassformer.errors import FileError, Phrase, shown
from glassformer.files import disk, write_bytes
from glassformer.text.learn import LARGEST_VOCABULARY
from glassformer.text.tokenizer import ROLES

T = TypeVar("T")
TOKENIZER_CONFIG_FILE = "tokenizer_config.json"  # Hugging Face's name and keys, and our own
LARGEST_TOKENIZER = 2**28  # the largest published ones have 35 MB
FORMAT = 1
MAP, ADDED = "special_tokens_map.json", "added_tokens.json"
FILES = (  # all files of a tokenizer, under all their usual names
    *(
        "tokenizer.json",
        TOKENIZER_CONFIG_FILE,
        MAP,
        ADDED,
        "vocab.json",
        "merges.txt",
        "encoder.json",
        "vocab.bpe",
        "vocab.txt",
    ),
    *("spm.model", "spiece.model", "tokenizer.model", "sentencepiece.bpe.model"),
    *("source.spm", "target.spm", "target_vocab.json", "chat_template.jinja"),
)
CLASSES = {  # if only the model's configuration tells the class of the tokenizer
    "bert": "BertTokenizer",
    "roberta": "RobertaTokenizer",
    "bart": "BartTokenizer",
    "gpt2": "GPT2Tokenizer",
    "qwen2": "Qwen2Tokenizer",
    "qwen3": "Qwen2Tokenizer",
    "t5": "T5Tokenizer",
    "marian": "MarianTokenizer",
}
LLAMA = "LlamaTokenizer"
BY_ITS_FILE = ("mistral",)  # here `transformers` uses the tokenizer's file, whatever class it names
ANY = "PreTrainedTokenizerFast"
GENERIC = ("PreTrainedTokenizer", "TokenizersBackend", "PythonBackend")
NUMBER = re.compile("0|[1-9][0-9]{0,9}")


def read_bytes(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > LARGEST_TOKENIZER:
            raise FileError("tokenizer_too_large", path=path, size=size, limit=LARGEST_TOKENIZER)
        return path.read_bytes()
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error


def read_text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError("not_utf8", path=path, byte=error.start) from error


def read_table(path: Path) -> dict[str, Any]:
    """A JSON file that holds an object."""
    return _parsed(path, dict)


def _parsed(path: Path, kind: type[T]) -> T:
    """A JSON file that holds an object, read as a dict or as `_Pairs`."""
    try:
        table = json.loads(read_text(path), object_pairs_hook=kind)
    except (ValueError, RecursionError) as error:
        raise damaged(path, error) from error
    if not isinstance(table, kind):
        raise FileError("tokenizer_damaged", path=path, why=Phrase("expected.json_object"))
    return table


def read_vocabulary(path: Path) -> dict[str, int]:
    """Piece → id, from a vocab.json; the ids must be 0, 1, 2 …, each once."""
    table = _parsed(path, _Pairs)
    if not 0 < len(table) <= LARGEST_VOCABULARY:
        raise FileError("tokenizer_ids", path=path, last=len(table) - 1, limit=LARGEST_VOCABULARY)
    pieces: dict[str, int] = {}
    seen: dict[int, str] = {}
    for piece, token in table:
        if isinstance(token, bool) or not isinstance(token, int) or not 0 <= token < len(table):
            raise FileError("piece_number", path=path, piece=shown(piece), token=shown(token), last=len(table) - 1)
        if token in seen or piece in pieces:
            raise FileError("piece_twice", path=path, piece=shown(piece), token=token)
        pieces[piece], seen[token] = token, piece
    return pieces


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as written, including repeated keys."""


def damaged(path: Path, error: BaseException) -> FileError:
    """A library's error about a file, in one line."""
    said = str(error).strip().splitlines() or [type(error).__name__]
    return FileError("tokenizer_damaged", path=path, why=said[0])


def read_config(folder: Path) -> dict[str, Any]:
    """What the folder says about its tokenizer; empty if it says nothing."""
    path = folder / TOKENIZER_CONFIG_FILE
    if not path.is_file():
        return {}
    config = read_table(path)
    if isinstance(config.get("format"), int) and config["format"] > FORMAT:
        raise FileError("tokenizer_newer", path=path, format=config["format"], known=FORMAT)
    return config


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files, each completely or not at all."""
    with disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_bytes(folder / name, content)


def to_json(table: Mapping[str, Any]) -> bytes:
    return (json.dumps(table, ensure_ascii=False, indent=2) + "\n").encode()


@dataclass(frozen=True)
class Added:
    """A token added after the vocabulary. If it is not special, it is a word that is recognised in texts."""

    token: int
    special: bool


@dataclass(frozen=True)
class Declared:
    """What a folder declares. `maker` is the class of `transformers`, without Fast, or "" if none is named."""

    table: Mapping[str, Any] = field(default_factory=dict)
    maker: str = ""
    added: Mapping[str, Added] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)  # empty for a tokenizer trained here

    @classmethod
    def read(cls, folder: Path) -> Declared:
        table = read_config(folder)
        if table.get("own") is True:
            return cls(table)
        files = {name: read_bytes(folder / name) for name in FILES if (folder / name).is_file()}
        maker = _maker(table.get("tokenizer_class"), folder)
        named = "tokenizer_class" in table
        if maker != _class(table.get("tokenizer_class")) or (maker and not named):
            # The class came from the model's configuration, which is not saved with the tokenizer.
            files[TOKENIZER_CONFIG_FILE] = to_json({**table, "tokenizer_class": maker or ANY})
        if MAP in files:
            table = read_table(folder / MAP) | {key: value for key, value in table.items() if value is not None}
        return cls(table, maker, _added(folder, table), files)

    @property
    def specials(self) -> dict[str, str]:
        return declared_specials(self.table)

    def truth(self, key: str, default: bool) -> bool:
        """A boolean; `None` counts as not given, as in `transformers`."""
        value = self.table.get(key)
        return default if value is None else truth(key, value)

    def made_by(self, known: Collection[str], path: Path) -> None:
        """Raises for an unknown class, since a class may change the vocabulary in its code."""
        if self.maker and self.maker not in known:
            raise FileError("tokenizer_class", path=path, found=self.maker, known=", ".join(known))


def declared_specials(config: Mapping[str, Any]) -> dict[str, str]:
    """Role → name, of a Hugging Face configuration: "eos_token": "</s>", or an object with its content."""
    found = {}
    for role in ROLES:
        name = _name(config.get(f"{role}_token"))
        if name is not None:
            found[role] = name
    return found


def _name(value: object) -> str | None:
    value = value.get("content") if isinstance(value, dict) else value
    return value if isinstance(value, str) else None


def _maker(named: object, folder: Path) -> str:
    if not (folder / "config.json").is_file():
        return _class(named)
    model = read_table(folder / "config.json")
    kind = model.get("model_type")
    if named is None:
        named = model.get("tokenizer_class") or (CLASSES.get(kind) if isinstance(kind, str) else None)
    found = _class(named)
    return "" if found == LLAMA and kind in BY_ITS_FILE else found


def _class(named: object) -> str:
    """The name of a class without Fast; "" for one that leaves everything to its files."""
    maker = named.removesuffix("Fast") if isinstance(named, str) else ""
    return "" if maker in GENERIC else maker


def prefix_scheme(declared: Declared) -> str:
    """Where Llama's class adds a blank, if there is none: before every part of a text, before the first, or never."""
    if not declared.truth("add_prefix_space", True):
        return "never"
    return "always" if declared.truth("legacy", False) else "first"


def _added(folder: Path, table: Mapping[str, Any]) -> dict[str, Added]:
    """added_tokens.json: name → id; added_tokens_decoder: id → name and whether it is special."""
    special = set(declared_specials(table).values())
    for key in ("additional_special_tokens", "extra_special_tokens"):
        names = table.get(key)
        special |= {name for value in names if (name := _name(value))} if isinstance(names, list) else set()
    found: dict[str, Added] = {}
    if (folder / ADDED).is_file():
        for name, token in read_table(folder / ADDED).items():
            found[name] = Added(_token(folder / ADDED, name, token), name in special)
    entries = table.get("added_tokens_decoder")
    for number, entry in entries.items() if isinstance(entries, dict) else ():
        name = _name(entry)
        if name is None:
            raise FileError("added_token", path=folder / TOKENIZER_CONFIG_FILE, name=shown(entry), token=shown(number))
        token = int(number) if NUMBER.fullmatch(number) else None
        said = isinstance(entry, dict) and entry.get("special") is True
        found[name] = Added(_token(folder / TOKENIZER_CONFIG_FILE, name, token), said or name in special)
    return found


def _token(path: Path, name: str, token: object) -> int:
    if isinstance(token, bool) or not isinstance(token, int) or not 0 <= token < LARGEST_VOCABULARY:
        raise FileError("added_token", path=path, name=shown(name), token=shown(token))
    return token
