"""The card of a shared model, card.json: facts only. Sentences about a model of the package are in words/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from glassformer.errors import FileError
from glassformer.files import read_json, write_json
from glassformer.show import Column, Sheet, Table, as_html, as_text
from glassformer.words import say, sentences

CARD = "card.json"
METRICS = {  # the number by which a task is judged, and whether it is a share
    "translation": ("bleu", False),
    "classification": ("accuracy", True),
    "image_classification": ("accuracy", True),
    "masked_language_model": ("masked", True),
    "language_model": ("loss", False),
    "forecasting": ("mse", False),
    "object_queries": ("found", True),
    "prompted_objects": ("right", True),
}
SAYS = ("does", "limits", "biases", "differs")  # the sentences about a model of the package


@dataclass(frozen=True, kw_only=True, repr=False)
class ModelCard:
    """What a shared model is, where it comes from and how good it is; prints as a table.

    `score` was measured with the shared file, after its numbers were rounded, and `score_before` with the weights as
    they were trained; both None if the data were not at hand. `groups`: the score of each part of the split, if it has
    several; `beside`: other methods on the same data.
    """

    name: str
    task: str
    recipe: str  # "": not a recipe of the package
    command: str  # that trained it; "": not from the command line
    seed: int
    steps: int
    parameters: int
    bytes: int
    dtype: str
    data: Mapping[str, str]  # name → licence
    split: str
    metric: str
    score: float | None
    score_before: float | None
    groups: Mapping[str, float]
    beside: Mapping[str, float]
    sha256: str

    @classmethod
    def read(cls, folder: Path) -> ModelCard:
        """The card of a folder; raises if it has none, or one that is damaged."""
        path = folder / CARD
        if not path.is_file():
            raise FileError("no_card", path=folder)
        table = read_json(path)
        known = {field.name for field in fields(cls)}
        if not isinstance(table, dict) or set(table) != known or not isinstance(table["data"], dict):
            raise FileError("card_damaged", path=path)
        return cls(**table)

    def write(self, folder: Path) -> None:
        write_json(folder / CARD, self.to_json())

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    # --- for people ---

    @property
    def licence(self) -> str:
        """The licences of its data, each once."""
        return ", ".join(dict.fromkeys(each for each in self.data.values() if each)) or "–"

    @property
    def size(self) -> str:
        return f"{self.bytes / 1e6:.1f} MB" if self.bytes >= 1e5 else f"{self.bytes / 1e3:.1f} kB"

    def scored(self, value: float | None, lang: str | None = None) -> str:
        """A score with the name of its metric: "accuracy 98.9 %", "MSE 0.379"."""
        if value is None:
            return "–"
        return f"{say(f'models.metrics.{self.metric}', lang)} {self.number(value)}"

    def number(self, value: float) -> str:
        return f"{100 * value:.2f} %" if METRICS[self.task][1] else f"{value:.4g}"

    def says(self, lang: str | None = None) -> list[str]:
        """What the package says about this model; nothing about a model of somebody else."""
        known = sentences("en")
        keys = (f"trained.{self.name}.{key}" for key in SAYS)
        return [say(key, lang) for key in keys if key in known]

    def facts(self, lang: str | None = None) -> dict[str, str]:
        """What is known about it, ready to be read; a fact that does not exist is left out."""
        score = self.scored(self.score, lang)
        if self.score is not None:
            score = say("models.on", lang, score=score, split=self.split)
        facts = {
            "task": say(f"data.tasks.{self.task}", lang),
            "score": score,
            "score_before": self.scored(self.score_before, lang),
            "groups": ", ".join(f"{name} {self.number(value)}" for name, value in self.groups.items()),
            "beside": ", ".join(f"{name} {self.number(value)}" for name, value in self.beside.items()),
            "data": ", ".join(f"{name} ({licence or '–'})" for name, licence in self.data.items()),
            "recipe": self.recipe,
            "command": self.command,
            "seed": str(self.seed),
            "steps": f"{self.steps:,}",
            "parameters": f"{self.parameters:,}",
            "size": f"{self.size}, {self.dtype}",
            "sha256": self.sha256,
        }
        return {key: fact for key, fact in facts.items() if fact}

    def shown(self, lang: str | None = None) -> Sheet:
        table = Table(Column("", "name"), Column(), title=self.name, lang=lang)
        for key, fact in self.facts(lang).items():
            table.add(say(f"models.{key}", lang), fact)
        return Sheet(table, *self.says(lang))

    def __rich__(self) -> Sheet:
        return self.shown()

    def __repr__(self) -> str:
        return as_text(self.shown())

    def _repr_html_(self) -> str:
        return as_html(self.shown())
