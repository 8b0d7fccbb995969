"""BART (Lewis et al. 2020) and Pegasus (Zhang et al. 2020): encoder-decoders that differ in norms and positions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.hub.computed_buffers import sinusoid_buffer
from glassformer.hub.family import At, Family, Names, attention_dropout, biased, layers
from glassformer.hub.foreign import OUR_ACTIVATIONS, THEIR_ACTIVATIONS, Foreign

PROJECTIONS = {"w_q": "q_proj", "w_k": "k_proj", "w_v": "v_proj", "w_o": "out_proj"}
OFFSET = "final_logits_bias"
BART_BOXES: dict[str, Any] = {"position": Choice("learned", {"offset": 2}), "embedding_norm": True}
PEGASUS_BOXES: dict[str, Any] = {"position": Choice("sinusoidal", {"layout": "halves"}), "norm_order": "pre"}
TOKENS = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id", "forced_eos_token_id")


def stacks(foreign: Foreign) -> dict[str, Any]:
    """The keys that BART, Marian and Pegasus have in common, as keywords of a ModelConfig."""
    dropout = foreign.number("dropout", 0.1)
    inside = {
        ours: foreign.number(theirs, 0.0)
        for ours, theirs in (("attention_dropout", "attention_dropout"), ("feed_forward_dropout", "activation_dropout"))
    }
    return {
        "family": "encoder-decoder",
        "vocab_size": foreign.whole("vocab_size"),
        "max_len": foreign.whole("max_position_embeddings", 1024),
        "d_model": foreign.whole("d_model"),
        "n_heads": _of_both_sides(foreign, "attention_heads"),
        "d_ff": _of_both_sides(foreign, "ffn_dim"),
        "n_encoder_layers": foreign.whole("encoder_layers"),
        "n_decoder_layers": foreign.whole("decoder_layers"),
        "activation": foreign.one_of("activation_function", OUR_ACTIVATIONS, "gelu"),
        "dropout": dropout,
        **{key: value for key, value in inside.items() if value != dropout},
        "embedding_scale": foreign.truth("scale_embedding", False),
        "init": "normal",
    }


def _of_both_sides(foreign: Foreign, key: str) -> int:
    """A size that must be the same on both sides, because our two stacks share it."""
    value = foreign.whole(f"encoder_{key}")
    if foreign.whole(f"decoder_{key}") != value:
        foreign.only(f"decoder_{key}", value)
    return value


def head(foreign: Foreign, task: str) -> Choice:
    """The head. `final_logits_bias = false` is our own key: a model exported without that vector is read without it."""
    if task != "translation":
        return Choice("none")
    return Choice("language_model", {"offset": True} if foreign.truth(OFFSET, True) else {})


def describe_stacks(config: ModelConfig, task: str) -> dict[str, Any]:
    """The inverse of `stacks` and `head`.

    The ids of special tokens belong to the tokenizer: an export sets them. Here they are null, because the defaults of
    `transformers` are for its own vocabularies and may lie outside ours.
    """
    sides = {"attention_heads": config.n_heads, "ffn_dim": config.d_ff}
    described = {
        "is_encoder_decoder": True,
        **dict.fromkeys(TOKENS),
        "vocab_size": config.vocab_size,
        "max_position_embeddings": config.max_len,
        "d_model": config.d_model,
        **{f"{side}_{key}": value for side in ("encoder", "decoder") for key, value in sides.items()},
        "encoder_layers": config.encoder_layers,
        "decoder_layers": config.decoder_layers,
        "activation_function": THEIR_ACTIVATIONS[config.activation],
        "dropout": config.dropout,
        "attention_dropout": attention_dropout(config),
        "activation_dropout": config.dropout if config.feed_forward_dropout is None else config.feed_forward_dropout,
        "scale_embedding": config.embedding_scale,
    }
    if task == "translation" and not config.head.options.get("offset", False):
        described[OFFSET] = False
    return described


def _configure(foreign: Foreign, task: str, *, boxes: dict[str, Any]) -> ModelConfig:
    tied = "all" if task == "translation" else "inputs"
    tie = tied if foreign.truth("tie_word_embeddings", True) else "none"
    return ModelConfig(**stacks(foreign), **boxes, tie_embeddings=tie, head=head(foreign, task))


def _describe(config: ModelConfig, task: str, *, kind: str) -> dict[str, Any]:
    """Untied means three matrices: with two, `transformers` has no name for the encoder's embedding."""
    described = {
        "model_type": kind.lower(),
        "architectures": [f"{kind}{'ForConditionalGeneration' if task == 'translation' else 'Model'}"],
        "tie_word_embeddings": config.tie_embeddings == ("all" if task == "translation" else "inputs"),
    }
    return described | describe_stacks(config, task)


