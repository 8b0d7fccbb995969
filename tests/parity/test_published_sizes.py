from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn

import glassformer as gf
from glassformer.bench.published import PUBLISHED


class Reference(NamedTuple):
    model: str
    config: str
    sizes: dict[str, Any]


def bert(hidden_size: int, heads: int, layers: int) -> Reference:
    sizes = {
        "vocab_size": 30522,
        "type_vocab_size": 2,
        "max_position_embeddings": 512,
        "hidden_size": hidden_size,
        "intermediate_size": 4 * hidden_size,
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
    }
    return Reference("BertModel", "BertConfig", sizes)


def gpt2(n_embd: int, heads: int, layers: int) -> Reference:
    sizes = {
        "vocab_size": 50257,
        "n_positions": 1024,
        "n_embd": n_embd,
        "n_inner": 4 * n_embd,
        "n_head": heads,
        "n_layer": layers,
        "tie_word_embeddings": True,
    }
    return Reference("GPT2LMHeadModel", "GPT2Config", sizes)


def llama(
    family: str,
    *,
    vocab_size: int,
    hidden_size: int,
    intermediate_size: int,
    heads: int,
    key_value_heads: int,
    layers: int,
    tied: bool = False,
) -> Reference:
    without_bias = {"Llama": ("attention_bias", "mlp_bias"), "Mistral": (), "Qwen3": ("attention_bias",)}
    sizes = {
        "vocab_size": vocab_size,
        "hidden_size": hidden_size,
        "intermediate_size": intermediate_size,
        "num_attention_heads": heads,
        "num_key_value_heads": key_value_heads,
        "head_dim": 128,
        "num_hidden_layers": layers,
        "tie_word_embeddings": tied,
        **dict.fromkeys(without_bias[family], False),
    }
    return Reference(f"{family}ForCausalLM", f"{family}Config", sizes)


def llama3(hidden_size: int, intermediate_size: int, heads: int, layers: int) -> Reference:
    return llama(
        "Llama",
        vocab_size=128256,
        hidden_size=hidden_size,
        intermediate_size=intermediate_size,
        heads=heads,
        key_value_heads=8,
        layers=layers,
    )


def t5(d_model: int, heads: int, layers: int) -> Reference:
    sizes = {
        "vocab_size": 32128,
        "d_model": d_model,
        "d_kv": 64,
        "d_ff": 4 * d_model,
        "num_heads": heads,
        "num_layers": layers,
        "num_decoder_layers": layers,
        "relative_attention_num_buckets": 32,
        "feed_forward_proj": "relu",
        "tie_word_embeddings": True,
    }
    return Reference("T5ForConditionalGeneration", "T5Config", sizes)


def bart_sizes(vocab_size: int, max_len: int, d_model: int, heads: int) -> dict[str, Any]:
    return {
        "vocab_size": vocab_size,
        "max_position_embeddings": max_len,
        "d_model": d_model,
        "encoder_layers": 6,
        "decoder_layers": 6,
        "encoder_attention_heads": heads,
        "decoder_attention_heads": heads,
        "encoder_ffn_dim": 4 * d_model,
        "decoder_ffn_dim": 4 * d_model,
        "tie_word_embeddings": True,
    }


def vit(hidden_size: int, heads: int) -> Reference:
    sizes = {
        "image_size": 224,
        "patch_size": 16,
        "num_channels": 3,
        "hidden_size": hidden_size,
        "intermediate_size": 4 * hidden_size,
        "num_attention_heads": heads,
        "num_hidden_layers": 12,
        "qkv_bias": True,
        "num_labels": 1000,
    }
    return Reference("ViTForImageClassification", "ViTConfig", sizes)


