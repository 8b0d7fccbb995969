"""Small models of `transformers`, one for every family and variant that can be imported: seeded, in odd sizes.

They are made from configurations alone, saved with `save_pretrained`, and opened again in any type.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from glassformer.bench.lift import lifted
from glassformer.comparison.foreign import silenced
from glassformer.errors import ConfigError
from glassformer.files import read_json, write_json

VOCABULARY = 67


class ReferenceVariant(NamedTuple):
    """A class of `transformers`, the arguments of its configuration, and edits to the files that it writes.

    `head`: the language-model head gets its own matrix although the configuration says it is tied (T5 1.1).
    `edits`: keys of config.json as in published files; None removes a key.
    """

    architecture: str
    options: Mapping[str, Any]
    head: bool = False
    edits: Mapping[str, Any] = {}

    @property
    def by_length(self) -> bool:
        """Whether the angles depend on the length so far: running step by step then differs from one whole pass."""
        return self.options.get("rope_parameters", {}).get("rope_type") == "dynamic"


BERT: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 30,
    "num_hidden_layers": 3,
    "num_attention_heads": 5,
    "intermediate_size": 43,
    "max_position_embeddings": 41,
    "type_vocab_size": 3,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
GPT2: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "n_positions": 41,
    "n_embd": 30,
    "n_layer": 3,
    "n_head": 5,
    "n_inner": 43,
    "resid_pdrop": 0.0,
    "embd_pdrop": 0.0,
    "attn_pdrop": 0.0,
    "bos_token_id": 66,
    "eos_token_id": 66,
}
LLAMA: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 36,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "intermediate_size": 53,
    "max_position_embeddings": 41,
    "rms_norm_eps": 1e-5,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
T5: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "d_model": 30,
    "d_kv": 7,
    "d_ff": 43,
    "num_layers": 3,
    "num_decoder_layers": 2,
    "num_heads": 5,
    "relative_attention_num_buckets": 12,
    "relative_attention_max_distance": 17,
    "dropout_rate": 0.0,
    "decoder_start_token_id": 0,
}
BART: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "d_model": 30,
    "encoder_layers": 3,
    "decoder_layers": 2,
    "encoder_attention_heads": 5,
    "decoder_attention_heads": 5,
    "encoder_ffn_dim": 43,
    "decoder_ffn_dim": 43,
    "max_position_embeddings": 41,
    "dropout": 0.0,
}
MARIAN = BART | {
    "activation_function": "swish",
    "scale_embedding": True,
    "decoder_vocab_size": VOCABULARY,
    "pad_token_id": 66,
    "decoder_start_token_id": 66,
    "eos_token_id": 0,
}
VIT: dict[str, Any] = {
    "hidden_size": 30,
    "num_hidden_layers": 3,
    "num_attention_heads": 5,
    "intermediate_size": 43,
    "image_size": 21,
    "patch_size": 7,
    "num_channels": 3,
    "num_labels": 11,
    "pooler_output_size": 30,
}
CLASSES = {"num_labels": 5}
SCALED = {"rope_type": "linear", "factor": 3.0, "rope_theta": 700.0}
DYNAMIC = {"rope_type": "dynamic", "factor": 3.0, "rope_theta": 700.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "rope_theta": 700.0, "original_max_position_embeddings": 11}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "rope_theta": 700.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 33,
}

VARIANTS: dict[str, ReferenceVariant] = {
    "bert-features": ReferenceVariant("BertModel", BERT),
    "bert-masked": ReferenceVariant("BertForMaskedLM", BERT),
    "bert-classifier": ReferenceVariant("BertForSequenceClassification", BERT | CLASSES),
    "roberta-masked": ReferenceVariant("RobertaForMaskedLM", BERT | {"type_vocab_size": 1}),
    "roberta-classifier": ReferenceVariant("RobertaForSequenceClassification", BERT | CLASSES | {"type_vocab_size": 1}),
    "gpt2": ReferenceVariant("GPT2LMHeadModel", GPT2),
    "gpt2-features": ReferenceVariant("GPT2Model", GPT2),
    "llama": ReferenceVariant("LlamaForCausalLM", LLAMA),
    "llama-tied": ReferenceVariant("LlamaForCausalLM", LLAMA | {"tie_word_embeddings": True, "num_key_value_heads": 6}),
    "llama-biases": ReferenceVariant("LlamaForCausalLM", LLAMA | {"attention_bias": True, "mlp_bias": True}),
    "llama-linear": ReferenceVariant("LlamaForCausalLM", LLAMA | {"rope_parameters": SCALED}),
    "llama-dynamic": ReferenceVariant(
        "LlamaForCausalLM", LLAMA | {"rope_parameters": DYNAMIC, "max_position_embeddings": 9, "head_dim": 12}
    ),
    "llama-yarn": ReferenceVariant(
        "LlamaForCausalLM", LLAMA | {"rope_parameters": YARN, "max_position_embeddings": 44}
    ),
    "llama-3": ReferenceVariant("LlamaForCausalLM", LLAMA | {"rope_parameters": LLAMA3, "head_dim": 12}),
    "llama-3-older-file": ReferenceVariant(
        "LlamaForCausalLM",
        LLAMA | {"rope_parameters": LLAMA3, "head_dim": 12},
        edits={
            "rope_parameters": None,
            "rope_theta": 700.0,
            "rope_scaling": {key: value for key, value in LLAMA3.items() if key != "rope_theta"},
        },
    ),
    "llama-features": ReferenceVariant("LlamaModel", LLAMA),
    "mistral-window": ReferenceVariant("MistralForCausalLM", LLAMA | {"sliding_window": 5, "head_dim": 10}),
    "qwen2": ReferenceVariant("Qwen2ForCausalLM", LLAMA | {"tie_word_embeddings": True}),
    "qwen2-window": ReferenceVariant(
        "Qwen2ForCausalLM", LLAMA | {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1}
    ),
    "qwen3": ReferenceVariant("Qwen3ForCausalLM", LLAMA | {"head_dim": 10}),
    "t5": ReferenceVariant("T5ForConditionalGeneration", T5),
    "t5-1.1": ReferenceVariant(
        "T5ForConditionalGeneration",
        T5 | {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
        head=True,
    ),
    "flan-t5": ReferenceVariant(
        "T5ForConditionalGeneration",
        T5 | {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "d_kv": 6},
        head=True,
        edits={"tie_word_embeddings": False, "scale_decoder_outputs": None},
    ),
    "t5-encoder": ReferenceVariant("T5EncoderModel", T5),
    "bart": ReferenceVariant("BartForConditionalGeneration", BART),
    "bart-scaled": ReferenceVariant("BartForConditionalGeneration", BART | {"scale_embedding": True}),
    "bart-features": ReferenceVariant("BartModel", BART),
    "marian": ReferenceVariant("MarianMTModel", MARIAN),
    "marian-separate": ReferenceVariant(
        "MarianMTModel",
        MARIAN
        | {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": 59}
        | {"pad_token_id": 58, "decoder_start_token_id": 58},
    ),
    "pegasus": ReferenceVariant(
        "PegasusForConditionalGeneration", BART | {"scale_embedding": True, "activation_function": "relu"}
    ),
    "vit": ReferenceVariant("ViTForImageClassification", VIT),
    "vit-features": ReferenceVariant("ViTModel", VIT | {"qkv_bias": False}),
    "deit": ReferenceVariant("DeiTForImageClassification", VIT),
    "deit-distilled": ReferenceVariant("DeiTForImageClassificationWithTeacher", VIT),
    "deit-features": ReferenceVariant("DeiTModel", VIT),
}


def need_transformers(name: str) -> str:
    """Returns the version of `transformers`, which is optional; raises if it is not installed."""
    if importlib.util.find_spec("transformers") is None:
        raise ConfigError("needs_package", what=f"bench {name}", package="transformers")
    import transformers

    return str(transformers.__version__)


def save(name: str, folder: Path, *, seed: int = 0) -> None:
    """Writes the reference model of a variant with `save_pretrained`, then applies the variant's edits."""
    import transformers

    variant = VARIANTS[name]
    kind: Any = getattr(transformers, variant.architecture)
    with quiet():
        model = kind(kind.config_class(**variant.options))
        if variant.head:
            model.lm_head.weight = nn.Parameter(torch.empty_like(model.lm_head.weight))
        enliven(model, seed)
        model.save_pretrained(folder)
    edit_json(folder / "config.json", variant.edits)


