"""Folders of sentence-transformers: how a text becomes one vector, according to modules.json and the files it names."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.errors import FileError, shown
from glassformer.hub.foreign import Foreign, read_foreign

MODULES, LIMITS, PROMPTS = "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"
POOLING = "1_Pooling/config.json"
SENTENCE_FILES = (MODULES, LIMITS, PROMPTS, POOLING)
MODES = {  # theirs → ours, in the order in which several are concatenated
    "cls_token": "cls",
    "max_tokens": "max",
    "mean_tokens": "mean",
    "mean_sqrt_len_tokens": "mean_sqrt",
    "weightedmean_tokens": "weighted",
    "lasttoken": "last",
}
NEWER = {"weightedmean": "weighted", "lasttoken": "last", "mean_sqrt_len_tokens": "mean_sqrt"}


@dataclass(frozen=True)
class SentenceEmbedding:
    """How a text becomes a vector: the prompt before it, how much is read, how it is pooled and scaled.

    `beyond`: a layer after pooling that is not computed here.
    """

    pool: str = "mean"
    normalize: bool = False
    prompt: str = ""
    lower: bool = False
    longest: int | None = None
    beyond: Path | None = None


def read_sentence(folder: Path) -> SentenceEmbedding:
    """How the folder makes vectors; the mean of all positions if it does not say."""
    if not (folder / MODULES).is_file():
        return SentenceEmbedding()
    pool, normalize, beyond = "mean", False, None
    for path, kind in _modules(folder / MODULES):
        match kind:
            case "Transformer":
                pass
            case "Pooling":
                pool = _pool(read_foreign(folder / path / "config.json"))
            case "Normalize":
                normalize = True
            case _:
                beyond = folder / path
    limits = read_foreign(folder / LIMITS) if (folder / LIMITS).is_file() else Foreign({}, folder / LIMITS)
    longest = limits.table.get("max_seq_length")
    return SentenceEmbedding(
        pool=pool,
        normalize=normalize,
        prompt=_prompt(folder / PROMPTS),
        lower=limits.truth("do_lower_case", False),
        longest=None if longest is None else limits.whole("max_seq_length"),
        beyond=beyond,
    )


def body_of(folder: Path) -> Path | None:
    """The folder inside in which an older layout keeps its model."""
    if not (folder / MODULES).is_file():
        return None
    named = [folder / path for path, kind in _modules(folder / MODULES) if kind == "Transformer" and path]
    return next((path for path in named if (path / "config.json").is_file()), None)


def _modules(path: Path) -> list[tuple[str, str]]:
    """Folder and kind of each module; a folder must not lead out of this one."""
    try:
        table = json.loads(path.read_bytes())
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:
        raise FileError("not_json", path=path) from error
    if not isinstance(table, list):
        raise FileError("hub_value", path=path, key="[]", value=shown(table))
    return [_module(path, entry) for entry in table]


def _module(path: Path, entry: Any) -> tuple[str, str]:
    if not isinstance(entry, dict):
        raise FileError("hub_value", path=path, key="[]", value=shown(entry))
    foreign = Foreign(entry, path)
    inside = foreign.word("path", "")
    if Path(inside).name != inside or inside == "..":
        raise FileError("hub_value", path=path, key="path", value=shown(inside))
    return inside, foreign.word("type").rpartition(".")[2]


def _pool(foreign: Foreign) -> str:
    named = foreign.table.get("pooling_mode")
    if named is not None:
        modes = [named] if isinstance(named, str) else foreign.words("pooling_mode")
        known = dict.fromkeys(MODES.values(), "")
        chosen = [NEWER.get(mode, mode) for mode in modes]
        for mode in chosen:
            if mode not in known:
                raise FileError(
                    "hub_unsupported", path=foreign.path, key="pooling_mode", value=mode, known=", ".join(known)
                )
    else:
        chosen = [ours for theirs, ours in MODES.items() if foreign.truth(f"pooling_mode_{theirs}", False)]
    if not chosen:
        raise FileError("hub_no_pool", path=foreign.path)
    foreign.only("include_prompt", True)
    return "+".join(chosen)


def _prompt(path: Path) -> str:
    """The prompt before every text, unless another is given."""
    if not path.is_file():
        return ""
    foreign = read_foreign(path)
    name = foreign.table.get("default_prompt_name")
    return "" if name is None else foreign.within("prompts").word(foreign.word("default_prompt_name"))
