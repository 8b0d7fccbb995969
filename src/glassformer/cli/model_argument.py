"""Which model a verb is to use, and what is left for it to answer: the one rule for a MODEL that may be left out.

The first argument is the model if it names one: a preset, a trained model of the package, a folder, a path. A word
close to such a name is refused with the suggestion. Anything else is already the text or file, and the verb's own model
of the package answers, which is said on stderr.
"""

from __future__ import annotations

import sys
from pathlib import Path

from glassformer.errors import ConfigError, Phrase, UsageError
from glassformer.words import say

OBVIOUS = {  # verb → the model that answers if none is named
    "translate": "ko-en",
    "classify": "sentiment-ko",
    "fill": "masked-ko",
    "generate": "writer-ko",
    "recognise": "clothes",
    "forecast": "prices",
}
FILES = ("recognise", "forecast")  # verbs whose inputs are files


def model_and_inputs(verb: str, model: str | None, inputs: list[str] | None = None) -> tuple[str, list[str] | None]:
    """The MODEL to load, and the other arguments; None: there are none."""
    if model is not None and _is_model(verb, model, alone=not inputs):
        return model, inputs
    return _obvious(verb), inputs if model is None else [model, *(inputs or [])]


def model_and_input(verb: str, model: str | None, given: str | None, form: str) -> tuple[str, str | None]:
    """The same for a verb that answers one thing; `form`: how its arguments are written."""
    found, inputs = model_and_inputs(verb, model, None if given is None else [given])
    if inputs and inputs[1:]:
        raise UsageError("usage_extra", command=verb, given=inputs[1], expected=f"glassformer {verb} {form}")
    return found, inputs[0] if inputs else None


def _is_model(verb: str, word: str, alone: bool) -> bool:
    """Whether an argument names a model; raises if it nearly does."""
    from glassformer.hub.open import is_foreign
    from glassformer.loading import is_run, trained_folders
    from glassformer.loading.trained import close_name, is_there
    from glassformer.models.presets import PRESETS

    known = {*PRESETS, *trained_folders(), *OBVIOUS.values()}
    if not word or word in known:
        return True
    if is_there(word) and verb in FILES:
        return Path(word).is_dir() or Path(word).suffix in (".toml", ".json")
    if is_there(word):  # a text may be the name of a folder that has nothing to do with it
        return not alone or "/" in word or is_run(word) or is_foreign(Path(word)) or Path(word).is_file()
    close = close_name(word, known)
    if close is not None:
        raise ConfigError("near_name", word=word, hint=Phrase("hints.did_you_mean", (("name", close),)))
    return _is_path(verb, word, alone)


def _is_path(verb: str, word: str, alone: bool) -> bool:
    """Whether a word is meant as the path of a model that is not there, which is then refused by name, not as a text.

    "and/or" alone is a text, unless there is a folder "and". A file to be answered has an ending; a folder has none.
    """
    from glassformer.loading.trained import is_there

    if "/" not in word or any(letter.isspace() for letter in word):
        return False
    if verb in FILES and Path(word).suffix:
        return False
    folder = word.rpartition("/")[0]
    return not alone or "://" in word or word.startswith(("/", "./", "../", "~/")) or is_there(folder)


def _obvious(verb: str) -> str:
    """The verb's own model; raises if it did not come with the package."""
    from glassformer.loading import trained_folders

    model, known = OBVIOUS[verb], trained_folders()
    if model not in known:
        raise ConfigError("no_default", model=model, known=", ".join(known) or "–")
    print(say("models.default", model=model), file=sys.stderr)
    return model
