"""The named models and their sizes: `glassformer presets` and `gf.presets()`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from glassformer.errors import choose
from glassformer.ledger.parameters import Ledger, count
from glassformer.models.presets import PRESETS
from glassformer.show import Column, Sheet, Table, as_html, as_text
from glassformer.words import say


@dataclass(frozen=True)
class Presets:
    """The ledger of every preset by its name, in the order in which the models were published; prints as a table."""

    ledgers: tuple[Ledger, ...]

    @property
    def names(self) -> list[str]:
        return [each.model for each in self.ledgers]

    def __len__(self) -> int:
        return len(self.ledgers)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Ledger:
        return choose("preset", name, {each.model: each for each in self.ledgers})

    def shown(self) -> Sheet:
        table = Table(
            Column(say("presets.name"), "name"),
            Column(say("presets.family"), drop=1),
            Column(say("presets.sizes")),
            Column(say("presets.parameters"), "number"),
        )
        for each in self.ledgers:
            config = each.config
            depth = "+".join(str(n) for n in (config.encoder_layers, config.decoder_layers) if n)
            sizes = f"{depth} × {config.d_model}, {config.n_heads} h, d_ff {config.d_ff}"
            table.add(each.model, say(f"families.{config.family}"), sizes, each.total.parameters)
        return Sheet(table, say("presets.hint"))

    def to_json(self) -> list[dict[str, Any]]:
        return [
            {"name": each.model, "config": each.config.to_dict(), "total": vars(each.total)} for each in self.ledgers
        ]

    def __rich__(self) -> Sheet:
        return self.shown()

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self.shown())


def presets() -> Presets:
    return Presets(tuple(count(name, make()) for name, make in PRESETS.items()))
