"""What an imported model is for: its task, its labels, how its text is framed and begun, as the files beside it say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from glassformer.config import Choice, ModelConfig
from glassformer.errors import FileError
from glassformer.hub.family import Family
from glassformer.hub.foreign import Foreign, read_foreign
from glassformer.recipe import RunConfig, TextConfig
from glassformer.text import Vocabularies, framing

ROLES = ("pad", "bos", "eos", "cls", "sep")


def purpose(
    folder: Path, foreign: Foreign, family: Family, task: str, model: ModelConfig
) -> tuple[RunConfig, Vocabularies | None]:
    """The run that this model could have come from, and its tokenizers; None where the folder has none."""
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
            options = {"labels": foreign.labels()}
        case "image_classification":
            options = {"labels": foreign.labels(), **_pixels(folder)}
        case "translation":
            options = _beginning(folder, foreign, tokenizers)
    name = folder.resolve().name or "model"
    return RunConfig(name=name, task=Choice(task, options), model=model, text=text), tokenizers


def _tokenizers(folder: Path) -> Vocabularies | None:
    try:
        return Vocabularies.open(folder)
    except FileError as error:
        if error.key == "no_vocabularies":
            return None
        raise


def _beginning(folder: Path, foreign: Foreign, tokenizers: Vocabularies | None) -> dict[str, str]:
    """The role of the token that the decoder starts with, and of the one that must come first, if one must."""
    path = folder / "generation_config.json"
    generation = read_foreign(path) if path.is_file() else foreign
    found = {}
    for option, key in (("start", "decoder_start_token_id"), ("first", "forced_bos_token_id")):
        token = generation.table.get(key)
        token = foreign.table.get(key) if token is None else token
        if token is not None:
            found[option] = _role(foreign, tokenizers, key, token)
    return found


def _role(foreign: Foreign, tokenizers: Vocabularies | None, key: str, token: object) -> str:
    """The name of a special token: as the tokenizer has it, or, without one, as the config.json has it."""
    if tokenizers is not None:
        ids: dict[str, Any] = dict(tokenizers.target.specials.ids())
    else:
        ids = {role: foreign.table.get(f"{role}_token_id") for role in ROLES}
    for role in ROLES:
        if ids.get(role) == token:
            return role
    raise FileError("hub_unsupported", path=foreign.path, key=key, value=token, known=", ".join(ROLES))


def _pixels(folder: Path) -> dict[str, list[float]]:
    """Mean and spread of the pixels, by which the model learned to see; nothing where nothing is said."""
    path = folder / "preprocessor_config.json"
    if not path.is_file():
        return {}
    foreign = read_foreign(path)
    if not foreign.truth("do_normalize", True):
        return {}
    found = {}
    for ours, theirs in (("mean", "image_mean"), ("std", "image_std")):
        if foreign.table.get(theirs) is not None:
            found[ours] = foreign.numbers(theirs)
    return found
