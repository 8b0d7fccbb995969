"""From a recipe to a job: sentences, vocabulary, model and run folder; the same again from a folder, to resume."""

from __future__ import annotations

from pathlib import Path

from glassformer.data.corpus import Corpus, corpus
from glassformer.data.pairs import Pairs
from glassformer.data.store import Store
from glassformer.models.build import build
from glassformer.recipe import RunConfig
from glassformer.runs import Run
from glassformer.tasks import make_task
from glassformer.text import Vocabularies
from glassformer.train.loop import Job


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
    config, special = run.config, vocabularies.target.specials
    return Job(
        run=run,
        model=build(config.model, seed=config.train.seed),
        task=make_task(config, pad=special.need("pad"), bos=special.need("bos"), eos=special.need("eos")),
        training=encode(sentences.train, vocabularies, config),
        validation=encode(sentences.validation, vocabularies, config),
    )


def encode(pairs: Pairs, vocabularies: Vocabularies, config: RunConfig) -> Store:
    """Sentences as tokens; those that are too long are left out."""
    sides = {
        "source": vocabularies.source.encode_batch(pairs.sources),
        "target": vocabularies.target.encode_batch(pairs.targets),
    }
    return Store.of(sides).no_longer_than(config.data.max_length)
