"""Small models of `transformers` beside their tokenizers, made from a configuration alone: folders that the verbs open.

Weights are so large that the answers differ from text to text.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn

import foreign_texts

BODY = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
SIDES = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2}
SIDES |= {"decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "max_position_embeddings": 64}


def lively(model: nn.Module, seed: int = 0) -> nn.Module:
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() >= 2 and "position" not in name:
                weight.normal_(std=0.25, generator=generator)
    return model.eval()


def beside(folder: Path, name: str, **options: Any) -> tuple[Any, Any]:
    """A model of the class `name` in the folder of a tokenizer, whose ids it gets; both, as `transformers` has them."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    kind = getattr(transformers, name)
    roles = {f"{role}_token_id": getattr(tokenizer, f"{role}_token_id") for role in ("pad", "bos", "eos")}
    config = kind.config_class(vocab_size=len(tokenizer), **(roles | options))
    torch.manual_seed(0)
    model = lively(kind(config))
    model.save_pretrained(folder)
    return model, tokenizer


def gpt2(folder: Path) -> tuple[Any, Any]:
    return beside(foreign_texts.gpt2(folder), "GPT2LMHeadModel", n_embd=16, n_layer=2, n_head=2, n_positions=64)


def llama(folder: Path, **options: Any) -> tuple[Any, Any]:
    return beside(foreign_texts.llama(folder), "LlamaForCausalLM", **BODY, **options)


def bert(folder: Path) -> tuple[Any, Any]:
    return beside(foreign_texts.bert(folder), "BertForMaskedLM", **BODY)


def bert_body(folder: Path) -> tuple[Any, Any]:
    return beside(foreign_texts.bert(folder), "BertModel", **BODY)


def bert_classifier(folder: Path) -> tuple[Any, Any]:
    labels = {0: "bad", 1: "good", 2: "neither"}
    return beside(foreign_texts.bert(folder), "BertForSequenceClassification", **BODY, num_labels=3, id2label=labels)


def roberta_classifier(folder: Path) -> tuple[Any, Any]:
    return beside(foreign_texts.roberta_json(folder), "RobertaForSequenceClassification", **BODY, num_labels=2)


def marian(folder: Path, **options: Any) -> tuple[Any, Any]:
    tokenizer = transformers.AutoTokenizer.from_pretrained(foreign_texts.marian(folder))
    ids = {"decoder_start_token_id": tokenizer.pad_token_id, "forced_eos_token_id": tokenizer.eos_token_id}
    return beside(folder, "MarianMTModel", **SIDES, **ids, **options)


def bart(folder: Path) -> tuple[Any, Any]:
    tokenizer = transformers.AutoTokenizer.from_pretrained(foreign_texts.bart(folder))
    ids = {"decoder_start_token_id": tokenizer.eos_token_id, "forced_eos_token_id": tokenizer.eos_token_id}
    return beside(folder, "BartForConditionalGeneration", **SIDES, **ids, forced_bos_token_id=tokenizer.bos_token_id)


def t5(folder: Path) -> tuple[Any, Any]:
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0}
    return beside(foreign_texts.t5(folder), "T5ForConditionalGeneration", **sizes)


def vit(folder: Path) -> tuple[Any, Any]:
    config = transformers.ViTConfig(image_size=8, patch_size=4, num_labels=2, id2label={0: "cat", 1: "dog"}, **BODY)
    model = lively(transformers.ViTForImageClassification(config))
    model.save_pretrained(folder)
    return model, None


MODELS: dict[str, Callable[[Path], tuple[Any, Any]]] = {
    "gpt2": gpt2,
    "llama": llama,
    "bert": bert,
    "bert body": bert_body,
    "bert classifier": bert_classifier,
    "marian": marian,
    "bart": bart,
    "t5": t5,
    "vit": vit,
}
