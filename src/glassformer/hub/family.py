"""What a family is: how its configuration becomes ours, and where in its files each of our tensors lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.hub.computed_buffers import Computed
from glassformer.hub.foreign import Foreign


@dataclass(frozen=True)
class At:
    """Where one of our tensors lies in their file.

    `transposed`: they store W for x W, we for x Wᵀ (GPT-2). `part` of `parts`: theirs holds several of ours one after
    the other along the axis of outputs (GPT-2's q, k, v), counted as we store them. `shape`: theirs, where only the
    shape differs (a kernel of patches d c p p, a table of positions 1 n d). `more`: ours holds these of theirs too, of
    the same shape, one after another along the first axis (DeiT's two class tokens).
    """

    key: str
    transposed: bool = False
    part: int = 0
    parts: int = 1
    shape: tuple[int, ...] = ()
    more: tuple[str, ...] = ()


Names = dict[str, At]


def no_copies(config: ModelConfig) -> dict[str, str]:
    return {}


def never_apart(config: ModelConfig) -> ModelConfig:
    return config


@dataclass(frozen=True, kw_only=True)
class Family:
    """One family. All functions are pure; none does mathematics.

    `tasks`: their class → our task, the usual one first: translation, language_model, masked_language_model,
    classification, image_classification, or features for a model without a head.
    `names(config)`: every key of our state_dict → where it lies, with the prefix that a model with a head has.
    `copies(config)`: their keys that repeat another of theirs (a tied lm_head → the embedding). A copy may be stored or
    not; one that differs is refused; if only the copy is stored, it is read.
    `apart(config)`: the same with a head of its own, for a family whose config.json says "tied" for every model (T5):
    used if the stored head is not the embedding.
    `prefix`: what a model without a head leaves out ("bert.", "model.", "transformer.").
    `older`: endings of keys in older files → those of today.
    `aside`: patterns (fnmatch, with prefix) of tensors of other heads, which are left out and reported.
    `computed`: patterns of tensors that follow from the configuration (masks, position ids, sinusoids, inv_freq), and
    what each must hold; None: no answer depends on it.
    `stored_positions(config)`: the same model with stored positions; used if they are not as computed.
    `taps`: patterns of our taps → their module with the same output, with {i} for the layer.
    """

    name: str
    model_types: tuple[str, ...]
    tasks: Mapping[str, str]
    configure: Callable[[Foreign, str], ModelConfig]  # (config.json, task) → ours
    describe: Callable[[ModelConfig, str], dict[str, Any]]  # (ours, task) → config.json, with model_type
    names: Callable[[ModelConfig], Names]
    copies: Callable[[ModelConfig], Mapping[str, str]] = no_copies
    apart: Callable[[ModelConfig], ModelConfig] = never_apart
    prefix: str
    older: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    aside: tuple[str, ...] = ()
    computed: Mapping[str, Computed | None] = field(default_factory=lambda: MappingProxyType({}))
    stored_positions: Callable[[ModelConfig], ModelConfig] | None = None
    taps: Mapping[str, str]
    begin: str = "none"  # the role of the special token before a text, if the tokenizer's own files do not say
    end: str = "none"


def layers(names: Mapping[str, str], ours: str, theirs: str, count: int) -> Names:
    """The same names in every layer: ours.{i}.NAME → theirs.{i}.NAME, for weights that need no other change."""
    return {f"{ours}.{i}.{mine}": At(f"{theirs}.{i}.{yours}") for i in range(count) for mine, yours in names.items()}


def linear(names: Mapping[str, str], biased: Mapping[str, bool]) -> dict[str, str]:
    """{"self_attention.w_q": "attention.q_proj"} → its weight, and its bias if `biased` says that it has one."""
    found: dict[str, str] = {}
    for mine, yours in names.items():
        found[f"{mine}.weight"] = f"{yours}.weight"
        if biased[mine]:
            found[f"{mine}.bias"] = f"{yours}.bias"
    return found


def biased(names: Mapping[str, str]) -> dict[str, str]:
    """`linear` for a model in which everything has a bias, including norms."""
    return linear(names, dict.fromkeys(names, True))


def attention_dropout(config: ModelConfig) -> float:
    """Their files always have it; ours leave it out if it equals the general dropout."""
    return config.dropout if config.attention_dropout is None else config.attention_dropout


# --- a decoder alone: GPT-2 and the relatives of LLaMA have the same heads ---


def decoder_head(foreign: Foreign, task: str) -> Choice:
    """The head. A class is read off the last token before the padding."""
    return {
        "language_model": Choice("language_model"),
        "classification": Choice("classifier", {"classes": len(foreign.labels()), "pool": "sep", "bias": False}),
        "features": Choice("none"),
    }[task]


def decoder_head_names(config: ModelConfig) -> Names:
    """The names of the head; a tied head is not stored a second time."""
    if config.head.kind == "classifier":
        return {"head.output.weight": At("score.weight")}
    own = config.head.kind == "language_model" and config.tie_embeddings == "none"
    return {"head.weight": At("lm_head.weight")} if own else {}


def decoder_copies(config: ModelConfig, *, embedding: str) -> dict[str, str]:
    return {"lm_head.weight": embedding} if config.tie_embeddings != "none" else {}
