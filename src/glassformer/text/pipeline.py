"""A tokenizer of the `tokenizers` library: split, model, decoder, saved as the ecosystem's own tokenizer.json.

The kinds (BPE, WordPiece, Unigram, characters, words) differ in their training and in how their pieces spell a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar

import tokenizers
from tokenizers import AddedToken, decoders
from tokenizers.normalizers import NFC

from glassformer.errors import FileError, InputError, shown
from glassformer.text.alphabet import Spelling, cover, readable, spell_visible
from glassformer.text.files import FORMAT, TOKENIZER_CONFIG_FILE, Declared, damaged, read_text, to_json, write_files
from glassformer.text.learn import LARGEST_VOCABULARY
from glassformer.text.normalisation import CONTINUED, PATTERN, normalise
from glassformer.text.panic import PanicError, contained
from glassformer.text.tokenizer import Specials, find_specials

TOKENIZER_FILE = "tokenizer.json"
T = TypeVar("T")
REGEX = re.compile(r'"Regex":\s*("(?:[^"\\]|\\.)*")')  # a pattern, as the library writes it
OUR_PATTERNS = (PATTERN, CONTINUED)
PROBE = "a 가 \U0001f600"


class Pipeline:
    """What the kinds share; `exact` says whether decoding restores every text, as in our own layout.

    Text is normalised here (NFC), not by the library, whose Unicode tables are older than Python's: its normaliser is
    only written into the file, for other programs. An imported tokenizer gives the ids of `transformers`, with two
    differences: text is normalised, and special tokens typed by a person stay text.
    """

    kind: ClassVar[str]
    model: ClassVar[str]  # the library's name for it
    keeps_text: ClassVar[bool] = True  # whether our own layout is exact

    def __init__(
        self,
        library: tokenizers.Tokenizer,
        specials: Specials,
        *,
        own: bool,
        files: Mapping[str, bytes] = MappingProxyType({}),
    ) -> None:
        self.library = library
        self.specials = specials
        self.own = own
        self.files = dict(files)
        if own:
            library.normalizer = None
        library.no_padding()
        library.no_truncation()
        names = [library.id_to_token(token) for token in specials.ids().values()]
        library.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in names if name])
        library.encode_special_tokens = True  # a text that says "<eos>" is text
        vocabulary = library.get_vocab(with_added_tokens=True)
        self.vocab_size = max(vocabulary.values(), default=-1) + 1
        added = {token: entry for token, entry in library.get_added_tokens_decoder().items() if entry.special}
        self._dropped = (added.keys() - {specials.unk}) | specials.dropped()
        self._names = {token: entry.content for token, entry in added.items()}
        self._spelled = self._spell_all(vocabulary)
        self._patterned = brings_patterns(library)

    @staticmethod
    def spell(piece: str) -> bytes:
        """A piece of our own layout → its bytes."""
        raise NotImplementedError

    def _spell_all(self, vocabulary: dict[str, int]) -> dict[int, bytes]:
        """Id → bytes, for pieces that spell bytes."""
        spell: Spelling | None = self.spell if self.own else None
        if not self.own and isinstance(self.library.decoder, decoders.ByteLevel):
            spell = spell_visible
        if spell is None:
            return {}
        spelled = {}
        for piece, token in vocabulary.items():
            try:
                spelled[token] = piece.encode() if token in self._names else spell(piece)
            except KeyError:  # not in GPT-2's alphabet: a piece added elsewhere
                if self.own:
                    raise ValueError(piece) from None
                spelled[token] = piece.encode()
        return spelled

    @property
    def exact(self) -> bool:
        return self.own and self.keeps_text

    def encode(self, text: str) -> list[int]:
        return self._as_text(self._encoded(normalise(text)).ids)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        composed = [normalise(text) for text in texts]
        try:
            found = self._run(composed, lambda: self.library.encode_batch_fast(composed, add_special_tokens=False))
        except InputError:
            found = [self._encoded(text) for text in composed]  # one by one, so that the error names its text
        return [self._as_text(one.ids) for one in found]

    def encode_typed(self, text: str) -> list[int]:
        """The ids of a text in which typed special tokens count as such, as in `transformers`."""
        self.library.encode_special_tokens = False
        try:
            return self._encoded(normalise(text)).ids
        finally:
            self.library.encode_special_tokens = True

    def _encoded(self, composed: str) -> tokenizers.Encoding:
        return self._run(composed, lambda: self.library.encode(composed, add_special_tokens=False))

    def _run(self, given: object, make: Callable[[], T]) -> T:
        """Run the library. A pattern that came with a file may make it panic; our own never do."""
        if not self._patterned:
            return make()
        try:
            return contained(make)
        except PanicError as error:
            raise InputError("tokenizer_fails", kind=self.kind, text=shown(given), why=str(error)) from error

    def _as_text(self, ids: list[int]) -> list[int]:
        """In T5's file special tokens are ordinary pieces: typed by a person they become unknown, never special."""
        unk = self.specials.unk
        if self.own or unk is None or self._dropped.isdisjoint(ids):
            return ids
        return [unk if token in self._dropped else token for token in ids]

    def decode(self, ids: Iterable[int]) -> str:
        tokens = check_ids(ids, self.vocab_size)
        kept = [token for token in tokens if token not in self._dropped]
        return self._run(kept, lambda: self.library.decode(kept, skip_special_tokens=False))

    def piece(self, token: int) -> str:
        (token,) = check_ids([token], self.vocab_size)
        if token in self._names:
            return self._names[token]
        if token in self._spelled:
            return readable(self._spelled[token])
        return self.library.id_to_token(token) or ""

    def pieces(self, text: str) -> list[str]:
        return [self.piece(token) for token in self.encode(text)]

    def spans(self, text: str) -> list[tuple[int, int]]:
        composed = normalise(text)
        found = self._encoded(composed)
        if self.exact:
            return cover(composed, [len(self._spelled[token]) for token in found.ids])
        return found.offsets

    def save(self, folder: Path | str) -> None:
        """An imported one as it was; ours as tokenizer.json, special tokens where Hugging Face looks for them."""
        if self.files:
            write_files(Path(folder), self.files)
            return
        copy = tokenizers.Tokenizer.from_str(self.library.to_str())
        if self.own:
            copy.normalizer = NFC()
        tokens = {f"{role}_token": self.library.id_to_token(token) for role, token in self.specials.ids().items()}
        config = {
            "kind": self.kind,
            "format": FORMAT,
            "own": self.own,
            "tokenizer_class": "PreTrainedTokenizerFast",
            **tokens,
            "split_special_tokens": True,
            "clean_up_tokenization_spaces": False,
        }
        write_files(
            Path(folder), {TOKENIZER_FILE: copy.to_str(pretty=True).encode(), TOKENIZER_CONFIG_FILE: to_json(config)}
        )

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """A folder with tokenizer.json: our own, or an imported one, which keeps its own rules."""
        folder = Path(folder)
        declared = Declared.read(folder)
        library = read_library(folder / TOKENIZER_FILE)
        found = declared.table.get("kind", cls.kind)
        if type(library.model).__name__ != cls.model or found != cls.kind:
            found = declared.table.get("kind", type(library.model).__name__)
            raise FileError("tokenizer_kind", path=folder, found=found, kind=cls.kind)
        return cls.of(library, folder / TOKENIZER_FILE, declared, own=declared.table.get("own") is True)

    @classmethod
    def of(cls, library: tokenizers.Tokenizer, path: Path, declared: Declared, *, own: bool = False) -> Self:
        specials = find_specials(library.token_to_id, declared.specials)
        last = max(library.get_vocab().values(), default=-1)
        if not 0 <= last < LARGEST_VOCABULARY:
            raise FileError("tokenizer_ids", path=path, last=last, limit=LARGEST_VOCABULARY)
        built(path, lambda: library.encode(PROBE))  # some errors appear only now
        try:
            return cls(library, specials, own=own, files=declared.files)
        except ValueError as error:
            raise FileError("tokenizer_piece", path=path, piece=shown(str(error)), kind=cls.kind) from error

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The library loses this one setting when it is pickled."""
        self.__dict__.update(state)
        self.library.encode_special_tokens = True


def brings_patterns(library: tokenizers.Tokenizer) -> bool:
    """Whether it has a pattern that is not ours: such a pattern may never end on some text."""
    return any(json.loads(found) not in OUR_PATTERNS for found in REGEX.findall(library.to_str()))


def check_ids(ids: Iterable[int], vocab_size: int) -> list[int]:
    tokens = [int(token) for token in ids]
    for token in tokens:
        if not 0 <= token < vocab_size:
            raise InputError("token_out_of_range", token=token, last=vocab_size - 1)
    return tokens


def read_library(path: Path) -> tokenizers.Tokenizer:
    text = read_text(path)
    try:
        model = json.loads(text)["model"]
        vocabulary, merges, mark = model["vocab"], model.get("merges", []), model.get("continuing_subword_prefix") or ""
        pairs = [tuple(merge.split(" ") if isinstance(merge, str) else merge) for merge in merges]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        vocabulary, pairs, mark = {}, [], ""  # the library will report what is wrong
    if isinstance(vocabulary, dict):
        check_once(path, vocabulary)
        check_merges(path, vocabulary, pairs, mark if isinstance(mark, str) else "")
    return built(path, lambda: tokenizers.Tokenizer.from_str(text))


def model_type(path: Path) -> str:
    """The library's name for the model: from the file or, in the oldest files, found by trying."""
    try:
        said = json.loads(read_text(path))["model"]["type"]
    except (ValueError, RecursionError, LookupError, TypeError):
        said = None
    return said if said in ("BPE", "Unigram", "WordLevel", "WordPiece") else type(read_library(path).model).__name__