REFERENCES = {
    "bert-base": bert(hidden_size=768, heads=12, layers=12),
    "bert-large": bert(hidden_size=1024, heads=16, layers=24),
    "gpt2": gpt2(n_embd=768, heads=12, layers=12),
    "gpt2-medium": gpt2(n_embd=1024, heads=16, layers=24),
    "gpt2-large": gpt2(n_embd=1280, heads=20, layers=36),
    "gpt2-xl": gpt2(n_embd=1600, heads=25, layers=48),
    "llama2-7b": llama(
        "Llama",
        vocab_size=32000,
        hidden_size=4096,
        intermediate_size=11008,
        heads=32,
        key_value_heads=32,
        layers=32,
    ),
    "llama3-8b": llama3(hidden_size=4096, intermediate_size=14336, heads=32, layers=32),
    "llama3-70b": llama3(hidden_size=8192, intermediate_size=28672, heads=64, layers=80),
    "llama3-405b": llama3(hidden_size=16384, intermediate_size=53248, heads=128, layers=126),
    "mistral-7b": llama(
        "Mistral",
        vocab_size=32000,
        hidden_size=4096,
        intermediate_size=14336,
        heads=32,
        key_value_heads=8,
        layers=32,
    ),
    "qwen3-0.6b": llama(
        "Qwen3",
        vocab_size=151936,
        hidden_size=1024,
        intermediate_size=3072,
        heads=16,
        key_value_heads=8,
        layers=28,
        tied=True,
    ),
    "t5-small": t5(d_model=512, heads=8, layers=6),
    "t5-base": t5(d_model=768, heads=12, layers=12),
    "bart-base": Reference(
        "BartModel", "BartConfig", bart_sizes(vocab_size=50265, max_len=1024, d_model=768, heads=12)
    ),
    "vit-b16": vit(hidden_size=768, heads=12),
    "deit-tiny": vit(hidden_size=192, heads=3),
}

MARIAN = Reference(
    "MarianMTModel",
    "MarianConfig",
    {
        **bart_sizes(vocab_size=58101, max_len=512, d_model=512, heads=8),
        "decoder_vocab_size": 58101,
        "share_encoder_decoder_embeddings": True,
        "pad_token_id": 58100,
        "decoder_start_token_id": 58100,
    },
)


@pytest.fixture(scope="module")
def transformers() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")  # read when the library is imported
        yield pytest.importorskip("transformers")


def on_meta(transformers: ModuleType, reference: Reference) -> nn.Module:
    config = getattr(transformers, reference.config)(**reference.sizes)
    with torch.device("meta"):
        model: nn.Module = getattr(transformers, reference.model)(config)
    return model


def parameters_of(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def test_every_published_size_has_a_reference() -> None:
    assert REFERENCES.keys() == PUBLISHED.keys()


@pytest.mark.slow  # importing the reference models takes several seconds
@pytest.mark.parametrize("name", PUBLISHED)
def test_reference_published_and_counted_agree(transformers: ModuleType, name: str) -> None:
    reference = on_meta(transformers, REFERENCES[name])
    published, _ = PUBLISHED[name]
    assert {parameter.device.type for parameter in reference.parameters()} == {"meta"}
    assert parameters_of(reference) == published
    assert gf.count(name).total.parameters == published
    assert parameters_of(gf.build(name, device="meta")) == published


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_source_names_the_class_that_was_counted(name: str) -> None:
    _, source = PUBLISHED[name]
    assert REFERENCES[name].model in source or source.startswith(("torchvision", "timm"))


@pytest.mark.slow  # importing the reference models takes several seconds
def test_the_tables_of_marian_are_frozen_parameters_there_and_buffers_here(transformers: ModuleType) -> None:
    reference, total = on_meta(transformers, MARIAN), gf.count("marian-base").total
    frozen = sum(parameter.numel() for parameter in reference.parameters() if not parameter.requires_grad)
    assert parameters_of(reference) == total.parameters + total.buffers == 74_410_496
    assert frozen == total.buffers == 2 * 512 * 512
    assert parameters_of(reference) - frozen == total.trained


def test_shakespeare_char_without_positions_is_what_nanogpt_prints() -> None:
    ledger = gf.count("shakespeare-char")
    positions = ledger.part("decoder.positions").trained
    assert positions == 256 * 384
    assert ledger.total.trained == 10_745_088
    assert ledger.total.trained - positions == 10_646_784
    assert f"{(ledger.total.trained - positions) / 1e6:.2f}M" == "10.65M"
