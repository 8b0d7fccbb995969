"""ViT (Dosovitskiy et al. 2021) and DeiT (Touvron et al. 2021): encoders of images, DeiT with a distillation token."""

from __future__ import annotations

from functools import partial
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.values import BIASES, Choice
from glassformer.hub.family import At, Family, Names, attention_dropout, biased, layers, linear
from glassformer.hub.foreign import OUR_ACTIVATIONS, THEIR_ACTIVATIONS, Foreign

WITH_TEACHER = "DeiTForImageClassificationWithTeacher"
BLOCK = {  # names in their files; in memory `transformers` 5 has others: see `_taps`
    "self_attention_norm": "layernorm_before",
    "self_attention.w_q": "attention.attention.query",
    "self_attention.w_k": "attention.attention.key",
    "self_attention.w_v": "attention.attention.value",
    "self_attention.w_o": "attention.output.dense",
    "feed_forward_norm": "layernorm_after",
    "feed_forward.w_1": "intermediate.dense",
    "feed_forward.w_2": "output.dense",
}


def _side(foreign: Foreign, key: str, default: int) -> int:
    """The side of a square, given as one number or as two equal ones."""
    value = foreign.table.get(key)
    if isinstance(value, list) and value:
        foreign.only(key, [value[0]] * 2)
        return Foreign({key: value[0]}, foreign.path).whole(key)
    return foreign.whole(key, default)


def _head(foreign: Foreign, task: str) -> Choice:
    if task != "image_classification":
        foreign.only("pooler_act", "tanh")
        foreign.only("pooler_output_size", foreign.whole("hidden_size"))
        return Choice("classifier", {"classes": 0, "pool": "cls", "pooler": True})
    if WITH_TEACHER in foreign.words("architectures"):
        return Choice("distilled", {"classes": len(foreign.labels())})
    return Choice("classifier", {"classes": len(foreign.labels()), "pool": "cls"})


