"""Small reference models of `transformers`, made from a configuration alone and saved as folders: every variant.

Sizes are odd on purpose, and no norm is 1, no bias 0: a weight in the wrong place shows.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn

from once import place

VOCABULARY, LONGEST = 41, 23
PAD = {"roberta": 1, "xlm-roberta": 1}  # 0 elsewhere

Maker = Callable[[], Any]


def _make(name: str, config: str, **options: Any) -> Maker:
    """`name`: the class of the model; `config`: that of its configuration."""

    def make() -> Any:
        torch.manual_seed(len(name))
        return getattr(transformers, name)(getattr(transformers, config)(**options))

    return make


BERT = {
    "vocab_size": VOCABULARY,
    "hidden_size": 15,
    "num_hidden_layers": 3,
    "num_attention_heads": 3,
    "intermediate_size": 22,
    "max_position_embeddings": LONGEST,
    "pad_token_id": 0,
}
ROBERTA = {**BERT, "max_position_embeddings": LONGEST + 2, "pad_token_id": 1, "type_vocab_size": 1}
GPT2 = {
    "vocab_size": VOCABULARY,
    "n_embd": 15,
    "n_layer": 3,
    "n_head": 3,
    "n_positions": LONGEST,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
LLAMA = {
    "vocab_size": VOCABULARY,
    "hidden_size": 24,
    "intermediate_size": 33,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": LONGEST,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 100.0,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 12,
}
YARN = {"rope_type": "yarn", "rope_theta": 100.0, "factor": 2.5, "original_max_position_embeddings": 8}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 100.0, "factor": 2.0}

VARIANTS: dict[str, Maker] = {
    "bert": _make("BertForMaskedLM", "BertConfig", **BERT),
    "bert untied": _make("BertForMaskedLM", "BertConfig", **BERT, tie_word_embeddings=False),
    "bert relu": _make("BertForMaskedLM", "BertConfig", **BERT, hidden_act="relu"),
    "bert pretraining": _make("BertForPreTraining", "BertConfig", **BERT),
    "bert classifier": _make("BertForSequenceClassification", "BertConfig", **BERT, num_labels=3),
    "bert body": _make("BertModel", "BertConfig", **BERT),
    "roberta": _make("RobertaForMaskedLM", "RobertaConfig", **ROBERTA),
    "roberta classifier": _make("RobertaForSequenceClassification", "RobertaConfig", **ROBERTA, num_labels=3),
    "roberta body": _make("RobertaModel", "RobertaConfig", **ROBERTA),
    "xlm-roberta": _make("XLMRobertaForMaskedLM", "XLMRobertaConfig", **ROBERTA),
    "gpt2": _make("GPT2LMHeadModel", "GPT2Config", **GPT2),
    "gpt2 untied": _make("GPT2LMHeadModel", "GPT2Config", **GPT2, tie_word_embeddings=False, n_inner=22),
    "gpt2 classifier": _make("GPT2ForSequenceClassification", "GPT2Config", **GPT2, num_labels=3),
    "gpt2 body": _make("GPT2Model", "GPT2Config", **GPT2),
    "llama": _make("LlamaForCausalLM", "LlamaConfig", **LLAMA),
    "llama tied": _make("LlamaForCausalLM", "LlamaConfig", **LLAMA, tie_word_embeddings=True),
    "llama biased": _make("LlamaForCausalLM", "LlamaConfig", **LLAMA, attention_bias=True, mlp_bias=True),
    "llama wide heads": _make("LlamaForCausalLM", "LlamaConfig", **LLAMA, head_dim=10),
    "llama linear": _make(
        "LlamaForCausalLM", "LlamaConfig", **LLAMA, rope_parameters={"rope_type": "linear", "factor": 3.0}
    ),
    "llama3": _make("LlamaForCausalLM", "LlamaConfig", **LLAMA, rope_parameters=LLAMA3),
    "llama yarn": _make("LlamaForCausalLM", "LlamaConfig", **LLAMA, rope_parameters=YARN),
    "llama dynamic": _make(
        "LlamaForCausalLM", "LlamaConfig", **{**LLAMA, "max_position_embeddings": 8}, rope_parameters=DYNAMIC
    ),
    "llama classifier": _make("LlamaForSequenceClassification", "LlamaConfig", **LLAMA, num_labels=3),
    "llama body": _make("LlamaModel", "LlamaConfig", **LLAMA),
    "mistral": _make("MistralForCausalLM", "MistralConfig", **LLAMA, sliding_window=4),
    "mistral without window": _make("MistralForCausalLM", "MistralConfig", **LLAMA, sliding_window=None),
    "qwen2": _make("Qwen2ForCausalLM", "Qwen2Config", **LLAMA),
    "qwen2 tied": _make("Qwen2ForCausalLM", "Qwen2Config", **LLAMA, tie_word_embeddings=True),
    "qwen2 windowed": _make(
        "Qwen2ForCausalLM", "Qwen2Config", **LLAMA, use_sliding_window=True, sliding_window=4, max_window_layers=1
    ),
    "qwen3": _make("Qwen3ForCausalLM", "Qwen3Config", **LLAMA, head_dim=6),
    "qwen3 biased": _make("Qwen3ForCausalLM", "Qwen3Config", **LLAMA, head_dim=6, attention_bias=True),
    "qwen3 classifier": _make("Qwen3ForSequenceClassification", "Qwen3Config", **LLAMA, head_dim=6, num_labels=3),
}

_FOLDERS = Path(tempfile.mkdtemp(prefix="reference-", dir=place()))


def lively(model: nn.Module, seed: int = 0) -> nn.Module:
    """The same model with numbers that are neither 0 nor 1, and large enough for its answers to differ."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            noise = torch.randn(weight.shape, generator=generator)
            if weight.dim() > 1:
                weight.copy_(0.3 * noise)
            else:
                weight.add_(0.2 * noise)
    return model.eval()


def reference(name: str) -> tuple[Any, Path]:
    """The model of `transformers`, in float32, and the folder that it was saved to.

    A copy for each caller: dynamic rotary angles of theirs depend on the longest text that a model has ever seen.
    """
    model, folder = _reference(name)
    return copy.deepcopy(model), folder


@cache
def _reference(name: str) -> tuple[Any, Path]:
    return saved(name, VARIANTS[name])


def saved(name: str, make: Maker) -> tuple[Any, Path]:
    model = lively(make())
    folder = Path(_FOLDERS) / name.replace(" ", "-")
    model.save_pretrained(folder)
    return model, folder
