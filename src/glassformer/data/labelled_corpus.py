"""Where the labelled texts of a run come from: the built-in grammar, your own files, or a set of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from glassformer.config.options import check_choice
from glassformer.config.recipe import DataConfig
from glassformer.config.values import one_of, size_or_zero
from glassformer.data import grammar, read
from glassformer.data.corpus import Corpus, from_kinds, from_parts, source_options, two_columns
from glassformer.data.moses import prepared_side
from glassformer.data.table import Form, delimiter_of
from glassformer.data.texts import Texts, apart, read_texts
from glassformer.errors import ConfigError, choose

TextGroups = Mapping[str, Texts]


def labelled_corpus(config: DataConfig) -> Corpus[Texts]:
    """All labelled texts of a run. The same configuration gives the same texts in the same order."""
    make = choose("data.source", config.source.kind, LABELLED)
    change = prepared_side(config.prepare, config.source_language)
    groups = make(config, **check_choice("data.source", config.source, LABELLED_OPTIONS[config.source.kind]))
    return Corpus(config, groups, lambda some: Texts([change(text) for text in some.texts], some.labels))


def from_grammar(
    config: DataConfig, *, label: str = "sentiment", level: str = "small", count: int = 10_000, test: int = 100
) -> Callable[[str], TextGroups]:
    """The built-in corpus in `source_language`; the test set has a group for each kind that is held out."""
    if config.source_language not in ("ko", "en"):
        raise ConfigError("grammar_language", language=config.source_language)

    def some(split: str, number: int, kinds: Sequence[str] | None) -> Texts:
        if not number:
            return Texts([], [])
        found = grammar.labelled(split, number, label=label, seed=config.seed, level=level, kinds=kinds)
        korean = config.source_language == "ko"
        return Texts([one.source_ko if korean else one.target_en for one in found], [one.label for one in found])

    return from_kinds(some, count=count, validation=config.validation, test=test)


def from_files(
    config: DataConfig,
    *,
    train: str,
    validation: str | None = None,
    test: str | Sequence[str] | None = None,
    columns: Sequence[str | int] | None = None,
    delimiter: str = "",
    header: bool | None = None,
) -> Callable[[str], TextGroups]:
    """Your own files, tables or .jsonl, with a column of texts and one of labels (names, or numbers from 1)."""
    form = Form(columns, delimiter, header)
    tests = [test] if isinstance(test, str) else test or []
    return from_parts(
        lambda path: read_texts(path, form),
        lambda texts: apart(texts, config.validation, config.seed),
        train=train,
        validation=validation,
        test={path if len(tests) > 1 else "test": path for path in tests},
    )


def from_catalogue(
    config: DataConfig, *, name: str, train: str = "train", validation: str = "", test: str | Sequence[str] = "test"
) -> Callable[[str], TextGroups]:
    """A set of the catalogue. Texts that are empty in the original are used for evaluation, but not for training."""
    tests = [test] if isinstance(test, str) else test

    def part(split: str) -> Texts:
        found = read.labelled(name, split)
        return Texts(found.texts, [str(label) for label in found.labels])

    def groups(split: str) -> TextGroups:
        if split == "test":
            return {one: part(one) for one in tests}
        if split == "validation" and validation:
            return {split: part(validation)}
        whole = part(train)
        learned = whole.chosen(i for i, text in enumerate(whole.texts) if text.strip())
        if validation:
            return {split: learned}
        rest, kept = apart(learned, config.validation, config.seed)
        return {split: rest if split == "train" else kept}

    return groups


LABELLED: dict[str, Callable[..., Callable[[str], TextGroups]]] = {
    "grammar": from_grammar,
    "files": from_files,
    "catalogue": from_catalogue,
}
LABELLED_OPTIONS = source_options(
    LABELLED,
    {
        "grammar": {"label": partial(one_of, known=grammar.LABELS), "test": size_or_zero},
        "files": {"columns": two_columns, "delimiter": delimiter_of},
    },
)
