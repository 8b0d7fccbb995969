"""What a family is: which configuration theirs means, and where in their file each of our tensors lies."""

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
    `copies(config)`: their keys that hold a second time what another of theirs holds (a tied lm_head → the embedding).
    A copy may be stored or not; one that differs is refused; one that stands alone is taken for the other.
    `apart(config)`: the same with a head of its own, for a family whose config.json says tied of every model (T5):
    taken where a head is stored that is not the embedding.
    `prefix`: what a model without a head leaves out ("bert.", "model.", "transformer.").
    `older`: endings of keys as older files have them → as they are today.
    `aside`: patterns (fnmatch, with prefix) of tensors that belong to other heads, and are left out, and named.
    `computed`: patterns of tensors that follow from the configuration (masks, position ids, sinusoids, inv_freq), and
    what each must hold; None: nothing that an answer depends on.
    `stored_positions(config)`: the same model whose positions are read; taken where they are not as computed.
    `taps`: patterns of our taps → their module whose output is the same tensor, with {i} for the layer.
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
    begin: str = "none"  # the role of the special token before a text, where the tokenizer's own files do not say
    end: str = "none"


def layers(names: Mapping[str, str], ours: str, theirs: str, count: int) -> Names:
    """The same names in every layer: ours.{i}.NAME → theirs.{i}.NAME, for weights that need no other change."""
    return {f"{ours}.{i}.{mine}": At(f"{theirs}.{i}.{yours}") for i in range(count) for mine, yours in names.items()}


def linear(names: Mapping[str, str], biased: Mapping[str, bool]) -> dict[str, str]:
    """{"self_attention.w_q": "attention.q_proj"} → its weight, and its bias where `biased` says that it has one."""
    found: dict[str, str] = {}
    for mine, yours in names.items():
        found[f"{mine}.weight"] = f"{yours}.weight"
        if biased[mine]:
            found[f"{mine}.bias"] = f"{yours}.bias"
    return found


def biased(names: Mapping[str, str]) -> dict[str, str]:
    """`linear` where everything has a bias, norms too."""
    return linear(names, dict.fromkeys(names, True))


def attention_dropout(config: ModelConfig) -> float:
    """What they always write; we leave it out where it is the dropout of everything else."""
    return config.dropout if config.attention_dropout is None else config.attention_dropout


# --- a decoder alone: GPT-2 and the relatives of LLaMA have the same heads ---


def decoder_head(foreign: Foreign, task: str) -> Choice:
    """A class is read off the last token: the one before the padding."""
    return {
        "language_model": Choice("language_model"),
        "classification": Choice("classifier", {"classes": len(foreign.labels()), "pool": "sep", "bias": False}),
        "features": Choice("none"),
    }[task]


def decoder_head_names(config: ModelConfig) -> Names:
    """A head that is tied is not stored a second time."""
    if config.head.kind == "classifier":
        return {"head.output.weight": At("score.weight")}
    own = config.head.kind == "language_model" and config.tie_embeddings == "none"
    return {"head.weight": At("lm_head.weight")} if own else {}


def decoder_copies(config: ModelConfig, *, embedding: str) -> dict[str, str]:
    return {"lm_head.weight": embedding} if config.tie_embeddings != "none" else {}
