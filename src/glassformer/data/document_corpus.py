"""Where the plain texts of a run come from: Python's help texts, the built-in grammar, files, or the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from glassformer.config.options import check_choice
from glassformer.config.recipe import DataConfig
from glassformer.config.values import one_of, size_or_zero
from glassformer.data import grammar, read
from glassformer.data.corpus import Corpus, from_kinds, from_parts, source_options
from glassformer.data.documents import Documents, apart, read_documents, tail_apart, together, topics
from glassformer.data.find import dataset
from glassformer.data.moses import prepared_side, prepared_texts
from glassformer.errors import ConfigError, choose

DocumentGroups = Mapping[str, Documents]
SIDES = ("one", "each", "joined")


def document_corpus(config: DataConfig) -> Corpus[Documents]:
    """All plain texts of a run. The same configuration gives the same texts in the same order."""
    make = choose("data.source", config.source.kind, DOCUMENTS)
    prepared_side(config.prepare, config.source_language)  # raises now if the package is missing

    def change(some: Documents) -> Documents:
        return Documents(prepared_texts(some.texts, config.prepare, config.source_language), some.skipped)

    groups = make(config, **check_choice("data.source", config.source, DOCUMENTS_OPTIONS[config.source.kind]))
    return Corpus(config, groups, change)


def from_topics(config: DataConfig) -> Callable[[str], DocumentGroups]:
    """Python's own help texts, in English; see `topics` for how they are split."""
    return lambda split: {split: topics(split)}


def from_grammar(
    config: DataConfig, *, sides: str = "one", level: str = "small", count: int = 100_000, test: int = 200
) -> Callable[[str], DocumentGroups]:
    """Sentences of the built-in corpus; the test set has a group for each kind that is held out, `test` of each.

    `sides`: "one": in `source_language`; "each": in both languages, a document each; "joined": one after the other in a
    document, with a line break between them.
    """
    languages = (config.source_language, config.target_language)
    if not {languages[0], *(() if sides == "one" else languages[1:])} <= {"ko", "en"}:
        raise ConfigError("grammar_languages", source=languages[0], target=languages[1])

    def documents(split: str, number: int, kinds: Sequence[str] | None) -> Documents:
        if not number:
            return Documents([])
        found = grammar.pairs(split, number, seed=config.seed, level=level, kinds=kinds)
        both = [{"ko": pair.source_ko, "en": pair.target_en} for pair in found]
        if sides == "one":
            return Documents([pair[languages[0]] for pair in both])
        rows = [[pair[language] for language in languages] for pair in both]
        return Documents([text for row in rows for text in (row if sides == "each" else ["\n".join(row)])])

    return from_kinds(documents, count=count, validation=config.validation, test=test)


def from_files(
    config: DataConfig,
    *,
    train: str | Sequence[str],
    validation: str | Sequence[str] | None = None,
    test: str | Sequence[str] | None = None,
    by_line: bool = False,
    column: str = "text",
) -> Callable[[str], DocumentGroups]:
    """Your own files: each file is one long text, or with `by_line` many short ones; a .jsonl is many short ones.

    Without a validation file, the last tenth of every text is held out, or `data.validation` of many short ones.
    """

    def documents(path: str | Sequence[str]) -> Documents:
        paths = [path] if isinstance(path, str) else path
        return together(read_documents(each, by_line=by_line, column=column) for each in paths)

    def hold_out(every: Documents) -> tuple[Documents, Documents]:
        one_each = len(every) == (1 if isinstance(train, str) else len(train))
        return tail_apart(every) if one_each else apart(every, config.validation, config.seed)

    tests = {} if test is None else {"test": test}
    return from_parts(documents, hold_out, train=train, validation=validation, test=tests)


def from_catalogue(
    config: DataConfig,
    *,
    names: str | Sequence[str],
    train: str = "train",
    validation: str = "val",
    test: str | Sequence[str] = (),
) -> Callable[[str], DocumentGroups]:
    """Sets of the catalogue, one after another: long texts, reviews, or one side (`source_language`) of translations.

    `validation = ""` holds out part of the training set, for sets without a validation part.
    """
    every = [names] if isinstance(names, str) else list(names)
    tests = [test] if isinstance(test, str) else list(test)

    def part(split: str) -> Documents:
        return together(_read(name, split, config.source_language) for name in every)

    return from_parts(
        part,
        lambda texts: apart(texts, config.validation, config.seed),
        train=train,
        validation=validation or None,
        test={each: each for each in tests},
    )


def _read(name: str, split: str, language: str) -> Documents:
    """All texts in a set of the catalogue, without empty ones."""
    known = dataset(name)
    if known.format == "text":
        return Documents([read.text(name, split)])
    if known.format == "tsv_labelled":
        texts = read.labelled(name, split).texts
    elif known.format == "csv_dialogue":
        said = read.dialogue(name, split)
        texts = ["\n".join(both) for both in zip(said.questions, said.answers, strict=True)]
    else:
        texts = [*read.translation_pairs(name, split, language).sources]
    return Documents([text for text in texts if text.strip()])


DOCUMENTS: dict[str, Callable[..., Callable[[str], DocumentGroups]]] = {
    "topics": from_topics,
    "grammar": from_grammar,
    "files": from_files,
    "catalogue": from_catalogue,
}
DOCUMENTS_OPTIONS = source_options(
    DOCUMENTS, {"grammar": {"sides": partial(one_of, known=SIDES), "test": size_or_zero}}
)
