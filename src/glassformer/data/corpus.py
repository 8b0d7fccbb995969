"""Where the sentences of a run come from: the built-in grammar, files of one's own, or sets of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glassformer.config import Choice
from glassformer.data import grammar
from glassformer.data.jsonl import read_jsonl
from glassformer.data.moses import prepared
from glassformer.data.pairs import Pairs
from glassformer.data.parallel import read_parallel
from glassformer.data.read import read
from glassformer.data.split import apart
from glassformer.data.table import read_tsv
from glassformer.errors import ConfigError, choose, suggest
from glassformer.recipe import DataConfig


@dataclass(frozen=True)
class Corpus:
    """What is learned from, what is looked at while learning, and what is kept for the end, by name."""

    train: Pairs
    validation: Pairs
    test: Mapping[str, Pairs] = field(default_factory=dict)

    def split(self, name: str) -> dict[str, Pairs]:
        """The pairs of a split, in the groups that are reported apart."""
        splits = {"train": {"train": self.train}, "validation": {"validation": self.validation}, "test": self.test}
        return dict(choose("split", name, splits))


def corpus(config: DataConfig) -> Corpus:
    """All sentences of a run. The same configuration gives the same sentences in the same order."""
    make = choose("source", config.source.kind, CORPORA)
    found = make(config, **_options(config.source))
    change = prepared(config.prepare, config.source_language, config.target_language)
    return Corpus(change(found.train), change(found.validation), {k: change(v) for k, v in found.test.items()})


def from_grammar(config: DataConfig, *, level: str = "small", count: int = 100_000, test: int = 200) -> Corpus:
    """The built-in corpus; of the test set each kind that is held out stands apart, `test` sentences of each."""

    def pairs(split: str, number: int, kinds: Sequence[str] | None = None) -> Pairs:
        found = grammar.pairs(split, number, seed=config.seed, level=level, kinds=kinds)
        korean, english = [pair.source_ko for pair in found], [pair.target_en for pair in found]
        return Pairs(korean, english) if config.source_language == "ko" else Pairs(english, korean)

    languages = (config.source_language, config.target_language)
    if sorted(languages) != ["en", "ko"]:
        raise ConfigError("grammar_languages", source=languages[0], target=languages[1])
    kinds = {kind: pairs("test", test, [kind]) for kind in grammar.KINDS} if test else {}
    return Corpus(pairs("train", count), pairs("validation", config.validation), kinds)


def from_files(
    config: DataConfig,
    *,
    train: str | Sequence[str],
    validation: str | Sequence[str] | None = None,
    test: str | Sequence[str] | None = None,
    columns: Sequence[str | int] = (1, 2),
) -> Corpus:
    """Files of one's own: two parallel texts, or one .tsv or .jsonl with two `columns` (numbers from 1, or names)."""
    learned = _file(train, columns)
    if validation is None:
        learned, looked_at = apart(learned, config.validation, config.seed)
    else:
        looked_at = _file(validation, columns)
    return Corpus(learned, looked_at, {} if test is None else {"test": _file(test, columns)})


def from_catalogue(
    config: DataConfig,
    *,
    names: Sequence[str],
    train: str = "train",
    validation: str = "val",
    test: Sequence[str] = ("test",),
) -> Corpus:
    """Sets of the catalogue, one after another; the test set of each stands apart."""
    names = [names] if isinstance(names, str) else list(names)
    languages = (config.source_language, config.target_language)

    def joined(split: str) -> Pairs:
        every = [read(name, split, *languages) for name in names]
        return Pairs([s for pairs in every for s in pairs.sources], [t for pairs in every for t in pairs.targets])

    tests = {
        name if len(test) == 1 else f"{name} {split}": read(name, split, *languages)
        for name in names
        for split in ([test] if isinstance(test, str) else test)
    }
    return Corpus(joined(train), joined(validation), tests)


CORPORA: dict[str, Callable[..., Corpus]] = {
    "grammar": from_grammar,
    "files": from_files,
    "catalogue": from_catalogue,
}


def _options(source: Choice) -> dict[str, Any]:
    """The options of a source; an unknown or a missing one is named."""
    from inspect import Parameter, signature

    known = {name: each for name, each in signature(CORPORA[source.kind]).parameters.items() if name != "config"}
    for option in source.options:
        if option not in known:
            hint = suggest(option, known)
            raise ConfigError("unknown_option", key="source", option=option, kind=source.kind, hint=hint)
    for name, each in known.items():
        if each.default is Parameter.empty and name not in source.options:
            raise ConfigError("option_missing", key="source", kind=source.kind, option=name)
    return dict(source.options)


def _file(path: str | Sequence[str], columns: Sequence[str | int]) -> Pairs:
    if not isinstance(path, str):
        if len(path) != 2:
            raise ConfigError("two_files", given=", ".join(map(str, path)))
        return read_parallel(Path(path[0]), Path(path[1]))
    source, target = columns
    name = path.removesuffix(".gz").removesuffix(".xz")
    if name.endswith(".jsonl"):
        numbers = any(isinstance(column, int) for column in columns)
        return read_jsonl(Path(path)) if numbers else read_jsonl(Path(path), str(source), str(target))
    return read_tsv(Path(path), source, target)
