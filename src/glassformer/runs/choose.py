"""Which weights of a run are used: one rule for every verb. The newest whole ones, and what is damaged is said."""

from __future__ import annotations

from pathlib import Path

from glassformer.errors import ConfigError, FileError, reason, warn
from glassformer.runs.folder import Run
from glassformer.runs.weights import weights_file

AUTO = "auto"


def choose_weights(run: Run, which: str | int = AUTO) -> Path:
    """The file of the weights to use, whole. `which`: auto, averaged, best, last, or a step.

    auto tries the mean, the best, then the newest checkpoints one after the other, and last tries the newest; each
    damaged one is said. Asked for the mean, the best or a step, nothing else is taken in its place.
    """
    refused: list[FileError] = []
    for folder in _candidates(run, which):
        try:
            found = weights_file(folder)
        except FileError as error:
            refused.append(error)
        else:
            for each in refused:
                warn("checkpoint_passed_over", instead=folder.name, why=reason(each))
            return found
    if refused:
        raise FileError("no_whole_checkpoint", path=run.folder, why=reason(refused[0]))
    raise FileError("no_checkpoint", path=run.folder)


def _candidates(run: Run, which: str | int) -> list[Path]:
    by_step = run.checkpoints_by_step()
    newest = [by_step[step] for step in sorted(by_step, reverse=True)]
    averaged = [run.averaged_folder] if run.averaged_folder.is_dir() else []
    best_step = _best_step(run, which)
    best = [by_step[best_step]] if best_step in by_step else []
    named = {AUTO: [*averaged, *best, *newest], "averaged": averaged, "best": best, "last": newest}
    if str(which) in named:
        found = named[str(which)]
    else:
        number = str(which).removeprefix("step-")
        found = [by_step[int(number)]] if number.isdecimal() and int(number) in by_step else []
        if not found:
            known = [*named, *map(str, sorted(by_step))]
            raise ConfigError("not_one_of", key="checkpoint", value=which, known=", ".join(known))
    if by_step and not found:
        raise FileError(
            "checkpoint_not_there", path=run.folder, which=which, steps=", ".join(map(str, sorted(by_step)))
        )
    return list(dict.fromkeys(found))


def _best_step(run: Run, which: str | int) -> int | None:
    """A damaged best.json hinders only whoever asks for the best: the weights themselves are whole."""
    try:
        return run.best_step
    except FileError as error:
        if which == "best":
            raise
        if which == AUTO:
            warn("best_passed_over", why=reason(error))
        return None