def check_once(path: Path, vocabulary: Mapping[str, Any]) -> None:
    """Raises if two pieces have the same id: the library would choose one at random."""
    seen: dict[int, str] = {}
    for piece, token in vocabulary.items():
        if isinstance(token, int) and seen.setdefault(token, piece) != piece:
            raise FileError("piece_twice", path=path, piece=shown(piece), token=shown(token))


def check_merges(path: Path, vocabulary: Mapping[str, Any], pairs: Iterable[tuple[str, ...]], mark: str = "") -> None:
    """Raises if a merge makes a piece that does not exist: the library would panic."""
    for pair in pairs:
        if len(pair) == 2 and all(isinstance(part, str) and part in vocabulary for part in pair):
            first, second = pair
            if first + second[len(mark) :] not in vocabulary:
                raise FileError("merge_unknown", path=path, first=first, second=second)


def add_tokens(library: tokenizers.Tokenizer, declared: Declared, path: Path) -> tokenizers.Tokenizer:
    """Add the tokens that a folder declares besides its pieces, at their ids."""
    for name, added in sorted(declared.added.items(), key=lambda entry: entry[1].token):
        entry = AddedToken(name, special=added.special, normalized=False)
        (library.add_special_tokens if added.special else library.add_tokens)([entry])
        if library.token_to_id(name) != added.token:
            raise FileError("added_token", path=path, name=shown(name), token=added.token)
    return library


def built(path: Path, make: Callable[[], T]) -> T:
    """What the library makes of a file, or its error in one line."""
    try:
        return contained(make)
    except PanicError as error:
        raise damaged(path, error) from error
