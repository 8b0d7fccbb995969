"""The configuration of a model: frozen, keyword-only, read from TOML, checked for names, types, sizes. No torch here.

Whether a kind exists and which options it takes is known by the boxes: see `models/check.py`.
"""

from __future__ import annotations

import errno
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from glassformer.config.values import BIASES, biases, one_of, positive, rate, size, truth, word, wrong_type
from glassformer.errors import ConfigError, FileError, suggest

FAMILIES = ("encoder", "decoder", "encoder-decoder")
TIES = ("none", "output", "inputs", "all")
MOST_LAYERS = 10_000
LARGEST_FILE = 2**20
MOST_DOTS = 256  # of one line: the time that tomllib takes for a dotted key grows with the square of its parts


@dataclass(frozen=True)
class Choice:
    """A variant and its options, frozen: `position = "rotary"`, or a table with `kind` and the rest."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.options, Mapping):  # else `ModelConfig` says what is wrong
            object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    def __hash__(self) -> int:
        return hash((self.kind, frozenset(self.options)))  # the names alone: a value may be a list

    def __reduce__(self) -> tuple[Any, ...]:
        """A mapping proxy can be neither pickled nor copied."""
        return Choice, (self.kind, dict(self.options))


def _layers(key: str, value: object) -> int:
    return size(key, value, low=0, high=MOST_LAYERS)


def _count(key: str, value: object) -> int:
    return size(key, value, low=0)


def _tie(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "all" if value else "none"
    return one_of(key, value, TIES)


def _choice(key: str, value: object) -> Choice:
    if isinstance(value, Choice) and isinstance(value.options, Mapping):
        value = {"kind": value.kind, **value.options}
    if isinstance(value, str):
        return Choice(value)
    if not isinstance(value, Mapping):
        raise wrong_type(key, value, "choice")
    if "kind" not in value:
        raise ConfigError("kind_missing", key=key)
    return Choice(word(f"{key}.kind", value["kind"]), {word(key, k): v for k, v in value.items() if k != "kind"})


def _key(default: Any, check: Callable[..., Any], *, optional: bool = False) -> Any:
    return field(default=default, metadata={"check": check, "optional": optional})


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Everything that makes a model, with the paper's names; the defaults are the paper's base model."""

    family: str = _key("encoder-decoder", partial(one_of, known=FAMILIES))
    input: Choice = _key(Choice("tokens"), _choice)  # tokens, vectors, image, series
    vocab_size: int | None = _key(None, size, optional=True)
    target_vocab_size: int | None = _key(None, size, optional=True)  # default: vocab_size
    queries: int = _key(0, _count)  # learned vectors that the decoder begins with, instead of a target
    causal: bool = _key(True, truth)  # does the decoder see the past only?
    max_len: int = _key(5000, size)  # the size of the table of positions, not the training length
    d_model: int = _key(512, size)
    n_heads: int = _key(8, size)
    n_kv_heads: int | None = _key(None, size, optional=True)  # default: n_heads
    d_k: int | None = _key(None, size, optional=True)  # default: d_model / n_heads
    d_v: int | None = _key(None, size, optional=True)  # default: d_k
    d_ff: int = _key(2048, size)
    n_encoder_layers: int | None = _key(None, _layers, optional=True)  # default: 6 where the family has an encoder
    n_decoder_layers: int | None = _key(None, _layers, optional=True)  # default: 6 where the family has a decoder
    position: Choice = _key(Choice("sinusoidal"), _choice)
    norm: Choice = _key(Choice("layer"), _choice)
    norm_order: str = _key("post", word)
    final_norm: bool | None = _key(None, truth, optional=True)  # default: pre and parallel yes, post no
    embedding_norm: bool = _key(False, truth)
    eps: float = _key(1e-5, positive)
    feed_forward: Choice = _key(Choice("mlp"), _choice)
    activation: str = _key("relu", word)
    bias: tuple[str, ...] = _key(BIASES, biases)
    qk_norm: bool = _key(False, truth)
    attention_scale: float | None = _key(None, positive, optional=True)  # default: 1/√d_k
    window: int | None = _key(None, size, optional=True)
    window_from: int = _key(0, _count)  # the first layer that has the window
    dropout: float = _key(0.0, rate)
    attention_dropout: float | None = _key(None, rate, optional=True)  # default: dropout
    feed_forward_dropout: float | None = _key(None, rate, optional=True)  # default: dropout
    stochastic_depth: float = _key(0.0, rate)
    embedding_scale: bool = _key(True, truth)
    special_tokens: int = _key(0, _count)
    segments: int = _key(0, _count)
    tie_embeddings: str = _key("none", _tie)
    init: str = _key("xavier", word)
    head: Choice = _key(Choice("none"), _choice)

    def __post_init__(self) -> None:
        for key in fields(self):
            value = getattr(self, key.name)
            if value is None and key.metadata["optional"]:
                continue
            object.__setattr__(self, key.name, key.metadata["check"](key.name, value))

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> ModelConfig:
        """A table of [model] → a configuration; an unknown key is answered with the nearest known one."""
        known = {key.name for key in fields(cls)}
        for key in table:
            if word("key", key) not in known:
                raise ConfigError("unknown_key", key=key, hint=suggest(key, known))
        return cls(**table)

    def to_dict(self) -> dict[str, Any]:
        """What differs from the defaults, as it stands in TOML."""
        table: dict[str, Any] = {}
        for key in fields(self):
            value = getattr(self, key.name)
            if value == key.default:
                continue
            if isinstance(value, Choice):
                value = {"kind": value.kind, **value.options} if value.options else value.kind
            table[key.name] = list(value) if isinstance(value, tuple) else value
        return table

    # --- sizes that follow from others ---

    @property
    def encoder_layers(self) -> int:
        if self.family == "decoder":
            return 0
        return 6 if self.n_encoder_layers is None else self.n_encoder_layers

    @property
    def decoder_layers(self) -> int:
        if self.family == "encoder":
            return 0
        return 6 if self.n_decoder_layers is None else self.n_decoder_layers

    @property
    def head_size(self) -> int:
        """d_k, as it is used."""
        return self.d_k or self.d_model // self.n_heads

    @property
    def output_vocab_size(self) -> int | None:
        return self.target_vocab_size or self.vocab_size


