"""The run configuration of an imported model: task, labels and frame, from the files next to its weights.

Which files and keys there are depends on the class in `architectures`, that is on the format, not on our tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig, TextConfig
from glassformer.config.values import Choice
from glassformer.errors import FileError
from glassformer.hub.family import Family
from glassformer.hub.foreign import Foreign, read_foreign
from glassformer.hub.generation import GENERATION_FILE
from glassformer.hub.pixels import read_pixels
from glassformer.hub.sentence import read_sentence
from glassformer.text import Vocabularies, framing

ROLES = ("pad", "bos", "eos", "cls", "sep")
FORCED = {"start": "decoder_start_token_id", "first": "forced_bos_token_id", "last": "forced_eos_token_id"}


def read_run_config(
    folder: Path, foreign: Foreign, family: Family, task: str, model: ModelConfig
) -> tuple[RunConfig, Vocabularies | None]:
    """The run that this model could have come from, and its tokenizers; None if the folder has none."""
    read_sentence(folder)  # checked now, used when vectors are made
    tokenizers = _tokenizers(folder) if model.input.kind == "tokens" else None
    text = TextConfig(tokenizer=Choice("none"))
    if tokenizers is not None:
        known = {"none", *tokenizers.source.specials.ids()}
        begin, end = framing(folder) or (role if role in known else "none" for role in (family.begin, family.end))
        text = TextConfig(
            tokenizer=Choice(tokenizers.source.kind),
            vocab_size=tokenizers.source.vocab_size,
            joint=tokenizers.joint,
            begin=begin,
            end=end,
        )
    options: dict[str, Any] = {}
    match task:
        case "classification":
            foreign.only("problem_type", "single_label_classification")
            options = {"labels": foreign.labels()}
        case "image_classification":
            options = {"labels": foreign.labels(), **read_pixels(folder, family.name, model)}
        case "translation":
            options = _said(folder, foreign, tokenizers, FORCED)
        case "language_model":
            options = _said(folder, foreign, tokenizers, {})
    name = folder.resolve().name or "model"
    return RunConfig(name=name, task=Choice(task, options), model=model, text=text), tokenizers


def _tokenizers(folder: Path) -> Vocabularies | None:
    try:
        return Vocabularies.open(folder)
    except FileError as error:
        if error.key == "no_vocabularies":
            return None
        raise


def _said(
    folder: Path, foreign: Foreign, tokenizers: Vocabularies | None, forced: Mapping[str, str]
) -> dict[str, str | list[str] | list[int]]:
    """Tokens that decoding must or may not produce, by role: `forced` (our key → theirs) and `forbidden`.

    Only the special tokens in `bad_words_ids` are used, such as Marian's padding; ordinary words have no role.
    """
    path = folder / GENERATION_FILE
    generation = read_foreign(path) if path.is_file() else foreign

    def given(key: str) -> Any:
        value = generation.table.get(key)
        return foreign.table.get(key) if value is None else value

    found: dict[str, str | list[str] | list[int]] = {}
    for ours, key in forced.items():
        role = _role(foreign, tokenizers, key, given(key))
        found |= {} if role is None else {ours: role}
    bad = given("bad_words_ids") or []
    single = [words[0] for words in bad if isinstance(words, list) and len(words) == 1] if isinstance(bad, list) else []
    ends = given("eos_token_id")
    if isinstance(ends, list) and len(ends) > 1:
        found["ends"] = ends
    ids = _ids(foreign, tokenizers)
    return found | {"forbidden": [role for role in ROLES if ids.get(role) is not None and ids[role] in single]}


def _role(foreign: Foreign, tokenizers: Vocabularies | None, key: str, token: object) -> str | None:
    """The role of a special token; an unknown one is refused, except in a folder without a tokenizer."""
    ids = _ids(foreign, tokenizers)
    for role in ROLES:
        if token is not None and ids.get(role) == token:
            return role
    if token is None or tokenizers is None:
        return None
    raise FileError("hub_unsupported", path=foreign.path, key=key, value=token, known=", ".join(ROLES))


def _ids(foreign: Foreign, tokenizers: Vocabularies | None) -> dict[str, Any]:
    """The special tokens: from the tokenizer or, without one, from config.json."""
    if tokenizers is not None:
        return dict(tokenizers.target.specials.ids())
    return {role: foreign.table.get(f"{role}_token_id") for role in ROLES}
