"""Where the sentences of a run come from: the built-in grammar, your own files, or sets of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from glassformer.config.options import check_choice
from glassformer.config.recipe import DataConfig
from glassformer.config.values import size_or_zero
from glassformer.data import grammar
from glassformer.data.corpus import Corpus, from_kinds, from_parts, source_options, two_columns
from glassformer.data.moses import preparation
from glassformer.data.pairs import Pairs, apart, chained_pairs, read_pairs, read_parallel
from glassformer.data.read import translation_pairs
from glassformer.data.table import Form, delimiter_of
from glassformer.errors import ConfigError, choose

PairGroups = Mapping[str, Pairs]


def pair_corpus(config: DataConfig) -> Corpus[Pairs]:
    """All sentences of a run. The same configuration gives the same sentences in the same order."""
    make = choose("data.source", config.source.kind, PAIRS)
    groups = make(config, **check_choice("data.source", config.source, PAIRS_OPTIONS[config.source.kind]))
    change = preparation(config.prepare, config.source_language, config.target_language)
    return Corpus(config, groups, change)


def from_grammar(
    config: DataConfig, *, level: str = "small", count: int = 100_000, test: int = 200
) -> Callable[[str], PairGroups]:
    """The built-in corpus; the test set has a group of `test` sentences for each kind that is held out."""
    languages = (config.source_language, config.target_language)
    if sorted(languages) != ["en", "ko"]:
        raise ConfigError("grammar_languages", source=languages[0], target=languages[1])

    def pairs(split: str, number: int, kinds: Sequence[str] | None) -> Pairs:
        found = grammar.pairs(split, number, seed=config.seed, level=level, kinds=kinds)
        korean, english = [pair.source_ko for pair in found], [pair.target_en for pair in found]
        return Pairs(korean, english) if config.source_language == "ko" else Pairs(english, korean)

    return from_kinds(pairs, count=count, validation=config.validation, test=test)


def from_files(
    config: DataConfig,
    *,
    train: str | Sequence[str],
    validation: str | Sequence[str] | None = None,
    test: str | Sequence[str] | None = None,
    columns: Sequence[str | int] | None = None,
    delimiter: str = "",
    header: bool | None = None,
) -> Callable[[str], PairGroups]:
    """Your own files: two parallel texts, or one table or .jsonl with two `columns` (numbers from 1, or names)."""
    form = Form(columns, delimiter, header)
    return from_parts(
        lambda path: _file(path, form),
        lambda pairs: apart(pairs, config.validation, config.seed),
        train=train,
        validation=validation,
        test={} if test is None else {"test": test},
    )


def from_catalogue(
    config: DataConfig,
    *,
    names: Sequence[str],
    train: str = "train",
    validation: str = "val",
    test: Sequence[str] = ("test",),
    beyond: Sequence[str] = (),
    grammar: int = 0,
) -> Callable[[str], PairGroups]:
    """Sets of the catalogue, one after another; the test set of each is a group of its own.

    `beyond`: test sets of other domains, NAME/PART each, which nothing is learned from. `grammar`: how many sentences
    of the built-in corpus are learned beside them; its own validation and test sets then count too.
    """
    every = [names] if isinstance(names, str) else list(names)
    tests = [test] if isinstance(test, str) else list(test)
    languages = (config.source_language, config.target_language)
    built_in = from_grammar(config, count=grammar) if grammar else lambda _: {}

    def both(split: str, part: str) -> Pairs:
        return chained_pairs(
            [*(translation_pairs(name, part, *languages) for name in every), *built_in(split).values()]
        )

    def groups(split: str) -> PairGroups:
        if split != "test":
            return {split: both(split, train if split == "train" else validation)}
        found = {
            name if len(tests) == 1 else f"{name} {part}": translation_pairs(name, part, *languages)
            for name in every
            for part in tests
        }
        others = (each.partition("/") for each in ([beyond] if isinstance(beyond, str) else beyond))
        found |= {f"{name} {part}": translation_pairs(name, part, *languages) for name, _, part in others}
        return {**found, **built_in("test")}

    return groups


PAIRS: dict[str, Callable[..., Callable[[str], PairGroups]]] = {
    "grammar": from_grammar,
    "files": from_files,
    "catalogue": from_catalogue,
}
PAIRS_OPTIONS = source_options(
    PAIRS,
    {
        "grammar": {"test": size_or_zero},
        "catalogue": {"grammar": size_or_zero},
        "files": {"columns": two_columns, "delimiter": delimiter_of},
    },
)


def _file(path: str | Sequence[str], form: Form) -> Pairs:
    if isinstance(path, str):
        return read_pairs(path, form)
    if len(path) != 2:
        raise ConfigError("two_files", given=", ".join(map(str, path)))
    return read_parallel(Path(path[0]), Path(path[1]))
