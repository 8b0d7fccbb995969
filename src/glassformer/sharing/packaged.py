"""The trained models of the package with their scores and sizes: `glassformer models`, `gf.trained_models()`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from glassformer.errors import ConfigError, suggest
from glassformer.loading import trained_folders
from glassformer.sharing.card import ModelCard
from glassformer.show import Column, Sheet, Table, as_html, as_text
from glassformer.tasks.verbs import verb_of
from glassformer.words import say


@dataclass(frozen=True, repr=False)
class TrainedModels:
    """The card of every trained model of the package, by name; prints as a table."""

    cards: tuple[ModelCard, ...]

    @property
    def names(self) -> list[str]:
        return [card.name for card in self.cards]

    def __len__(self) -> int:
        return len(self.cards)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> ModelCard:
        for card in self.cards:
            if card.name == name:
                return card
        raise ConfigError("no_trained", model=name, hint=suggest(name, self.names))

    def table(self, lang: str | None = None, code: str = "") -> Table:
        """One line for each model. `code`: what stands around a name, ` in Markdown."""
        table = Table(
            Column(say("models.name", lang), "name"),
            Column(say("models.task", lang)),
            Column(say("models.score", lang), "name"),
            Column(say("models.size", lang), "number", 2),
            Column(say("models.licence", lang), "text", 1),
            lang=lang,
        )
        for card in self.cards:
            task, score = say(f"data.tasks.{card.task}", lang), card.scored(card.score, lang)
            table.add(f"{code}{card.name}{code}", task, score, card.size, card.licence)
        return table

    def shown(self, lang: str | None = None) -> Sheet:
        if not self.cards:
            return Sheet(say("models.none", lang))
        first = self.cards[0]
        command = f"glassformer {verb_of(first.task)} {first.name} …"
        return Sheet(self.table(lang), say("models.hint", lang, name=first.name, command=command))

    def to_json(self) -> list[dict[str, Any]]:
        return [card.to_json() for card in self.cards]

    def __rich__(self) -> Sheet:
        return self.shown()

    def __repr__(self) -> str:
        return as_text(self.shown())

    def _repr_html_(self) -> str:
        return as_html(self.shown())


def trained_models() -> TrainedModels:
    return TrainedModels(tuple(ModelCard.read(folder) for folder in trained_folders().values()))
