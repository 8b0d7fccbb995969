"""What a tokenizer is: text ↔ ids, before the first box of Figure 1 and after the last; and its special tokens.

Special tokens are never part of the text: "<eos>" typed by a person is a few ordinary pieces, and decodes as typed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Protocol

from glassformer.errors import InputError

# Their names in other tokenizers, the likeliest first.
FOREIGN = {
    "pad": ("<pad>", "[PAD]"),
    "bos": ("<bos>", "<s>", "[BOS]", "<|begin_of_text|>", "<|endoftext|>"),
    "eos": ("<eos>", "</s>", "[EOS]", "<|end_of_text|>", "<|endoftext|>"),
    "unk": ("<unk>", "[UNK]"),
    "cls": ("<cls>", "[CLS]"),
    "sep": ("<sep>", "[SEP]"),
    "mask": ("<mask>", "[MASK]"),
}
BLANKS_APART = ("characters", "words")  # kinds whose pieces never hold the blank before a word


@dataclass(frozen=True)
class Specials:
    """The ids of the special tokens; None where an imported tokenizer has none."""

    pad: int | None = 0
    bos: int | None = 1
    eos: int | None = 2
    unk: int | None = 3
    cls: int | None = 4
    sep: int | None = 5
    mask: int | None = 6

    def need(self, role: str) -> int:
        """The id of a role ("pad", "bos" …), or an error if the tokenizer has no such token."""
        token: int | None = getattr(self, role)
        if token is None:
            raise InputError("no_special", role=role)
        return token

    def ids(self) -> dict[str, int]:
        """Role → id, for those that exist."""
        return {role: token for role in ROLES if (token := getattr(self, role)) is not None}

    def dropped(self) -> frozenset[int]:
        """What decoding leaves out: all but the unknown token, which a reader should see."""
        return frozenset(token for role, token in self.ids().items() if role != "unk")


ROLES = tuple(role.name for role in fields(Specials))
NAMES = tuple(f"<{role}>" for role in ROLES)  # in the order of their ids


def find_specials(find: Callable[[str], int | None], declared: Mapping[str, str]) -> Specials:
    """The special tokens of an imported tokenizer: as its own files declare them, else by their usual names."""
    found: dict[str, int | None] = {}
    for role in ROLES:
        names = (declared[role],) if role in declared else FOREIGN[role]
        found[role] = next((token for name in names if (token := find(name)) is not None), None)
    return Specials(**found)


class Tokenizer(Protocol):
    """Text ↔ ids. Every text is normalised first (NFC), so both spellings of a syllable give the same ids.

        exact: decode(encode(x)) = NFC(x) for any x

    `encode` neither adds nor recognises special tokens: they are added where batches are built.
    """

    @property
    def kind(self) -> str: ...

    @property
    def vocab_size(self) -> int: ...

    @property
    def specials(self) -> Specials: ...

    @property
    def exact(self) -> bool:
        """Whether decoding restores every text: true for all kinds trained here except "words"."""
        ...

    def encode(self, text: str) -> list[int]: ...

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]: ...

    def decode(self, ids: Iterable[int]) -> str:
        """The text, without special tokens except the unknown one."""
        ...

    def piece(self, token: int) -> str:
        """One id as a person reads it."""
        ...

    def pieces(self, text: str) -> list[str]:
        """A text's pieces as a person reads them, one for each id."""
        ...

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The characters of NFC(text) that each piece covers; a part of a syllable covers all of it."""
        ...

    def save(self, folder: Path | str) -> None: ...


def holds_blanks(tokenizer: Tokenizer) -> bool:
    """Whether the blank before a word is part of its first piece: not for characters, words, or BERT's own pieces."""
    if tokenizer.kind == "wordpiece":
        return tokenizer.exact
    return tokenizer.kind not in BLANKS_APART
