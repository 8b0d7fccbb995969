"""The vocabularies of the two sides of a translation: one for both (the paper's choice, §5.1), or one for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from glassformer.errors import FileError
from glassformer.text.kinds import open_tokenizer, train
from glassformer.text.tokenizer import Tokenizer

JOINT, SOURCE, TARGET = "tokenizer", "tokenizer.source", "tokenizer.target"


@dataclass(frozen=True)
class Vocabularies:
    """A tokenizer for each side; joint if both are the same, which is what tied embeddings need."""

    source: Tokenizer
    target: Tokenizer

    @property
    def joint(self) -> bool:
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
        if self.joint:
            self.source.save(folder / JOINT)
        else:
            self.source.save(folder / SOURCE)
            self.target.save(folder / TARGET)

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        folder = Path(folder)
        if (folder / JOINT).is_dir():
            both = open_tokenizer(folder / JOINT)
            return cls(both, both)
        if not ((folder / SOURCE).is_dir() and (folder / TARGET).is_dir()):
            raise FileError("no_vocabularies", path=folder, joint=JOINT, source=SOURCE, target=TARGET)
        return cls(open_tokenizer(folder / SOURCE), open_tokenizer(folder / TARGET))