CHOICES = tuple(key.name for key in fields(ModelConfig) if isinstance(key.default, Choice))


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as a dict. Whatever is wrong with the file is one line that names it."""
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not path.is_file():
            raise FileError("no_such_file", path=path)
        if path.stat().st_size > LARGEST_FILE:
            raise FileError("file_too_large", path=path, size=path.stat().st_size, limit=LARGEST_FILE)
        text = path.read_bytes().decode("utf-8")
        if any(line.count(".") > MOST_DOTS for line in text.split("\n")):
            raise FileError("toml_too_deep", path=path)
        return tomllib.loads(text)
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise FileError("not_utf8", path=path, byte=error.start) from error
    except RecursionError as error:
        raise FileError("toml_too_deep", path=path) from error
    except tomllib.TOMLDecodeError as error:
        raise FileError("not_toml", path=path, why=str(error).splitlines()[0]) from error
    except ValueError as error:  # Python reads no decimal number of over 4,300 digits
        raise FileError("toml_number", path=path) from error


def to_toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Tables of plain values and lists → TOML; nested tables are written inline."""
    lines: list[str] = []
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {literal(value)}" for key, value in table.items()), ""]
    return "\n".join(lines)


def literal(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in escaped) + '"'
        case list() | tuple():
            return "[" + ", ".join(map(literal, value)) + "]"
        case Mapping():
            return "{ " + ", ".join(f"{key} = {literal(item)}" for key, item in value.items()) + " }"
    raise TypeError(f"TOML has no {type(value).__name__}")
