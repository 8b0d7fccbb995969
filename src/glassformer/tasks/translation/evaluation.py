"""How good a trained translator is on a split: translate it, score it, write down that it was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from glassformer.data.pair_corpus import pair_corpus
from glassformer.data.pairs import Pairs
from glassformer.errors import ConfigError, InputError
from glassformer.loading import Loaded
from glassformer.metrics.language import perplexity
from glassformer.metrics.translation import Convention, Outputs, by_convention
from glassformer.show import Sheet, as_html, as_text
from glassformer.tasks.evaluation_log import EvaluationLog
from glassformer.tasks.evaluation_options import EvaluationOptions, Progress, set_apart
from glassformer.tasks.translation import show
from glassformer.tasks.translation.scores import TranslationScores, judge
from glassformer.tasks.translation.surprise import total_loss
from glassformer.tasks.translation.translate import SearchOptions, as_trained, candidates

PIECE = 256  # sentences between two signs of life


@dataclass(frozen=True, kw_only=True)
class TranslationEvaluation:
    """The scores of a split, of each of its groups and of all together but for `apart`.

    Prints as a table; `to_json()` is what `--json` prints. `readings`: how often this run was scored on this split,
    this time included.
    """

    folder: Path
    checkpoint: str
    split: str
    search: SearchOptions
    total: TranslationScores
    groups: Mapping[str, TranslationScores]
    apart: tuple[str, ...]
    readings: int
    hypotheses: Mapping[str, list[str]] = field(repr=False)
    forensics: list[Convention] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            **self.total.to_json(),
            "run": str(self.folder),
            "checkpoint": self.checkpoint,
            "split": self.split,
            "readings": self.readings,
            "search": asdict(self.search),
            "groups": {name: scores.to_json() for name, scores in self.groups.items()},
            "apart": list(self.apart),
            "forensics": [asdict(row) for row in self.forensics],
        }

    def __rich__(self) -> Sheet:
        return show.tables(self)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(show.tables(self))


def evaluate_translation(loaded: Loaded, split: str, how: EvaluationOptions) -> TranslationEvaluation:
    """Translate a split and score it.

    With several groups, as in the test set of the built-in corpus, the main number is that of all sentences but the
    long ones, which no model was trained for. What was read is written into the run's evaluations.jsonl.
    """
    search, forensics = how.search, how.forensics
    data, readings = loaded.config.data, EvaluationLog(loaded.folder)
    if forensics and data.prepare.startswith("moses"):
        raise ConfigError("forensics_prepared", prepare=data.prepare)
    pairs = {name: some for name, some in pair_corpus(data).split(split).items() if len(some)}
    if not pairs:
        raise InputError("split_empty", split=split, path=loaded.folder)
    hypotheses = _translate(loaded, pairs, search, how.progress)
    losses = {name: total_loss(loaded, some) for name, some in pairs.items()}
    groups = {
        name: judge(Outputs(hypotheses[name], some.targets), perplexity(*losses[name]), data)
        for name, some in pairs.items()
    }
    apart = set_apart(pairs)
    main = [name for name in pairs if name not in apart]
    together = _together(main, hypotheses, pairs)
    nats, tokens = map(sum, zip(*(losses[name] for name in main), strict=True))
    total = groups[main[0]] if len(main) == 1 else judge(together, perplexity(nats, tokens), data)
    readings.write(split, loaded.checkpoint.name, {**total.to_json(), "search": asdict(search)})
    return TranslationEvaluation(
        folder=loaded.folder,
        checkpoint=loaded.checkpoint.name,
        split=split,
        search=search,
        total=total,
        groups=groups,
        apart=apart,
        readings=readings.count(split),
        hypotheses=hypotheses,
        forensics=by_convention(together, data.target_language) if forensics else [],
    )


def _translate(
    loaded: Loaded, pairs: Mapping[str, Pairs], search: SearchOptions, progress: Progress
) -> dict[str, list[str]]:
    """The best translation of every sentence, group by group."""
    search = as_trained(replace(search, n_best=1), loaded.config)
    every, done = sum(map(len, pairs.values())), 0
    found: dict[str, list[str]] = {name: [] for name in pairs}
    for name, some in pairs.items():
        for first in range(0, len(some), PIECE):
            piece = some.sources[first : first + PIECE]
            best = candidates(loaded.model, loaded.vocabularies, piece, search)
            found[name] += [one.text for one, *_ in best]
            done += len(piece)
            progress(done, every)
    return found


def _together(names: list[str], hypotheses: Mapping[str, list[str]], pairs: Mapping[str, Pairs]) -> Outputs:
    return Outputs(
        [text for name in names for text in hypotheses[name]], [text for name in names for text in pairs[name].targets]
    )