def _configure(foreign: Foreign, task: str, *, class_tokens: int) -> ModelConfig:
    size, patch = _side(foreign, "image_size", 224), _side(foreign, "patch_size", 16)
    channels = foreign.whole("num_channels", 3)
    dropout = foreign.number("hidden_dropout_prob", 0.0)
    attention_dropout = foreign.number("attention_probs_dropout_prob", 0.0)
    without = () if foreign.truth("qkv_bias", True) else ("q", "k", "v")
    return ModelConfig(
        family="encoder",
        input=Choice("image", {"size": size, "patch": patch, "channels": channels, "class_tokens": class_tokens}),
        max_len=(size // patch) ** 2 + class_tokens if patch > 0 else class_tokens,
        d_model=foreign.whole("hidden_size"),
        n_heads=foreign.whole("num_attention_heads"),
        d_ff=foreign.whole("intermediate_size"),
        n_encoder_layers=foreign.whole("num_hidden_layers"),
        position=Choice("learned"),
        norm_order="pre",
        eps=foreign.number("layer_norm_eps", 1e-12),
        activation=foreign.one_of("hidden_act", OUR_ACTIVATIONS, "gelu"),
        bias=tuple(name for name in BIASES if name not in without),
        dropout=dropout,
        attention_dropout=None if attention_dropout == dropout else attention_dropout,
        feed_forward_dropout=0.0 if dropout else None,
        init="normal",
        head=_head(foreign, task),
    )


def _describe(config: ModelConfig, task: str, *, kind: str) -> dict[str, Any]:
    name = "ForImageClassification" if task == "image_classification" else "Model"
    teacher = "WithTeacher" if config.head.kind == "distilled" else ""
    size, patch = config.input.options.get("size", 224), config.input.options.get("patch", 16)
    described = {
        "model_type": kind.lower(),
        "architectures": [f"{kind}{name}{teacher}"],
        "image_size": size,
        "patch_size": patch,
        "num_channels": config.input.options.get("channels", 3),
        "hidden_size": config.d_model,
        "num_attention_heads": config.n_heads,
        "intermediate_size": config.d_ff,
        "num_hidden_layers": config.encoder_layers,
        "layer_norm_eps": config.eps,
        "hidden_act": THEIR_ACTIVATIONS[config.activation],
        "qkv_bias": "q" in config.bias,
        "hidden_dropout_prob": config.dropout,
        "attention_probs_dropout_prob": attention_dropout(config),
    }
    if task == "image_classification":
        labels = {str(i): f"LABEL_{i}" for i in range(config.head.options.get("classes", 0))}
        described |= {"id2label": labels, "label2id": {label: int(i) for i, label in labels.items()}}
    return described


def _names(config: ModelConfig, *, model: str) -> Names:
    d_model, options = config.d_model, config.input.options
    patch, channels = options["patch"], options["channels"]
    embeddings = f"{model}.embeddings"
    tokens = (f"{embeddings}.distillation_token",) if options["class_tokens"] == 2 else ()
    found = {
        "embedding.class_token": At(f"{embeddings}.cls_token", shape=(1, 1, d_model), more=tokens),
        "embedding.projection.weight": At(
            f"{embeddings}.patch_embeddings.projection.weight", shape=(d_model, channels, patch, patch)
        ),
        "embedding.projection.bias": At(f"{embeddings}.patch_embeddings.projection.bias"),
        "encoder.positions.weight": At(f"{embeddings}.position_embeddings", shape=(1, config.max_len, d_model)),
    }
    has_bias = {mine: mine[-3:] not in ("w_q", "w_k", "w_v") or "q" in config.bias for mine in BLOCK}
    found |= layers(linear(BLOCK, has_bias), "encoder.blocks", f"{model}.encoder.layer", config.encoder_layers)
    ends = {"encoder.final_norm": f"{model}.layernorm"}
    if config.head.kind == "distilled":
        ends |= {"head.output": "cls_classifier", "head.distillation": "distillation_classifier"}
    if config.head.kind == "classifier":
        ends |= {"head.output": "classifier"} if config.head.options["classes"] else {}
        ends |= {"head.pooler": f"{model}.pooler.dense"} if config.head.options.get("pooler", False) else {}
    return found | {mine: At(yours) for mine, yours in biased(ends).items()}


def _taps(model: str) -> dict[str, str]:
    """Their module names in memory, which are not those of their files."""
    layer = f"{model}.layers.{{i}}"
    block = "encoder.blocks.{i}"
    return {
        "encoder.input": f"{model}.embeddings",
        **{f"{block}.self_attention.{part}": f"{layer}.attention.{part}_proj" for part in "qkv"},
        f"{block}.self_attention.output": f"{layer}.attention.o_proj",
        f"{block}.feed_forward.hidden": f"{layer}.mlp.activation_fn",
        f"{block}.feed_forward.output": f"{layer}.mlp.fc2",
        f"{block}.output": layer,
        "encoder.output": f"{model}.layernorm",
    }


VIT = Family(
    name="vit",
    model_types=("vit",),
    tasks={"ViTForImageClassification": "image_classification", "ViTModel": "features"},
    configure=partial(_configure, class_tokens=1),
    describe=partial(_describe, kind="ViT"),
    names=partial(_names, model="vit"),
    prefix="vit.",
    aside=("vit.embeddings.mask_token", "vit.pooler.*", "classifier.*"),
    taps=_taps("vit") | {"head.logits": "classifier"},
)

DEIT = Family(
    name="deit",
    model_types=("deit",),
    tasks={
        "DeiTForImageClassification": "image_classification",
        WITH_TEACHER: "image_classification",
        "DeiTModel": "features",
    },
    configure=partial(_configure, class_tokens=2),
    describe=partial(_describe, kind="DeiT"),
    names=partial(_names, model="deit"),
    prefix="deit.",
    aside=("deit.embeddings.mask_token", "deit.pooler.*", "classifier.*", "*_classifier.*"),
    taps=_taps("deit")
    | {"head.logits": "classifier", "head.labelled": "cls_classifier", "head.taught": "distillation_classifier"},
)
