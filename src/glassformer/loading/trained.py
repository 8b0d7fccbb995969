"""The trained models that come with the package: a run folder each, by name, and what a typed MODEL means.

A name wins over a folder of the same name; `./ko-en`, or a `Path`, means the folder.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from glassformer.errors import ConfigError, FileError, Phrase
from glassformer.models.presets import PRESETS
from glassformer.runs import is_run

TRAINED = Path(__file__).parents[1] / "trained"
CLOSE = 0.75  # of `difflib`: a misspelt name, not a word that happens to share letters
LONGEST = 60  # characters of a name; a longer text is not compared


def trained_folders() -> dict[str, Path]:
    """The trained models that come with the package, by name."""
    if not TRAINED.is_dir():
        return {}
    return {folder.name: folder for folder in sorted(TRAINED.iterdir()) if is_run(folder)}


def resolve_model(model: str | Path) -> str | Path:
    """The folder of a trained model of the package; anything else as it was typed."""
    return trained_folders().get(model, model) if isinstance(model, str) else model


def weights_folder(model: str | Path) -> Path | None:
    """The folder whose weights a MODEL means; None for a preset and for a file, which have none."""
    if isinstance(model, str) and model in PRESETS:
        return None
    folder = Path(resolve_model(model))
    return folder if folder.is_dir() else None


def comes_with_package(folder: Path) -> bool:
    """Whether this is the folder of a trained model of the package, where nothing may be written."""
    return folder.absolute().parent == TRAINED.absolute()


def close_name(word: str, known: Iterable[str]) -> str | None:
    """The one of these names that was probably meant; None if the word is one of them, or close to none."""
    known = sorted(known)
    if len(word) > LONGEST or word in known or any(letter.isspace() for letter in word):
        return None
    return next(iter(get_close_matches(word, known, n=1, cutoff=CLOSE)), None)


def refuse_misspelt(model: str | Path) -> None:
    """Raises for a name that does not exist and is close to that of a trained model, or that no file can have."""
    if exists(Path(model)) or not isinstance(model, str):
        return
    close = close_name(model, trained_folders())
    if close is not None:
        raise ConfigError("no_trained", model=model, hint=Phrase("hints.did_you_mean", (("name", close),)))


def exists(path: Path) -> bool:
    """Whether there is such a file or folder; raises if the system cannot say."""
    try:
        return path.exists()
    except OSError as error:  # a name that is too long, a folder without permission
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error


def is_there(text: str) -> bool:
    """Whether there is a file or folder of this name; False for a text that no file can have as its name."""
    try:
        return bool(text) and exists(Path(text))
    except FileError:
        return False
