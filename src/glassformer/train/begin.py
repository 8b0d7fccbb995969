"""From a recipe to a job: sentences, vocabulary, model and run folder; the same again from a folder, to resume."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from glassformer.data.corpus import Corpus, corpus
from glassformer.data.pairs import Pairs
from glassformer.data.store import Store
from glassformer.errors import ConfigError, FileError
from glassformer.models.build import build
from glassformer.open import open_recipe
from glassformer.recipe import RunConfig, override
from glassformer.runs import Run, locked
from glassformer.runs.files import TEMPORARY, disk, write_text
from glassformer.tasks import make_task
from glassformer.text import Vocabularies
from glassformer.train.loop import Job
from glassformer.train.samples import Samples, chosen
from glassformer.train.validate import make_sampler

GROWS = "train.steps"


def begin(config: RunConfig, out: str | Path) -> Job:
    """A new run: read the sentences, learn the vocabulary, write the folder, build the model."""
    _refuse_early(Path(out))
    sentences = corpus(config.data)
    vocabularies = learn(config, sentences)
    config = config.with_vocabulary(vocabularies.source.vocab_size, vocabularies.target.vocab_size)
    run = Run.create(out, config, fill=lambda draft: vocabularies.save(draft.folder))
    return job(run, sentences, vocabularies)


def begin_or_again(
    recipe: str | Path, out: str | Path | None, resume: bool, changes: Mapping[str, Any]
) -> tuple[Job, bool]:
    """A new run, or with `resume` the one that stands in the folder already; and which of the two it is."""
    config = open_recipe(recipe, changes)
    folder = Path("runs") / config.name if out is None else Path(out)
    if not (resume and (folder / "config.toml").is_file()):
        return begin(config, folder), False
    begun = Run.open(folder).config.name
    if begun != config.name:
        raise ConfigError("resume_other", path=folder, begun=begun, recipe=config.name)
    return again(folder, changes), True


def again(folder: str | Path, changes: Mapping[str, Any] | None = None) -> Job:
    """A run that was begun before: its own vocabulary, the same sentences. Its config.toml counts, not the recipe.

    `changes` may repeat what stands there. Only `train.steps` may be more than before: config.toml is then rewritten,
    and a schedule that ends with the last step, cosine for example, goes on along the longer curve.
    """
    run = Run.open(folder)
    with locked(run.folder):
        config = changed(run, changes or {})
        if config != run.config:
            write_text(run.folder / "config.toml", config.to_toml())
            run = Run.open(folder)
    return job(run, corpus(run.config.data), Vocabularies.open(run.folder))


def changed(run: Run, changes: Mapping[str, Any]) -> RunConfig:
    """The configuration of a run with more steps; any other change would make another run of it."""
    config = run.config
    for key, value in changes.items():
        wanted = RunConfig.from_dict(override(config.to_dict(), key, value))
        if wanted == config:
            continue
        longer = replace(config, train=replace(config.train, steps=wanted.train.steps))
        if wanted != longer:
            raise ConfigError("resume_differs", key=key, value=value, path=run.folder)
        if wanted.train.steps < config.train.steps:
            raise ConfigError("resume_shorter", key=key, value=value, steps=config.train.steps)
        config = wanted
    return config


def _refuse_early(out: Path) -> None:
    """Before minutes go into a vocabulary: is the folder free, and can anything be written beside it?"""
    if (out / "config.toml").exists():
        raise FileError("run_exists", path=out)
    with disk(out):
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise FileError("folder_not_empty", path=out)
        out.parent.mkdir(parents=True, exist_ok=True)
        draft = out.with_name(TEMPORARY + out.name)
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        draft.rmdir()


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
    """With validation sentences every evaluation translates some of them; without any there is no evaluation."""
    config, special = run.config, vocabularies.target.specials
    task = make_task(config, pad=special.need("pad"), bos=special.need("bos"), eos=special.need("eos"))
    longest = min(config.data.max_length, config.model.max_len - task.extra_tokens)  # what the table of positions holds
    looked_at = encode(sentences.validation, vocabularies)
    fits = (looked_at.lengths.max(axis=1) <= longest) & (looked_at.lengths.min(axis=1) > 0)
    samples, validation = chosen(sentences.validation, fits), looked_at.select(fits)
    if len(samples):
        make_sampler(validation, task, config.train)  # a sentence longer than a batch is said now, not after hours
    return Job(
        run=run,
        model=build(config.model, seed=config.train.seed),
        task=task,
        training=encode(sentences.train, vocabularies).no_longer_than(longest),
        validation=validation if len(samples) else None,
        measure=Samples(run, vocabularies, samples) if len(samples) else None,
    )


def encode(pairs: Pairs, vocabularies: Vocabularies) -> Store:
    """Sentences as tokens."""
    return Store.of(
        {
            "source": vocabularies.source.encode_batch(pairs.sources),
            "target": vocabularies.target.encode_batch(pairs.targets),
        }
    )
