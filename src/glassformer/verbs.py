"""The everyday verbs of the Python interface: load a trained model; translate, classify, fill, embed, generate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, overload

import torch
from torch import Tensor

from glassformer.config.values import truth
from glassformer.errors import InputError, shown
from glassformer.loading import Loaded, choose_device, choose_dtype, choose_loaded_dtype
from glassformer.loading import load as load_run
from glassformer.tasks.classification.classify import Classified
from glassformer.tasks.classification.classify import classify as classify_all
from glassformer.tasks.embed import embed as embed_all
from glassformer.tasks.image_classification.recognise import recognise as recognise_all
from glassformer.tasks.language_model.chat import Message, chat_prompt, is_conversation
from glassformer.tasks.language_model.write import Written, write, write_all, writing_for
from glassformer.tasks.masked_language_model.fill import Filled
from glassformer.tasks.masked_language_model.fill import fill as fill_gaps
from glassformer.tasks.search import search_for
from glassformer.tasks.text_inputs import Text, every_text, every_text_or_pair
from glassformer.tasks.translation.translate import translations


def load(
    model: str | Path,
    *,
    device: str | torch.device | None = None,
    checkpoint: str | int = "auto",
    dtype: str | torch.dtype | None = None,
    finite: bool = True,
) -> Loaded:
    """A trained model with its tokenizers, ready to use.

    `checkpoint`: averaged, best, last or a step; auto: the first of these that is whole.
    `device="auto"`: the accelerator if there is one.
    `dtype`: the type to compute in, by default float32; "keep": that of the file; "int8": the large matrices in 8 bits,
    a quarter of the memory, for use only. `finite=False` opens weights that are NaN or infinite, for
    inspection.
    """
    kind = None if dtype is None else choose_loaded_dtype(dtype)
    return load_run(model, device=device_of(device), checkpoint=checkpoint, dtype=kind, finite=finite)


@overload
def translate(  # type: ignore[overload-overlap]  # a str is a sequence of str too; the first that fits counts
    model: str | Path | Loaded,
    texts: str,
    *,
    beam: int | None = None,
    length_penalty: float | None = None,
    length_norm: str | None = None,
    stop: str | None = None,
    nbest: Literal[1] = 1,
    truncate: bool = False,
) -> str: ...
@overload
def translate(
    model: str | Path | Loaded,
    texts: Sequence[str],
    *,
    beam: int | None = None,
    length_penalty: float | None = None,
    length_norm: str | None = None,
    stop: str | None = None,
    nbest: Literal[1] = 1,
    truncate: bool = False,
) -> list[str]: ...
@overload
def translate(
    model: str | Path | Loaded,
    texts: str | Sequence[str],
    *,
    beam: int | None = None,
    length_penalty: float | None = None,
    length_norm: str | None = None,
    stop: str | None = None,
    nbest: int,
    truncate: bool = False,
) -> list[str] | list[list[str]]: ...
def translate(
    model: str | Path | Loaded,
    texts: str | Sequence[str],
    *,
    beam: int | None = None,
    length_penalty: float | None = None,
    length_norm: str | None = None,
    stop: str | None = None,
    nbest: int = 1,
    truncate: bool = False,
) -> str | list[str] | list[list[str]]:
    """The best translation of a sentence, or a list of them for a list; with `nbest`, a list of the best for each.

    The defaults are those of the model's own generation_config.json, else beam 4 with the paper's length norm.
    `beam=1` is greedy; `truncate` cuts a sentence that is too long.
    """
    loaded = opened(model)
    search = search_for(
        loaded,
        beam=beam,
        length_penalty=length_penalty,
        length_norm=length_norm,
        stop=stop,
        nbest=nbest,
        truncate=truth("truncate", truncate),
    )
    found = [[one.text for one in some] for some in translations(loaded, texts, search)]
    if nbest == 1:
        best = [some[0] for some in found]
        return best[0] if isinstance(texts, str) else best
    return found[0] if isinstance(texts, str) else found


@overload
def classify(model: str | Path | Loaded, texts: Text, *, truncate: bool = False) -> Classified: ...  # type: ignore[overload-overlap]
@overload
def classify(model: str | Path | Loaded, texts: Sequence[Text], *, truncate: bool = False) -> list[Classified]: ...
def classify(
    model: str | Path | Loaded, texts: Text | Sequence[Text], *, truncate: bool = False
) -> Classified | list[Classified]:
    """The class of a text or a pair ("a", "b"), or of each of a list, with the probabilities of all classes.

    Raises if a text is too long, or with `truncate` cuts off its end.
    """
    found = classify_all(opened(model), texts, truncate=truth("truncate", truncate))
    return found[0] if every_text_or_pair(texts) == [texts] else found  # a tuple of three texts is not a pair


@overload
def recognise(model: str | Path | Loaded, images: str | Path) -> Classified: ...  # type: ignore[overload-overlap]
@overload
def recognise(model: str | Path | Loaded, images: Sequence[str | Path]) -> list[Classified]: ...
def recognise(model: str | Path | Loaded, images: str | Path | Sequence[str | Path]) -> Classified | list[Classified]:
    """The class of an image file, or of each of a list, with the probabilities of all classes; prints as a table."""
    found = recognise_all(opened(model), images)
    return found[0] if isinstance(images, str | Path) else found


def fill(model: str | Path | Loaded, text: str, *, top: int = 5, truncate: bool = False) -> list[Filled]:
    """The words that fit into each [MASK] or ___ of a text, each gap by itself; prints as a table."""
    return fill_gaps(opened(model), text, top, truncate=truth("truncate", truncate))


def embed(
    model: str | Path | Loaded, texts: str | Sequence[str], *, pool: str | None = None, truncate: bool = False
) -> Tensor:
    """The vector of a text, d, or of each of a list, n d. `pool`: mean, cls, max …; else as the model's files say."""
    found = embed_all(opened(model), texts, pool, truncate=truth("truncate", truncate))
    return found[0] if isinstance(texts, str) else found


