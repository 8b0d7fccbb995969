"""BERT (Devlin et al. 2019) and RoBERTa (Liu et al. 2019): an encoder with learned positions, segments and post-norm.

RoBERTa differs in names, in rows of positions that it never uses, and in where its classifier has a dense layer.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.hub.computed_buffers import counted, zeros
from glassformer.hub.family import At, Family, Names, attention_dropout, biased, layers
from glassformer.hub.foreign import OUR_ACTIVATIONS, THEIR_ACTIVATIONS, Foreign

BLOCK = {
    "self_attention.w_q": "attention.self.query",
    "self_attention.w_k": "attention.self.key",
    "self_attention.w_v": "attention.self.value",
    "self_attention.w_o": "attention.output.dense",
    "self_attention_norm": "attention.output.LayerNorm",
    "feed_forward.w_1": "intermediate.dense",
    "feed_forward.w_2": "output.dense",
    "feed_forward_norm": "output.LayerNorm",
}
TAPS = {
    "encoder.input": "{prefix}embeddings",
    "encoder.blocks.{i}.self_attention.q": "{prefix}encoder.layer.{i}.attention.self.query",
    "encoder.blocks.{i}.self_attention.k": "{prefix}encoder.layer.{i}.attention.self.key",
    "encoder.blocks.{i}.self_attention.v": "{prefix}encoder.layer.{i}.attention.self.value",
    "encoder.blocks.{i}.self_attention.output": "{prefix}encoder.layer.{i}.attention.output.dense",
    "encoder.blocks.{i}.after_self_attention": "{prefix}encoder.layer.{i}.attention.output",
    "encoder.blocks.{i}.feed_forward.hidden": "{prefix}encoder.layer.{i}.intermediate",
    "encoder.blocks.{i}.feed_forward.output": "{prefix}encoder.layer.{i}.output.dense",
    "encoder.blocks.{i}.output": "{prefix}encoder.layer.{i}",
}


def _configure(foreign: Foreign, task: str, *, roberta: bool) -> ModelConfig:
    for key, value in (("is_decoder", False), ("add_cross_attention", False), ("position_embedding_type", "absolute")):
        foreign.only(key, value)
    unused = foreign.whole("pad_token_id", 1) + 1 if roberta else 0  # its positions begin after that of padding
    activation = foreign.one_of("hidden_act", OUR_ACTIVATIONS, "gelu")
    transform = {} if roberta or activation == "gelu" else {"activation": activation}
    head = {
        "masked_language_model": Choice("language_model", {"transform": True, "bias": True, **transform}),
        "classification": Choice("classifier", {"classes": len(foreign.labels()), "pool": "cls", "pooler": True}),
        "features": Choice("classifier", {"classes": 0, "pool": "cls", "pooler": True}),
    }[task]
    tied = task == "masked_language_model" and foreign.truth("tie_word_embeddings", True)
    return ModelConfig(
        family="encoder",
        vocab_size=foreign.whole("vocab_size", 50265 if roberta else 30522),
        max_len=foreign.whole("max_position_embeddings", 512) - unused,
        d_model=foreign.whole("hidden_size", 768),
        n_heads=foreign.whole("num_attention_heads", 12),
        d_ff=foreign.whole("intermediate_size", 3072),
        n_encoder_layers=foreign.whole("num_hidden_layers", 12),
        position=Choice("learned", {"offset": unused} if unused else {}),
        embedding_norm=True,
        eps=foreign.number("layer_norm_eps", 1e-12),
        activation=activation,
        dropout=foreign.number("hidden_dropout_prob", 0.1),
        attention_dropout=foreign.number("attention_probs_dropout_prob", 0.1),
        feed_forward_dropout=0.0,
        embedding_scale=False,
        segments=foreign.whole("type_vocab_size", 2),
        tie_embeddings="all" if tied else "none",
        init="normal",
        head=head,
    )


def _describe(config: ModelConfig, task: str, *, roberta: bool) -> dict[str, Any]:
    unused = max(1, config.position.options.get("offset", 0)) if roberta else 0
    return {
        "model_type": "roberta" if roberta else "bert",
        "vocab_size": config.vocab_size,
        "max_position_embeddings": config.max_len + unused,
        "hidden_size": config.d_model,
        "num_attention_heads": config.n_heads,
        "intermediate_size": config.d_ff,
        "num_hidden_layers": config.encoder_layers,
        "layer_norm_eps": config.eps,
        "hidden_act": THEIR_ACTIVATIONS[config.activation],
        "hidden_dropout_prob": config.dropout,
        "attention_probs_dropout_prob": attention_dropout(config),
        "type_vocab_size": max(1, config.segments),
        "tie_word_embeddings": config.tie_embeddings != "none" or task != "masked_language_model",
        "num_labels": config.head.options.get("classes", 2) or 2,
        **({"pad_token_id": unused - 1} if roberta else {}),
    }


def _names(config: ModelConfig, *, prefix: str) -> Names:
    names = {
        "embedding.weight": At(f"{prefix}embeddings.word_embeddings.weight"),
        "embedding.segments": At(f"{prefix}embeddings.token_type_embeddings.weight"),
        "encoder.positions.weight": At(f"{prefix}embeddings.position_embeddings.weight"),
        "encoder.embedding_norm.weight": At(f"{prefix}embeddings.LayerNorm.weight"),
        "encoder.embedding_norm.bias": At(f"{prefix}embeddings.LayerNorm.bias"),
    }
    return names | layers(biased(BLOCK), "encoder.blocks", f"{prefix}encoder.layer", config.encoder_layers)


def _bert_names(config: ModelConfig) -> Names:
    decoder = {"head.weight": "cls.predictions.decoder.weight"} if config.tie_embeddings == "none" else {}
    transform = "cls.predictions.transform"
    theirs = {
        "language_model": {
            "head.bias": f"cls.predictions.{'bias' if not decoder else 'decoder.bias'}",
            **biased({"head.transform": f"{transform}.dense", "head.norm": f"{transform}.LayerNorm"}),
            **decoder,
        },
        "classifier": biased({"head.pooler": "bert.pooler.dense", "head.output": "classifier"}),
    }
    return _names(config, prefix="bert.") | _head(config, theirs)


def _roberta_names(config: ModelConfig) -> Names:
    decoder = {"head.weight": "lm_head.decoder.weight"} if config.tie_embeddings == "none" else {}
    pooler = "classifier.dense" if config.head.options.get("classes") else "roberta.pooler.dense"
    theirs = {
        "language_model": {
            "head.bias": f"lm_head.{'bias' if not decoder else 'decoder.bias'}",
            **biased({"head.transform": "lm_head.dense", "head.norm": "lm_head.layer_norm"}),
            **decoder,
        },
        "classifier": biased({"head.pooler": pooler, "head.output": "classifier.out_proj"}),
    }
    return _names(config, prefix="roberta.") | _head(config, theirs)


def _head(config: ModelConfig, theirs: dict[str, dict[str, str]]) -> Names:
    """The names of this model's head: a pooler without classes has no output."""
    names = theirs.get(config.head.kind, {})
    held = bool(config.head.options.get("classes")) or config.head.kind != "classifier"
    return {ours: At(key) for ours, key in names.items() if held or not ours.startswith("head.output")}