def edit_json(path: Path, edits: Mapping[str, Any]) -> None:
    """Change keys of a JSON file; None removes a key."""
    table = read_json(path) | dict(edits)
    write_json(path, {key: value for key, value in table.items() if value is not None}, durable=False)


def opened(name: str, folder: Path, dtype: torch.dtype, *, attention: str = "sdpa") -> Any:
    """Loads the reference model from its folder in this type, in evaluation mode."""
    import transformers

    kind: Any = getattr(transformers, VARIANTS[name].architecture)
    with quiet():
        return kind.from_pretrained(folder, dtype=dtype, attn_implementation=attention).eval()


def opened_lifted(name: str, folder: Path) -> Any:
    """The same in float64 throughout, with eager attention; call it inside `lifted` too.

    Without `lifted`, eager attention fails on padding in float64: its mask becomes −∞ in the float32 of its softmax.
    """
    with lifted():
        model = opened(name, folder, torch.float64, attention="eager")
        for table in sinusoid_tables(model):
            table.weight.data = table.create_weight().data
    return model


def sinusoid_tables(model: nn.Module) -> list[Any]:
    """The sinusoid tables of Marian and Pegasus: parameters there, but never trained."""
    return [module for module in model.modules() if type(module).__name__.endswith("SinusoidalPositionalEmbedding")]


@torch.no_grad()
def enliven(model: nn.Module, seed: int) -> None:
    """Random weights that leave no part idle: norms are not 1, biases not 0, attention is not uniform."""
    random = torch.Generator().manual_seed(seed)
    for name, weight in model.named_parameters():
        if not weight.requires_grad:  # sinusoids follow from the configuration
            continue
        noise = torch.randn(weight.shape, generator=random)
        if weight.dim() == 1:
            weight.copy_(0.2 * noise + (0.0 if name.endswith("bias") else 1.0))
        elif min(weight.shape[:2]) == 1 or "embed" in name or "shared" in name or "wte" in name or "wpe" in name:
            weight.copy_(0.2 * noise)
        else:
            weight.copy_(0.5 * noise * weight[0].numel() ** -0.5)
    for name, buffer in model.named_buffers():
        if name == "final_logits_bias":
            buffer.copy_(0.5 * torch.randn(buffer.shape, generator=random))


def quiet() -> AbstractContextManager[None]:
    """Silences the progress bars and advice of `transformers`."""
    import transformers

    return silenced(transformers)
