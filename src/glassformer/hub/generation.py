"""generation_config.json: how the makers of a model want it to be decoded; older folders say it in config.json.

Settings that our searches have are read; every other one that would change a text is kept by name, to be reported.
An export writes the same file. The format has two ways to decode, with an encoder or without: hence a task by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.config.recipe import RunConfig
from glassformer.errors import FileError, shown
from glassformer.hub.foreign import Foreign, read_foreign
from glassformer.text import Specials

GENERATION_FILE, OLDER = "generation_config.json", "config.json"
STOPS = {True: "first", False: "bound", "never": "exhaustive"}
BEAM, LENGTH_PENALTY, NEW_TOKENS = 4, 0.6, 100  # the defaults of `translate` and `generate`
TOP_K = 50  # their default for sampling
NEUTRAL: dict[str, tuple[Any, ...]] = {  # settings that we do not support → values without an effect
    "no_repeat_ngram_size": (0,),
    "encoder_no_repeat_ngram_size": (0,),
    "repetition_penalty": (1, 1.0),
    "encoder_repetition_penalty": (1, 1.0),
    "num_beam_groups": (1,),
    "diversity_penalty": (0, 0.0),
    "penalty_alpha": (0, 0.0),
    "typical_p": (1, 1.0),
    "epsilon_cutoff": (0, 0.0),
    "eta_cutoff": (0, 0.0),
    "exponential_decay_length_penalty": (),
    "begin_suppress_tokens": ([],),
    "forced_decoder_ids": ([],),
    "force_words_ids": ([],),
    "sequence_bias": ({},),
    "guidance_scale": (1, 1.0),
    "num_return_sequences": (1,),
}


@dataclass(frozen=True, kw_only=True)
class GenerationDefaults:
    """The settings, in our words; None if not set. `unheeded`: unsupported ones, as written.

    `max_new` and `min_new` count new tokens; `max_length` and `min_length` also those before them.
    """

    beam: int | None = None
    length_penalty: float | None = None
    stop: str | None = None
    max_new: int | None = None
    max_length: int | None = None
    min_new: int = 0
    min_length: int = 0
    draw: bool = False
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    suppressed: tuple[int, ...] = ()
    unheeded: tuple[str, ...] = ()

    def longest(self, before: int) -> int | None:
        """How many new tokens may follow `before` others."""
        if self.max_new is not None:
            return self.max_new
        return None if self.max_length is None else max(self.max_length - before, 1)

    def fewest(self, before: int) -> int:
        return max(self.min_new, self.min_length - before, 0)


def read_generation(folder: Path | None) -> GenerationDefaults:
    """Read from a folder of Hugging Face; empty if there is no such file."""
    if folder is None:
        return GenerationDefaults()
    path = folder / GENERATION_FILE if (folder / GENERATION_FILE).is_file() else folder / OLDER
    if not path.is_file():
        return GenerationDefaults()
    foreign = read_foreign(path)
    single, several = _bad_words(foreign)
    unheeded = [key for key, neutral in NEUTRAL.items() if _asked(foreign.table.get(key), neutral)]
    draw = foreign.truth("do_sample", False)
    beam = _whole(foreign, "num_beams")
    if several:
        unheeded.append("bad_words_ids")
    if draw and (beam or 1) > 1:
        unheeded.append("do_sample")
    return GenerationDefaults(
        beam=beam,
        length_penalty=_number(foreign, "length_penalty"),
        stop=_stop(foreign),
        max_new=_whole(foreign, "max_new_tokens"),
        max_length=_whole(foreign, "max_length"),
        min_new=foreign.whole("min_new_tokens", 0),
        min_length=foreign.whole("min_length", 0),
        draw=draw and (beam or 1) == 1,
        temperature=_number(foreign, "temperature"),
        top_k=(_whole(foreign, "top_k") or (TOP_K if foreign.table.get("top_k") is None else None)) if draw else None,
        top_p=_number(foreign, "top_p"),
        min_p=_number(foreign, "min_p"),
        suppressed=tuple(sorted({*_ids(foreign, "suppress_tokens"), *single})),
        unheeded=tuple(f"{key}={shown(foreign.table[key])}" for key in unheeded),
    )


def _asked(value: Any, neutral: tuple[Any, ...]) -> bool:
    return value is not None and value not in neutral


def _whole(foreign: Foreign, key: str) -> int | None:
    return None if foreign.table.get(key) is None else foreign.whole(key)


def _number(foreign: Foreign, key: str) -> float | None:
    return None if foreign.table.get(key) is None else foreign.number(key)


def _stop(foreign: Foreign) -> str | None:
    value = foreign.table.get("early_stopping")
    if value is None:
        return None
    if not isinstance(value, bool | str) or value not in STOPS:
        raise FileError("hub_value", path=foreign.path, key="early_stopping", value=shown(value))
    return STOPS[value]


def _ids(foreign: Foreign, key: str) -> list[int]:
    value = foreign.table.get(key) or []
    if not isinstance(value, list) or not all(isinstance(each, int) and not isinstance(each, bool) for each in value):
        raise FileError("hub_value", path=foreign.path, key=key, value=shown(value))
    return value


def _bad_words(foreign: Foreign) -> tuple[list[int], bool]:
    """Forbidden words of one token, which are never produced; and whether there are longer ones."""
    words = foreign.table.get("bad_words_ids") or []
    if not isinstance(words, list) or not all(isinstance(each, list) for each in words):
        raise FileError("hub_value", path=foreign.path, key="bad_words_ids", value=shown(words))
    single = [token for each in words if len(each) == 1 for token in _ids(Foreign({"a": each}, foreign.path), "a")]
    return single, any(len(each) > 1 for each in words)


def describe_generation(config: RunConfig, special: Specials) -> dict[str, Any]:
    """How to decode, and which tokens are never produced: all special tokens but eos."""
    options = config.task.options
    forbidden = options.get("forbidden")
    never = special.ids() if forbidden is None else {role: special.need(role) for role in forbidden}
    ends = options.get("ends", special.eos)
    table: dict[str, Any] = {
        **{f"{role}_token_id": getattr(special, role) for role in ("pad", "bos")},
        "eos_token_id": list(ends) if isinstance(ends, list | tuple) else ends,
        "bad_words_ids": [[token] for token in sorted({*never.values()} - {special.eos})] or None,
    }
    if config.task.kind == "language_model":
        return table | {"max_new_tokens": NEW_TOKENS}
    for key, ours in (("forced_bos_token_id", "first"), ("forced_eos_token_id", "last")):
        role = options.get(ours, "none")
        table[key] = None if role == "none" else special.need(str(role))
    return table | {
        "decoder_start_token_id": special.need(str(options.get("start", "bos"))),
        "num_beams": BEAM,
        "length_penalty": LENGTH_PENALTY,
        "max_length": config.model.max_len,
    }
