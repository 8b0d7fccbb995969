"""The vocabularies of the two sides of a translation: one for both (the paper's choice, §5.1), or one for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from glassformer.errors import FileError
from glassformer.text.kinds import kind_of_folder, open_tokenizer, train
from glassformer.text.marian import Marian, holds_marian
from glassformer.text.tokenizer import Tokenizer

JOINT, SOURCE, TARGET = "tokenizer", "tokenizer.source", "tokenizer.target"


@dataclass(frozen=True)
class Vocabularies:
    """A tokenizer for each side; joint if ids mean the same on both, as tied embeddings require."""

    source: Tokenizer
    target: Tokenizer

    @property
    def joint(self) -> bool:
        if isinstance(self.source, Marian) and isinstance(self.target, Marian):
            return self.source.vocabulary == self.target.vocabulary
        return self.source is self.target

    @classmethod
    def train(
        cls,
        kind: str,
        sources: Iterable[str],
        targets: Iterable[str],
        vocab_size: int | None = None,
        *,
        joint: bool = True,
        options: Mapping[str, Any] = MappingProxyType({}),
    ) -> Self:
        """Joint: learned from both sides together. Else `vocab_size` is that of each side."""
        if joint:
            both = train(kind, chain(sources, targets), vocab_size, options)
            return cls(both, both)
        return cls(train(kind, sources, vocab_size, options), train(kind, targets, vocab_size, options))

    def save(self, folder: Path | str) -> None:
        """tokenizer/, or tokenizer.source/ and tokenizer.target/."""
        folder = Path(folder)
        if self.joint or isinstance(self.source, Marian):  # either side of Marian saves both
            self.source.save(folder / JOINT)
        else:
            self.source.save(folder / SOURCE)
            self.target.save(folder / TARGET)

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """A saved folder, or that of a published model, whose tokenizer is next to its weights."""
        folder = Path(folder)
        if (folder / JOINT).is_dir():
            return cls._both(folder / JOINT)
        if (folder / SOURCE).is_dir() and (folder / TARGET).is_dir():
            return cls(open_tokenizer(folder / SOURCE), open_tokenizer(folder / TARGET))
        if kind_of_folder(folder) is None:
            raise FileError("no_vocabularies", path=folder, joint=JOINT, source=SOURCE, target=TARGET)
        return cls._both(folder)

    @classmethod
    def _both(cls, folder: Path) -> Self:
        if holds_marian(folder):
            return cls(Marian.open(folder, "source"), Marian.open(folder, "target"))
        both = open_tokenizer(folder)
        return cls(both, both)
