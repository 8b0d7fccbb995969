"""Published configurations as they stand in their config.json: counted here, and built there on `meta`."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn

import glassformer as gf

Table = dict[str, Any]
pytestmark = pytest.mark.slow  # importing the reference models takes several seconds


def bert(size: int, heads: int, layers: int, vocab_size: int = 30522, **more: Any) -> Table:
    return {
        "architectures": ["BertForMaskedLM"],
        "model_type": "bert",
        "attention_probs_dropout_prob": 0.1,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": size,
        "initializer_range": 0.02,
        "intermediate_size": 4 * size,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": 512,
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "pad_token_id": 0,
        "type_vocab_size": 2,
        "vocab_size": vocab_size,
        **more,
    }


def roberta(size: int, heads: int, layers: int, vocab_size: int = 50265) -> Table:
    own = {"architectures": ["RobertaForMaskedLM"], "model_type": "roberta", "layer_norm_eps": 1e-5}
    own |= {"max_position_embeddings": 514, "type_vocab_size": 1}
    own |= {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    return bert(size, heads, layers, vocab_size) | own


def gpt2(size: int, heads: int, layers: int, vocab_size: int = 50257) -> Table:
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "activation_function": "gelu_new",
        "attn_pdrop": 0.1,
        "bos_token_id": vocab_size - 1,
        "embd_pdrop": 0.1,
        "eos_token_id": vocab_size - 1,
        "initializer_range": 0.02,
        "layer_norm_epsilon": 1e-5,
        "n_ctx": 1024,
        "n_embd": size,
        "n_head": heads,
        "n_layer": layers,
        "n_positions": 1024,
        "resid_pdrop": 0.1,
        "vocab_size": vocab_size,
    }


def llama(size: int, inner: int, heads: int, shared: int, layers: int, vocab_size: int, **more: Any) -> Table:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "bos_token_id": 1,
        "eos_token_id": 2,
        "hidden_act": "silu",
        "hidden_size": size,
        "initializer_range": 0.02,
        "intermediate_size": inner,
        "max_position_embeddings": 4096,
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "num_key_value_heads": shared,
        "rms_norm_eps": 1e-5,
        "rope_scaling": None,
        "tie_word_embeddings": False,
        "vocab_size": vocab_size,
        **more,
    }


LLAMA3: Table = {"bos_token_id": 128000, "eos_token_id": 128001, "rope_theta": 500000.0, "attention_bias": False}
LONGER: Table = {
    "max_position_embeddings": 131072,
    "rope_scaling": {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
        "rope_type": "llama3",
    },
}
MISTRAL: Table = {"architectures": ["MistralForCausalLM"], "model_type": "mistral", "sliding_window": 4096}
QWEN2: Table = {
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "max_position_embeddings": 131072,
    "max_window_layers": 24,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1000000.0,
    "sliding_window": 131072,
    "use_sliding_window": False,
}
QWEN3: Table = QWEN2 | {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "attention_bias": False,
    "head_dim": 128,
    "max_position_embeddings": 40960,
    "sliding_window": None,
    "tie_word_embeddings": True,
}


def t5(size: int, inner: int, heads: int, layers: int, **more: Any) -> Table:
    return {
        "architectures": ["T5ForConditionalGeneration"],
        "model_type": "t5",
        "d_ff": inner,
        "d_kv": 64,
        "d_model": size,
        "decoder_start_token_id": 0,
        "dropout_rate": 0.1,
        "eos_token_id": 1,
        "initializer_factor": 1.0,
        "is_encoder_decoder": True,
        "layer_norm_epsilon": 1e-6,
        "n_positions": 512,
        "num_heads": heads,
        "num_layers": layers,
        "pad_token_id": 0,
        "relative_attention_num_buckets": 32,
        "vocab_size": 32128,
        **more,
    }


GATED: Table = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}


def bart(size: int, heads: int, layers: int, vocab_size: int = 50265, **more: Any) -> Table:
    return {
        "architectures": ["BartForConditionalGeneration"],
        "model_type": "bart",
        "activation_dropout": 0.1,
        "activation_function": "gelu",
        "attention_dropout": 0.1,
        "bos_token_id": 0,
        "d_model": size,
        "decoder_attention_heads": heads,
        "decoder_ffn_dim": 4 * size,
        "decoder_layers": layers,
        "decoder_start_token_id": 2,
        "dropout": 0.1,
        "encoder_attention_heads": heads,
        "encoder_ffn_dim": 4 * size,
        "encoder_layers": layers,
        "eos_token_id": 2,
        "is_encoder_decoder": True,
        "max_position_embeddings": 1024,
        "pad_token_id": 1,
        "scale_embedding": False,
        "vocab_size": vocab_size,
        **more,
    }


def marian(vocab_size: int) -> Table:
    last = vocab_size - 1
    return bart(512, 8, 6, vocab_size) | {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "activation_function": "swish",
        "decoder_start_token_id": last,
        "eos_token_id": 0,
        "max_position_embeddings": 512,
        "normalize_before": False,
        "normalize_embedding": False,
        "pad_token_id": last,
        "scale_embedding": True,
        "static_position_embeddings": True,
    }


PEGASUS: Table = {
    "architectures": ["PegasusForConditionalGeneration"],
    "model_type": "pegasus",
    "activation_function": "relu",
    "bos_token_id": 0,
    "decoder_start_token_id": 0,
    "eos_token_id": 1,
    "max_position_embeddings": 512,
    "normalize_before": True,
    "normalize_embedding": False,
    "pad_token_id": 0,
    "scale_embedding": True,
    "static_position_embeddings": True,
}


def vit(size: int, heads: int, layers: int, **more: Any) -> Table:
    return {
        "architectures": ["ViTForImageClassification"],
        "model_type": "vit",
        "attention_probs_dropout_prob": 0.0,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.0,
        "hidden_size": size,
        "id2label": {str(i): f"LABEL_{i}" for i in range(1000)},
        "image_size": 224,
        "initializer_range": 0.02,
        "intermediate_size": 4 * size,
        "layer_norm_eps": 1e-12,
        "num_attention_heads": heads,
        "num_channels": 3,
        "num_hidden_layers": layers,
        "patch_size": 16,
        **more,
    }


DISTILLED: Table = {"architectures": ["DeiTForImageClassificationWithTeacher"], "model_type": "deit"}

CONFIGS: dict[str, Table] = {
    "bert-base-uncased": bert(768, 12, 12),
    "bert-large-uncased": bert(1024, 16, 24),
    "bert-base-multilingual-cased": bert(768, 12, 12, 119547, directionality="bidi"),
    "klue/bert-base": bert(768, 12, 12, 32000),
    "roberta-base": roberta(768, 12, 12),
    "roberta-large": roberta(1024, 16, 24),
    "gpt2": gpt2(768, 12, 12),
    "gpt2-medium": gpt2(1024, 16, 24),
    "gpt2-large": gpt2(1280, 20, 36),
    "gpt2-xl": gpt2(1600, 25, 48),
    "Llama-2-7b": llama(4096, 11008, 32, 32, 32, 32000),
    "Llama-2-70b": llama(8192, 28672, 64, 8, 80, 32000),
    "Meta-Llama-3-8B": llama(4096, 14336, 32, 8, 32, 128256, **LLAMA3),
    "Meta-Llama-3-70B": llama(8192, 28672, 64, 8, 80, 128256, **LLAMA3),
    "Llama-3.1-8B": llama(4096, 14336, 32, 8, 32, 128256, **LLAMA3 | LONGER),
    "Llama-3.2-1B": llama(2048, 8192, 32, 8, 16, 128256, **LLAMA3 | LONGER | {"tie_word_embeddings": True}),
    "Mistral-7B-v0.1": llama(4096, 14336, 32, 8, 32, 32000, **MISTRAL),
    "Qwen2-0.5B": llama(896, 4864, 14, 2, 24, 151936, **QWEN2 | {"tie_word_embeddings": True}),
    "Qwen2-7B": llama(3584, 18944, 28, 4, 28, 152064, **QWEN2 | {"max_window_layers": 28}),
    "Qwen3-0.6B": llama(1024, 3072, 16, 8, 28, 151936, **QWEN3 | {"max_window_layers": 28}),
    "Qwen3-4B": llama(2560, 9728, 32, 8, 36, 151936, **QWEN3 | {"max_window_layers": 36}),
    "t5-small": t5(512, 2048, 8, 6),
    "t5-base": t5(768, 3072, 12, 12),
    "t5-large": t5(1024, 4096, 16, 24),
    "t5-v1_1-small": t5(512, 1024, 6, 8, num_decoder_layers=8, **GATED),
    "flan-t5-base": t5(768, 2048, 12, 12, num_decoder_layers=12, **GATED),
    "bart-base": bart(768, 12, 6),
    "bart-large": bart(1024, 16, 12),
    "opus-mt-en-de": marian(58101),
    "opus-mt-ko-en": marian(65001),
    "pegasus-xsum": bart(1024, 16, 16, 96103) | PEGASUS,
    "vit-base-patch16-224": vit(768, 12, 12),
    "vit-large-patch16-224": vit(1024, 16, 24),
    "deit-tiny-patch16-224": vit(192, 3, 12),
    "deit-small-distilled-patch16-224": vit(384, 6, 12, **DISTILLED),
}


@pytest.fixture(scope="module")
def transformers() -> ModuleType:
    return pytest.importorskip("transformers")


def on_meta(transformers: ModuleType, folder: Path) -> nn.Module:
    """The reference as its own configuration describes it, without memory.

    A T5 1.1 has a matrix of its own for the head. From its configuration alone `transformers` 5 builds it tied, and
    takes the second matrix from the file of weights; without a file it is put there by hand.
    """
    config = transformers.AutoConfig.from_pretrained(folder)
    table = json.loads((folder / "config.json").read_text())
    with torch.device("meta"):
        model: Any = getattr(transformers, table["architectures"][0])(config)
        if table["model_type"] == "t5" and table.get("tie_word_embeddings") is False:
            model.lm_head.weight = nn.Parameter(torch.empty_like(model.lm_head.weight))
    return model


@pytest.mark.parametrize("name", CONFIGS)
def test_the_count_is_the_references_own(tmp_path: Path, transformers: ModuleType, name: str) -> None:
    """Sinusoids are frozen parameters there and buffers here; the offset of the logits is a buffer in both."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIGS[name]))
    reference, total = on_meta(transformers, tmp_path), gf.count(path).total
    assert {weight.device.type for weight in reference.parameters()} == {"meta"}
    trained = sum(weight.numel() for weight in reference.parameters() if weight.requires_grad)
    sinusoids = sum(weight.numel() for weight in reference.parameters() if not weight.requires_grad)
    offset = sum(buffer.numel() for key, buffer in reference.named_buffers() if key == "final_logits_bias")
    assert total.trained == total.parameters == trained
    assert total.buffers == sinusoids + offset


def test_these_are_enough() -> None:
    assert len(CONFIGS) >= 20
    assert len({table["model_type"] for table in CONFIGS.values()}) == 13