@overload
def generate(  # type: ignore[overload-overlap]  # a str is a sequence of str too
    model: str | Path | Loaded,
    prompt: str = "",
    *,
    tokens: int | None = None,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    beam: int | None = None,
    stop: str | Sequence[str] = (),
    chat: bool = False,
    system: str | None = None,
    truncate: bool = False,
    special_tokens: bool = False,
) -> Written: ...
@overload
def generate(
    model: str | Path | Loaded,
    prompt: Sequence[str],
    *,
    tokens: int | None = None,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    beam: int | None = None,
    stop: str | Sequence[str] = (),
    chat: bool = False,
    system: str | None = None,
    truncate: bool = False,
    special_tokens: bool = False,
) -> list[Written]: ...
@overload
def generate(
    model: str | Path | Loaded,
    prompt: Sequence[Message],
    *,
    tokens: int | None = None,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    beam: int | None = None,
    stop: str | Sequence[str] = (),
    chat: bool = False,
    system: str | None = None,
    truncate: bool = False,
    special_tokens: bool = False,
) -> Written: ...
def generate(
    model: str | Path | Loaded,
    prompt: str | Sequence[str] | Sequence[Message] = "",
    *,
    tokens: int | None = None,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    beam: int | None = None,
    stop: str | Sequence[str] = (),
    chat: bool = False,
    system: str | None = None,
    truncate: bool = False,
    special_tokens: bool = False,
) -> Written | list[Written]:
    """A text and its continuation: greedy, sampled if any of temperature … seed is given, or by beam search.

    A list of texts is one batch, each text continued as it would be alone. `chat=True` puts the text, as the user's
    message, into the model's own chat template, after that of `system`; a list of messages with role and content does
    the same. The defaults are those of the model's generation_config.json. `truncate` keeps the end of a prompt that is
    too long; with `special_tokens`, a typed "</s>" is that token.
    """
    if system is not None and not (truth("chat", chat) or is_conversation(prompt)):
        raise InputError("system_without_conversation", system=shown(system))
    loaded = opened(model)
    writing = writing_for(
        loaded,
        tokens=tokens,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        seed=seed,
        beam=beam,
        stop=stop,
        truncate=truth("truncate", truncate),
        special_tokens=truth("special_tokens", special_tokens),
    )
    if is_conversation(prompt):
        return write(loaded, chat_prompt(loaded, prompt, system), writing)
    every = [chat_prompt(loaded, one, system) if chat else one for one in every_text(prompt)]
    return write(loaded, every[0], writing) if isinstance(prompt, str) else write_all(loaded, every, writing)


def opened(model: str | Path | Loaded) -> Loaded:
    return model if isinstance(model, Loaded) else load(model)


def dtype_of(dtype: str | torch.dtype | None) -> torch.dtype | None:
    return None if dtype is None else choose_dtype(dtype)


def device_of(device: str | torch.device | None, *, meta: bool = False) -> torch.device | None:
    return None if device is None else choose_device(device, meta=meta)
