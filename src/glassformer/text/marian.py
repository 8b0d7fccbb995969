"""The tokenizers of Marian's translators: one SentencePiece model for each side, one list of all pieces.

The vocabulary is the same, but texts are cut differently, so the two sides are two tokenizers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

import sentencepiece as spm

from glassformer.errors import FileError
from glassformer.text.alphabet import readable, surface_spans
from glassformer.text.files import Declared, read_vocabulary, write_files
from glassformer.text.learn import BLANK
from glassformer.text.normalisation import normalise
from glassformer.text.pipeline import check_ids
from glassformer.text.sentencepiece import read_model, spell
from glassformer.text.tokenizer import Specials, find_specials

MODELS = {"source": "source.spm", "target": "target.spm"}
VOCABULARY, TARGET_VOCABULARY = "vocab.json", "target_vocab.json"
MAKERS = ("MarianTokenizer",)
NAMED = {"eos": "</s>", "unk": "<unk>", "pad": "<pad>"}


class Marian:
    """One side of a Marian folder (Junczys-Dowmunt 2018; the OPUS-MT models). Not exact.

        text → [>>code<<] + pieces of this side's model → ids of vocab.json; pieces not listed are <unk>

    A language code at the very beginning, such as >>fra<<, is one token: it says into which language to translate. As
    in `transformers`, a run of unknown characters is looked up as a whole.
    Differs from `transformers`: text is normalised (NFC) first, and "</s>" typed by a person stays text.
    """

    kind = "marian"
    exact = False

    def __init__(
        self,
        library: spm.SentencePieceProcessor,
        vocabulary: Mapping[str, int],
        specials: Specials,
        files: Mapping[str, bytes],
    ) -> None:
        self.library = library
        self.vocabulary = vocabulary
        self.specials = specials
        self.files = files
        self.vocab_size = len(vocabulary)
        self._names = {token: piece for piece, token in vocabulary.items()}
        self._dropped = specials.dropped()
        reserved = set(specials.ids().values())
        self._text = {piece: token for piece, token in vocabulary.items() if token not in reserved}

    def encode(self, text: str) -> list[int]:
        code, rest = split_code(normalise(text))
        return [self._find(piece) for piece in (*code, *self.library.encode(rest, out_type=str))]

    def _find(self, piece: str) -> int:
        return self._text.get(piece, self.specials.need("unk"))

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def decode(self, ids: Iterable[int]) -> str:
        pieces = [self._names[token] for token in check_ids(ids, self.vocab_size) if token not in self._dropped]
        return self.library.decode(pieces).replace(BLANK, " ").strip()  # ▁ remains in pieces of the other side

    def piece(self, token: int) -> str:
        (token,) = check_ids([token], self.vocab_size)
        name = self._names[token]
        return name if token in self.specials.ids().values() else readable(spell(name))

    def pieces(self, text: str) -> list[str]:
        return [self.piece(token) for token in self.encode(text)]

    def spans(self, text: str) -> list[tuple[int, int]]:
        composed = normalise(text)
        code, rest = split_code(composed)
        shift = len(composed) - len(rest)
        found = surface_spans(rest, self.library.encode_as_serialized_proto(rest))
        return [(0, shift) for _ in code] + [(first + shift, last + shift) for first, last in found]

    def save(self, folder: Path | str) -> None:
        """The whole folder as it was, both sides: neither is useful without the other."""
        write_files(Path(folder), self.files)

    @classmethod
    def open(cls, folder: Path | str, side: str = "source") -> Self:
        folder = Path(folder)
        declared = Declared.read(folder)
        declared.made_by(MAKERS, folder)
        if not holds_marian(folder):
            raise FileError("no_tokenizer", path=folder)
        separate = side == "target" and declared.truth("separate_vocabs", False)
        path = folder / (TARGET_VOCABULARY if separate else VOCABULARY)
        vocabulary = read_vocabulary(path)
        specials = find_specials(vocabulary.get, NAMED | declared.specials)
        for role in ("unk", "eos"):
            if specials.ids().get(role) is None:
                raise FileError("no_piece", path=path, piece=(NAMED | declared.specials)[role])
        return cls(read_model(folder / MODELS[side]), vocabulary, specials, declared.files)


def holds_marian(folder: Path) -> bool:
    return all((folder / name).is_file() for name in (*MODELS.values(), VOCABULARY))


def split_code(text: str) -> tuple[list[str], str]:
    """ ">>fra<< I go" → the code and the rest."""
    end = text.find("<<") if text.startswith(">>") else -1
    return ([text[: end + 2]], text[end + 2 :]) if end >= 0 else ([], text)
