"""From a recipe to a job: sentences, vocabulary, model and run folder; the same again from a folder, to resume."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from torch import nn

from glassformer.data.corpus import Corpus, corpus
from glassformer.data.pairs import Pairs
from glassformer.data.store import Store
from glassformer.errors import ConfigError
from glassformer.losses import make_loss
from glassformer.models.build import build
from glassformer.recipe import RunConfig, options
from glassformer.runs import Run
from glassformer.tasks import TASKS, Task
from glassformer.text import Vocabularies
from glassformer.train.loop import Job

Measure = Callable[[nn.Module, int], Mapping[str, float]]


def begin(config: RunConfig, out: str | Path) -> Job:
    """A new run: read the sentences, learn the vocabulary, write the folder, build the model."""
    sentences = corpus(config.data)
    vocabularies = learn(config, sentences)
    config = config.with_vocabulary(vocabularies.source.vocab_size, vocabularies.target.vocab_size)
    run = Run.create(out, config, fill=lambda draft: vocabularies.save(draft.folder))
    return job(run, sentences, vocabularies)


def again(folder: str | Path) -> Job:
    """A run that was begun before: its own vocabulary, the same sentences."""
    run = Run.open(folder)
    return job(run, corpus(run.config.data), Vocabularies.open(run.folder))


def learn(config: RunConfig, sentences: Corpus) -> Vocabularies:
    """The vocabulary of the training sentences; `vocab_size` counts special tokens too."""
    text = config.text
    return Vocabularies.train(
        text.tokenizer.kind,
        sentences.train.sources,
        sentences.train.targets,
        text.vocab_size,
        joint=text.joint,
        options=text.tokenizer.options,
    )


def job(run: Run, sentences: Corpus, vocabularies: Vocabularies) -> Job:
    config = run.config
    return Job(
        run=run,
        model=build(config.model, seed=config.train.seed),
        task=task(config, vocabularies),
        training=encode(sentences.train, vocabularies, config),
        validation=encode(sentences.validation, vocabularies, config),
    )


def task(config: RunConfig, vocabularies: Vocabularies) -> Task:
    """What is learned, with the loss of the recipe."""
    if config.task.kind not in TASKS:
        raise ConfigError("not_one_of", key="task", value=config.task.kind, known=", ".join(TASKS))
    special, train = vocabularies.target.specials, config.train
    return TASKS[config.task.kind](
        pad=special.need("pad"),
        bos=special.need("bos"),
        eos=special.need("eos"),
        criterion=make_loss(train.loss.kind, options("loss", train.loss)),
        pad_to=train.pad_to,
        chunk=train.chunk,
    )


def encode(pairs: Pairs, vocabularies: Vocabularies, config: RunConfig) -> Store:
    """Sentences as tokens; those that are too long are left out."""
    store = Store.of(
        source=vocabularies.source.encode_batch(pairs.sources), target=vocabularies.target.encode_batch(pairs.targets)
    )
    return store.no_longer_than(config.data.max_length)
