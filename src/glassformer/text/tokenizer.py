"""What a tokenizer is: text ↔ ids, before the first box of Figure 1 and after the last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from glassformer.text.special import Specials

BLANKS_APART = ("characters", "words")  # kinds whose pieces never hold the blank before a word


class Tokenizer(Protocol):
    """Text ↔ ids. Every text is composed first (NFC), so both spellings of a syllable give the same ids.

        exact: decode(encode(x)) = NFC(x) for any x

    Special tokens are neither added nor recognised by `encode`: who builds the batch adds them.
    """

    @property
    def kind(self) -> str: ...

    @property
    def vocab_size(self) -> int: ...

    @property
    def specials(self) -> Specials: ...

    @property
    def exact(self) -> bool:
        """Whether every text comes back as it was: true of all that is trained here but "words"."""
        ...

    def encode(self, text: str) -> list[int]: ...

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]: ...

    def decode(self, ids: Iterable[int]) -> str:
        """The text; special tokens are left out, but for the unknown one."""
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
    """Whether the blank before a word is part of its first piece: not in characters, words, or BERT's own pieces."""
    if tokenizer.kind == "wordpiece":
        return tokenizer.exact
    return tokenizer.kind not in BLANKS_APART