def tensor_names(config: ModelConfig) -> Names:
    """The names of all three families; parts that a configuration does not have are left out."""
    found: Names = {}
    shared = config.tie_embeddings in ("all", "inputs")
    found["embedding.weight"] = At(f"model.{'shared' if shared else 'encoder.embed_tokens'}.weight")
    if not shared:
        found["target_embedding.weight"] = At("model.decoder.embed_tokens.weight")
    for side, count in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        theirs = f"model.{side}"
        if config.position.kind == "learned":
            found[f"{side}.positions.weight"] = At(f"{theirs}.embed_positions.weight")
        found |= layers(_block(cross=side == "decoder"), f"{side}.blocks", f"{theirs}.layers", count)
        norms = {"embedding_norm": "layernorm_embedding"} if config.embedding_norm else {}
        norms |= {"final_norm": "layer_norm"} if config.norm_order == "pre" else {}
        for mine, yours in norms.items():
            found |= {f"{side}.{mine}.{part}": At(f"{theirs}.{yours}.{part}") for part in ("weight", "bias")}
    if config.head.kind == "language_model":
        if config.tie_embeddings not in ("all", "output"):
            found["head.weight"] = At("lm_head.weight")
        if config.head.options.get("offset", False):
            found["head.offset"] = At(OFFSET, shape=(1, config.output_vocab_size or 0))
    return found


def _block(*, cross: bool) -> dict[str, str]:
    attentions = {"self_attention": "self_attn"} | ({"cross_attention": "encoder_attn"} if cross else {})
    both = {"feed_forward.w_1": "fc1", "feed_forward.w_2": "fc2", "feed_forward_norm": "final_layer_norm"}
    for mine, yours in attentions.items():
        both |= {f"{mine}.{ours}": f"{yours}.{theirs}" for ours, theirs in PROJECTIONS.items()}
        both[f"{mine}_norm"] = f"{yours}_layer_norm"
    return biased(both)


def copies(config: ModelConfig) -> dict[str, str]:
    """Which tensors are tied, by their names in `transformers`."""
    found: dict[str, str] = {}
    if config.tie_embeddings in ("all", "inputs"):
        found = {f"model.{side}.embed_tokens.weight": "model.shared.weight" for side in ("encoder", "decoder")}
    if config.tie_embeddings in ("all", "output"):
        shared = "model.shared" if config.tie_embeddings == "all" else "model.decoder.embed_tokens"
        found["lm_head.weight"] = f"{shared}.weight"
    return found


def their_taps(*, norm_order: str) -> dict[str, str]:
    """Our taps → their modules. A pre-norm block has no module whose output is the stream before its norms."""
    found: dict[str, str] = {}
    for side, attentions in (("encoder", ("self",)), ("decoder", ("self", "cross"))):
        ours, theirs = f"{side}.blocks.{{i}}", f"model.{side}.layers.{{i}}"
        for kind in attentions:
            yours = f"{theirs}.{'self' if kind == 'self' else 'encoder'}_attn"
            found |= {f"{ours}.{kind}_attention.{part}": f"{yours}.{part}_proj" for part in "qkv"}
            found[f"{ours}.{kind}_attention.output"] = f"{yours}.out_proj"
            if norm_order == "post":
                found[f"{ours}.after_{kind}_attention"] = f"{yours}_layer_norm"
        found[f"{ours}.feed_forward.hidden"] = f"{theirs}.activation_fn"
        found[f"{ours}.feed_forward.output"] = f"{theirs}.fc2"
        found[f"{ours}.output"] = theirs
        found[f"{side}.positions.encoding"] = f"model.{side}.embed_positions"
        found[f"{side}.output"] = f"model.{side}" if norm_order == "post" else f"model.{side}.layer_norm"
    return found


SINUSOID_BUFFERS = {f"model.{side}.embed_positions.weight": sinusoid_buffer for side in ("encoder", "decoder")}


def stored_positions(config: ModelConfig) -> ModelConfig:
    """The same model with positions read like any other weight: in some files they are not sinusoids."""
    return replace(config, position=Choice("learned"))


BART = Family(
    name="bart",
    model_types=("bart",),
    tasks={"BartForConditionalGeneration": "translation", "BartModel": "features"},
    configure=partial(_configure, boxes=BART_BOXES),
    describe=partial(_describe, kind="Bart"),
    names=tensor_names,
    copies=copies,
    prefix="model.",
    aside=("model.shared.weight", "model.encoder.version", "model.decoder.version"),  # unused if not tied
    taps=their_taps(norm_order="post")
    | {"encoder.input": "model.encoder.layernorm_embedding", "decoder.input": "model.decoder.layernorm_embedding"},
    begin="bos",
    end="eos",
)

PEGASUS = Family(
    name="pegasus",
    model_types=("pegasus",),
    tasks={"PegasusForConditionalGeneration": "translation", "PegasusModel": "features"},
    configure=partial(_configure, boxes=PEGASUS_BOXES),
    describe=partial(_describe, kind="Pegasus"),
    names=tensor_names,
    copies=copies,
    prefix="model.",
    aside=("model.shared.weight",),
    computed=SINUSOID_BUFFERS,
    stored_positions=stored_positions,
    taps=their_taps(norm_order="pre"),
    end="eos",
)
