"""How a model that says sentences looks for them: as its caller asks, else as its makers say, else as in the paper."""

from __future__ import annotations

from dataclasses import dataclass

from glassformer.config.values import size
from glassformer.hub.generation import read_generation
from glassformer.loading import Loaded
from glassformer.tasks.output_ids import first_said, say_unheeded


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How to search for a translation: beam 1 is greedy; the first four are those of `Beams`.

    The second half says how the model was trained, by roles of special tokens, see `as_trained`: what comes before and
    after a source, what the target starts from, which token is forced as its first and which as the last at its maximum
    length, what is never produced (None: every special token but eos), and the ids that end it (None: eos).
    """

    beam: int = 4
    length_norm: str = "gnmt"
    alpha: float = 0.6
    stop: str = "bound"
    n_best: int = 1
    max_len: int | None = None
    batch: int = 64
    begin: str = "none"
    end: str = "eos"
    start: str = "bos"
    first: str = "none"
    last: str = "none"
    forbidden: tuple[str, ...] | None = None
    ends: tuple[int, ...] | None = None
    suppressed: tuple[int, ...] = ()
    min_len: int = 0
    truncate: bool = False


GREEDY = SearchOptions(beam=1)


def search_for(
    loaded: Loaded,
    *,
    beam: int | None = None,
    length_penalty: float | None = None,
    length_norm: str | None = None,
    stop: str | None = None,
    nbest: int = 1,
    truncate: bool = False,
) -> SearchOptions:
    """The search that the caller asks for; the rest as the model's makers say, else as in the paper."""
    defaults = read_generation(loaded.foreign)
    say_unheeded(defaults)
    usual, norm = SearchOptions(), length_norm
    if norm is None and length_penalty is None and defaults.length_penalty is not None:
        norm = "power"  # their kind of length penalty
    if norm is None and length_penalty is None and defaults.beam is not None:
        norm, length_penalty = "power", 1.0  # their default
    width = size("beam", first_said(beam, defaults.beam, usual.beam))
    return SearchOptions(
        beam=width,
        alpha=first_said(length_penalty, defaults.length_penalty if norm == "power" else None, usual.alpha),
        length_norm=first_said(norm, usual.length_norm),
        stop=first_said(stop, defaults.stop, usual.stop),
        n_best=size("nbest", nbest, 1, width),
        max_len=defaults.longest(1),  # they count the token that starts a target
        min_len=defaults.fewest(1),
        suppressed=defaults.suppressed,
        truncate=truncate,
    )