def _copies(config: ModelConfig, *, prefix: str, decoder: str, bias: str) -> dict[str, str]:
    """Tying shares the matrix with the embedding, and the bias with a second name."""
    if config.head.kind != "language_model" or config.tie_embeddings == "none":
        return {}
    return {f"{decoder}.weight": f"{prefix}embeddings.word_embeddings.weight", f"{decoder}.bias": bias}


BERT = Family(
    name="bert",
    model_types=("bert",),
    tasks={
        "BertForMaskedLM": "masked_language_model",
        "BertForPreTraining": "masked_language_model",
        "BertForSequenceClassification": "classification",
        "BertModel": "features",
    },
    configure=partial(_configure, roberta=False),
    describe=partial(_describe, roberta=False),
    names=_bert_names,
    copies=partial(_copies, prefix="bert.", decoder="cls.predictions.decoder", bias="cls.predictions.bias"),
    prefix="bert.",
    older={"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"},
    aside=("cls.*", "bert.pooler.*", "classifier.*"),
    computed={"bert.embeddings.position_ids": counted, "bert.embeddings.token_type_ids": zeros},
    taps={ours: theirs.replace("{prefix}", "bert.") for ours, theirs in TAPS.items()} | {"head.logits": "cls"},
    begin="cls",
    end="sep",
)

ROBERTA = Family(
    name="roberta",
    model_types=("roberta", "xlm-roberta"),
    tasks={
        "RobertaForMaskedLM": "masked_language_model",
        "RobertaForSequenceClassification": "classification",
        "RobertaModel": "features",
        "XLMRobertaForMaskedLM": "masked_language_model",
        "XLMRobertaForSequenceClassification": "classification",
        "XLMRobertaModel": "features",
    },
    configure=partial(_configure, roberta=True),
    describe=partial(_describe, roberta=True),
    names=_roberta_names,
    copies=partial(_copies, prefix="roberta.", decoder="lm_head.decoder", bias="lm_head.bias"),
    prefix="roberta.",
    older=BERT.older,
    aside=("lm_head.*", "roberta.pooler.*", "classifier.*"),
    computed={"roberta.embeddings.position_ids": counted, "roberta.embeddings.token_type_ids": zeros},
    taps={ours: theirs.replace("{prefix}", "roberta.") for ours, theirs in TAPS.items()} | {"head.logits": "lm_head"},
    begin="cls",
    end="sep",
)
