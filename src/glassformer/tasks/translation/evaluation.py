"""How good a trained translator is on a split: translate it and score it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch

from glassformer.data.pair_corpus import pair_corpus
from glassformer.data.pairs import Pairs
from glassformer.errors import ConfigError
from glassformer.loading import Loaded
from glassformer.losses import Sum
from glassformer.metrics.language import perplexity
from glassformer.metrics.translation import Convention, Outputs, Score, by_convention
from glassformer.show import Column, ColumnKind, Sheet, Table
from glassformer.tasks.result import (
    Evaluation,
    EvaluationOptions,
    Groups,
    computed,
    number_columns,
    percent,
)
from glassformer.tasks.search import SearchOptions
from glassformer.tasks.task import added
from glassformer.tasks.translation.scores import TranslationScores, score_outputs
from glassformer.tasks.translation.task import Translation, encode
from glassformer.tasks.translation.translate import as_trained, candidates
from glassformer.words import say

PIECE = 256  # sentences between two reports of progress
COLUMNS = ("group", "sentences", "bleu", "chrf", "ter", "exact", "loss", "perplexity")
DROPPED = {"perplexity": 1, "ter": 2, "exact": 3}  # if there is no room; perplexity, e to the loss, first


@dataclass(frozen=True, kw_only=True, repr=False)
class TranslationEvaluation(Evaluation[TranslationScores]):
    """See `Evaluation`. `search` found the translations; `forensics`: BLEU by other conventions."""

    search: SearchOptions
    forensics: list[Convention] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            **self.total.to_json(),
            **self.where,
            "search": asdict(self.search),
            **self.by_group,
            "forensics": [asdict(row) for row in self.forensics],
        }

    @property
    def kept(self) -> dict[str, Any]:
        return {**self.total.to_json(), "search": asdict(self.search)}

    def shown(self, lang: str | None = None) -> Sheet:
        keys = [*COLUMNS, *(["characters"] if self.total.characters is not None else [])]
        columns = number_columns(keys, lambda key: say(f"judge.{key}", lang), DROPPED)
        table = self.table(columns, _cells, lang)
        return Sheet(table, *self.notes(lang), *([self._forensics(lang)] if self.forensics else []))

    def notes(self, lang: str | None) -> list[str]:
        """What the numbers mean, and how often the split was read."""
        total, one = self.total, self.search
        scores = [total.bleu, total.chrf, total.ter, *([] if total.characters is None else [total.characters])]
        return [
            say("judge.about", lang),
            *(say("judge.signed", lang, signature=score.signature) for score in scores),
            say("judge.searched", lang, beam=one.beam, norm=one.length_norm, alpha=one.alpha, stop=one.stop),
            *self.reading_notes(lang),
        ]

    def _forensics(self, lang: str | None) -> Table:
        kinds: dict[str, ColumnKind] = {"bleu": "number", "convention": "text", "signature": "text"}
        columns = (Column(say(f"judge.{key}", lang), kind) for key, kind in kinds.items())
        side = Table(*columns, title=say("judge.forensics", lang), lang=lang)
        for row in self.forensics:
            value = "–" if row.value is None else f"{row.value:.2f}"
            missing = say("forensics.missing", lang, package=row.missing) if row.missing else row.signature
            side.add(value, say(f"forensics.{row.key}", lang), missing)
        return side


def _cells(scores: TranslationScores) -> list[str]:
    def ends(score: Score) -> str:
        return f"{score.value:.1f} [{score.low:.1f}–{score.high:.1f}]"

    return [
        f"{scores.sentences:,}",
        *map(ends, (scores.bleu, scores.chrf, scores.ter)),
        percent(scores.exact),
        f"{scores.surprise.nats:.4f}",
        f"{scores.surprise.perplexity:.4g}",
        *([] if scores.characters is None else [ends(scores.characters)]),
    ]


def evaluate_translation(loaded: Loaded, split: str, options: EvaluationOptions) -> TranslationEvaluation:
    """Translate a split and score it.

    With several groups, as in the test set of the built-in corpus, the main number covers all sentences except the
    long ones, which no model was trained for.
    """
    data = loaded.config.data
    if options.forensics and data.prepare.startswith("moses"):
        raise ConfigError("forensics_prepared", prepare=data.prepare)
    groups = Groups.of(loaded, split, pair_corpus(data).split(split))
    pairs, main = groups.every, groups.main
    hypotheses = _translate(loaded, pairs, options)
    losses = {name: total_loss(loaded, some) for name, some in pairs.items()}
    scores = {
        name: score_outputs(Outputs(hypotheses[name], some.targets), perplexity(*losses[name]), data)
        for name, some in pairs.items()
    }
    together = _together(main, hypotheses, pairs)
    nats, tokens = map(sum, zip(*(losses[name] for name in main), strict=True))
    return TranslationEvaluation(
        folder=loaded.folder,
        checkpoint=loaded.checkpoint.name,
        split=split,
        total=scores[main[0]] if len(main) == 1 else score_outputs(together, perplexity(nats, tokens), data),
        groups=scores,
        apart=groups.apart,
        hypotheses=hypotheses,
        search=options.search,
        forensics=by_convention(together, data.target_language) if options.forensics else [],
    )


def _translate(loaded: Loaded, pairs: Mapping[str, Pairs], options: EvaluationOptions) -> dict[str, list[str]]:
    """The best translation of every sentence, group by group."""
    search = as_trained(replace(options.search, n_best=1), loaded.config)
    found: dict[str, list[str]] = {name: [] for name in pairs}

    def best(name: str, piece: list[int]) -> list[str]:
        sources = [pairs[name].sources[i] for i in piece]
        return [one.text for one, *_ in candidates(loaded.model, loaded.vocabularies, sources, search)]

    for name, _, texts in computed({name: range(len(some)) for name, some in pairs.items()}, PIECE, options, best):
        found[name] += texts
    return found


def _together(names: list[str], hypotheses: Mapping[str, list[str]], pairs: Mapping[str, Pairs]) -> Outputs:
    return Outputs(
        [text for name in names for text in hypotheses[name]], [text for name in names for text in pairs[name].targets]
    )


SENTENCES = 32  # in a batch, of similar length


@torch.no_grad()
def total_loss(loaded: Loaded, pairs: Pairs) -> tuple[float, int]:
    """The sum of -ln p over all tokens of the targets, eos included, and their number.

    A sum, not a mean, so that groups can be added before dividing once.
    """
    task, store = Translation.make(loaded.config, loaded.vocabularies), encode(pairs, loaded.vocabularies)
    order = sorted(range(len(store)), key=lambda i: int(store.lengths[i].max()))
    sums: dict[str, Sum] = {}
    for first in range(0, len(order), SENTENCES):
        batch = task.collate([store[i] for i in order[first : first + SENTENCES]]).to(loaded.device)
        sums = added(sums, {"loss": task.scores(loaded.model, batch)["loss"]})
    return float(sums["loss"].total), int(sums["loss"].count)
