"""Models of the SentencePiece library, trained here or elsewhere, saved as the library's own spm.model.

Trained here every text comes back exactly; a model from elsewhere keeps its own normalisation and may lose something.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import sentencepiece as spm

from glassformer.errors import FileError
from glassformer.text.alphabet import BYTE_PIECES, cover, readable, spell_fallback
from glassformer.text.files import CONFIG, FORMAT, damaged, declared_specials, read_bytes, read_config, to_json, write
from glassformer.text.learn import BLANK, learn
from glassformer.text.normalise import normalise
from glassformer.text.pipeline import check_ids
from glassformer.text.special import Specials, find_specials
from glassformer.text.surface import surface_spans
from glassformer.values import one_of

FILE = "spm.model"
FILES = (FILE, "spiece.model", "tokenizer.model", "sentencepiece.bpe.model")  # as T5, Llama and XLM-R call it


class SentencePiece:
    """SentencePiece (Kudo and Richardson 2018), as unigram model or byte pairs. Exact if trained here.

    The library writes a blank as ▁ and reads every ▁ as a blank: a ▁ of the text itself is given as its three bytes.
    """

    kind = "sentencepiece"

    def __init__(self, library: spm.SentencePieceProcessor, specials: Specials, *, own: bool) -> None:
        self.library = library
        self.specials = specials
        self.own = own
        self.vocab_size = library.get_piece_size()
        self._names = {token: library.id_to_piece(token) for token in range(self.vocab_size) if self._special(token)}
        self._dropped = (specials.dropped() | self._names.keys()) - {specials.unk}
        self._blank = [library.piece_to_id(BYTE_PIECES[byte]) for byte in BLANK.encode()]

    def _special(self, token: int) -> bool:
        return self.library.is_control(token) or self.library.is_unknown(token)

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
            return self.library.encode(composed, out_type=int)
        ids: list[int] = []
        for number, part in enumerate(composed.split(BLANK)):
            ids += [*(self._blank if number else []), *self.library.encode(part, out_type=int)]
        return ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        composed = [normalise(text) for text in texts]
        if self.own and any(BLANK in text for text in composed):
            return [self._encode(text) for text in composed]
        return self.library.encode(composed, out_type=int)

    def decode(self, ids: Iterable[int]) -> str:
        tokens = check_ids(ids, self.vocab_size)
        return self.library.decode([token for token in tokens if token not in self._dropped])

    def piece(self, token: int) -> str:
        (token,) = check_ids([token], self.vocab_size)
        return self._names.get(token) or readable(self._spelled(token))

    def _spelled(self, token: int) -> bytes:
        return spell_fallback(self.library.id_to_piece(token).replace(BLANK, " "))

    def pieces(self, text: str) -> list[str]:
        return [self.piece(token) for token in self.encode(text)]

    def spans(self, text: str) -> list[tuple[int, int]]:
        composed = normalise(text)
        if self.own:
            return cover(composed, [len(self._spelled(token)) for token in self._encode(composed)])
        return surface_spans(composed, self.library.encode_as_serialized_proto(composed))

    def save(self, folder: Path | str) -> None:
        """spm.model, and beside it what the library does not keep: whose it is, its special tokens, a hash."""
        model = self.library.serialized_model_proto()
        tokens = {f"{role}_token": self.library.id_to_piece(token) for role, token in self.specials.ids().items()}
        digest = hashlib.sha256(model).hexdigest()
        config = {"kind": self.kind, "format": FORMAT, "own": self.own, "sha256": digest, **tokens}
        write(Path(folder), {FILE: model, CONFIG: to_json(config)})

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """Our own, or a model trained elsewhere, under any of its usual names."""
        folder = Path(folder)
        config = read_config(folder)
        if config.get("kind", cls.kind) != cls.kind:
            raise FileError("tokenizer_kind", path=folder, found=config["kind"], kind=cls.kind)
        path = find_model(folder)
        if path is None:
            raise FileError("no_tokenizer", path=folder)
        model = read_bytes(path)
        own = config.get("own") is True
        if own and hashlib.sha256(model).hexdigest() != config.get("sha256"):
            raise FileError("tokenizer_altered", path=path)
        try:
            library = load(model)
            return cls(library, _specials(library, config), own=own)
        except (RuntimeError, ValueError, OSError) as error:
            raise damaged(path, error) from error


def find_model(folder: Path) -> Path | None:
    return next((folder / name for name in FILES if (folder / name).is_file()), None)


def load(model: bytes) -> spm.SentencePieceProcessor:
    if not model:
        raise ValueError("0 bytes")
    library = spm.SentencePieceProcessor()
    library.load_from_serialized_proto(model)
    for token in range(library.get_piece_size()):
        library.id_to_piece(token)  # a damaged piece is no UTF-8: better found now than in the middle of a text
    return library


def _specials(library: spm.SentencePieceProcessor, config: dict[str, Any]) -> Specials:
    """As the folder names them, else as the model does, else by their usual names."""

    def find(name: str) -> int | None:
        token = library.piece_to_id(name)
        return token if library.id_to_piece(token) == name else None

    ids = {"pad": library.pad_id(), "bos": library.bos_id(), "eos": library.eos_id(), "unk": library.unk_id()}
    known = {role: library.id_to_piece(token) for role, token in ids.items() if token >= 0}
    return find_specials(find, known | declared_specials(config))
