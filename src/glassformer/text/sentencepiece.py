"""Models of the SentencePiece library, trained here or elsewhere, saved as the library's own spm.model.

With a model trained here, decoding restores every text; an imported one has its own normalisation and may lose some.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import sentencepiece as spm

from glassformer.config.values import one_of, size
from glassformer.errors import FileError, shown
from glassformer.text.alphabet import BYTE_PIECES, cover, readable, spell_fallback, surface_spans
from glassformer.text.files import (
    FORMAT,
    LLAMA,
    TOKENIZER_CONFIG_FILE,
    Declared,
    damaged,
    prefix_scheme,
    read_bytes,
    to_json,
    write_files,
)
from glassformer.text.learn import BLANK, learn
from glassformer.text.normalisation import normalise
from glassformer.text.pipeline import check_ids
from glassformer.text.tokenizer import Specials, find_specials

FILE = "spm.model"
FILES = (FILE, "spiece.model", "tokenizer.model", "sentencepiece.bpe.model")  # the names of T5, Llama and XLM-R
T5_TOKENIZER = "T5Tokenizer"
MOST_EXTRA_IDS = 2**16


class SentencePiece:
    """SentencePiece (Kudo and Richardson 2018), as unigram model or byte pairs. Exact if trained here.

    The library writes a blank as ▁ and reads every ▁ as a blank: a ▁ of the text itself is given as its three bytes.
    An imported model may have tokens `behind` its pieces (T5's <extra_id_0> … are counted from the end).
    `prefix`: "model" leaves it to SentencePiece, which adds a blank to every text. "first" adds none to a text that
    begins with one, "never" adds none at all: this is how `transformers` 5 reads Llama's models.
    Differs from `transformers`: text is normalised (NFC) first, special tokens typed by a person stay text, and a mark
    after a character that the model rewrites, such as ﬁ, is kept, as SentencePiece itself keeps it.
    """

    kind = "sentencepiece"

    def __init__(
        self,
        library: spm.SentencePieceProcessor,
        specials: Specials,
        *,
        own: bool,
        behind: Mapping[int, str] = MappingProxyType({}),
        prefix: str = "model",
        files: Mapping[str, bytes] = MappingProxyType({}),
    ) -> None:
        self.library = library
        self.specials = specials
        self.own = own
        self.files = dict(files)
        self.vocab_size = max(library.get_piece_size(), *(token + 1 for token in behind), 0)
        pieces = range(library.get_piece_size())
        self._names = {token: library.id_to_piece(token) for token in pieces if self._special(token)} | dict(behind)
        self._dropped = (self._names.keys() - {specials.unk}) | specials.dropped()
        self._blank = [library.piece_to_id(BYTE_PIECES[byte]) for byte in BLANK.encode()]
        self.prefix = prefix
        self._bare = library if prefix == "model" else bare(library)

    def _special(self, token: int) -> bool:
        return self.library.is_control(token) or self.library.is_unknown(token)

    def _reader(self, composed: str) -> spm.SentencePieceProcessor:
        return self._bare if self.prefix == "never" or composed.startswith((" ", BLANK)) else self.library

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocab_size: int | None,
        *,
        model_type: str = "unigram",
        character_coverage: float = 1.0,
    ) -> Self:
        """`character_coverage`: the share of the text whose characters get pieces of their own."""
        chosen = one_of("model_type", model_type, ("unigram", "bpe"))
        return cls(load(learn(cls.kind, texts, vocab_size, chosen, character_coverage)), Specials(), own=True)

    @property
    def exact(self) -> bool:
        return self.own

    def encode(self, text: str) -> list[int]:
        return self._encode(normalise(text))

    def _encode(self, composed: str) -> list[int]:
        if not self.own or BLANK not in composed:
            return self._reader(composed).encode(composed, out_type=int)
        ids: list[int] = []
        for number, part in enumerate(composed.split(BLANK)):
            ids += [*(self._blank if number else []), *self.library.encode(part, out_type=int)]
        return ids

    def special_ids(self) -> list[int]:
        """All ids that are not text: control pieces, and tokens behind the pieces."""
        return list(self._names)

    def encode_inside(self, text: str) -> list[int]:
        """The ids of a part after a special token: Llama adds a blank only before the first part."""
        composed = normalise(text)
        return (self._bare if self.prefix == "first" else self._reader(composed)).encode(composed, out_type=int)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        composed = [normalise(text) for text in texts]
        if self._bare is not self.library or (self.own and any(BLANK in text for text in composed)):
            return [self._encode(text) for text in composed]
        return self.library.encode(composed, out_type=int)

    def decode(self, ids: Iterable[int]) -> str:
        tokens = check_ids(ids, self.vocab_size)
        reader = self._bare if self.prefix == "never" else self.library  # it removes the blank that it would add
        return reader.decode([token for token in tokens if token not in self._dropped])

    def piece(self, token: int) -> str:
        (token,) = check_ids([token], self.vocab_size)
        if token >= self.library.get_piece_size():
            return self._names.get(token, "")
        return self._names.get(token) or readable(spell(self.library.id_to_piece(token)))

    def pieces(self, text: str) -> list[str]:
        return [self.piece(token) for token in self.encode(text)]

    def spans(self, text: str) -> list[tuple[int, int]]:
        composed = normalise(text)
        if self.own:
            pieces = map(self.library.id_to_piece, self._encode(composed))
            return cover(composed, [len(spell(piece)) for piece in pieces])
        return surface_spans(composed, self._reader(composed).encode_as_serialized_proto(composed))

    def save(self, folder: Path | str) -> None:
        """An imported one as it was; ours as spm.model, and a file with the special tokens and a hash."""
        if self.files:
            write_files(Path(folder), self.files)
            return
        model = self.library.serialized_model_proto()
        tokens = {f"{role}_token": self.library.id_to_piece(token) for role, token in self.specials.ids().items()}
        digest = hashlib.sha256(model).hexdigest()
        config = {"kind": self.kind, "format": FORMAT, "own": self.own, "sha256": digest, **tokens}
        write_files(Path(folder), {FILE: model, TOKENIZER_CONFIG_FILE: to_json(config)})

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """Our own, or a model trained elsewhere, under any of its usual names."""
        folder = Path(folder)
        declared = Declared.read(folder)
        if declared.table.get("kind", cls.kind) != cls.kind:
            raise FileError("tokenizer_kind", path=folder, found=declared.table["kind"], kind=cls.kind)
        path = find_model(folder)
        if path is None:
            raise FileError("no_tokenizer", path=folder)
        declared.made_by((T5_TOKENIZER, LLAMA), path)
        own = declared.table.get("own") is True
        if own and hashlib.sha256(read_bytes(path)).hexdigest() != declared.table.get("sha256"):
            raise FileError("tokenizer_altered", path=path)
        library = read_model(path)
        behind = _behind(library, declared, path)
        specials = _specials(library, declared, behind)
        scheme = prefix_scheme(declared) if declared.maker == LLAMA else "model"
        prefix = "first" if scheme == "always" else scheme  # a text is one part, since special tokens in it are text
        return cls(library, specials, own=own, behind=behind, prefix=prefix, files=declared.files)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The library loses the setting that it adds no blank when it is pickled."""
        self.__dict__.update(state)
        if self._bare is not self.library:
            self._bare = bare(self.library)


def find_model(folder: Path) -> Path | None:
    return next((folder / name for name in FILES if (folder / name).is_file()), None)


def read_model(path: Path) -> spm.SentencePieceProcessor:
    model = read_bytes(path)
    try:
        return load(model)
    except (RuntimeError, ValueError, OSError) as error:
        raise damaged(path, error) from error


def load(model: bytes) -> spm.SentencePieceProcessor:
    if not model:
        raise ValueError("0 bytes")
    library = spm.SentencePieceProcessor()
    library.load_from_serialized_proto(model)
    for token in range(library.get_piece_size()):
        library.id_to_piece(token)  # a damaged piece is not UTF-8: better to fail now than in the middle of a text
    return library


def bare(library: spm.SentencePieceProcessor) -> spm.SentencePieceProcessor:
    """The same model, without adding a blank before a text."""
    copy = load(library.serialized_model_proto())
    copy.override_normalizer_spec(add_dummy_prefix=False)
    return copy


def spell(piece: str) -> bytes:
    return spell_fallback(piece.replace(BLANK, " "))


def _behind(library: spm.SentencePieceProcessor, declared: Declared, path: Path) -> dict[int, str]:
    """Id → name of the special tokens that follow the pieces."""
    first = library.get_piece_size()
    behind = {}
    if declared.maker == T5_TOKENIZER:
        count = declared.table.get("extra_ids")
        extra = 100 if count is None else size("extra_ids", count, low=0, high=MOST_EXTRA_IDS)
        behind = {first + extra - 1 - number: f"<extra_id_{number}>" for number in range(extra)}
    for name, added in declared.added.items():
        if added.token < first:
            continue
        if not added.special:
            raise FileError("added_word", path=path, name=shown(name))
        behind[added.token] = name
    return behind


def _specials(library: spm.SentencePieceProcessor, declared: Declared, behind: Mapping[int, str]) -> Specials:
    """As the folder names them, else as the model does, else by their usual names."""
    named = {name: token for token, name in behind.items()}

    def find(name: str) -> int | None:
        token = library.piece_to_id(name)
        return token if library.id_to_piece(token) == name else named.get(name)

    ids = {"pad": library.pad_id(), "bos": library.bos_id(), "eos": library.eos_id(), "unk": library.unk_id()}
    known = {role: library.id_to_piece(token) for role, token in ids.items() if token >= 0}
    return find_specials(find, known | declared.specials)
