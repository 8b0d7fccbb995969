"""The sizes of the named models: as published, and as counted from the configuration."""

from __future__ import annotations

from typing import Any

from glassformer.ledger.parameters import count
from glassformer.models.presets import PRESETS
from glassformer.words import say

# preset → parameters as counted by the reference implementation, and which one. Only exactly known sizes are listed.
PUBLISHED: dict[str, tuple[int, str]] = {
    "bert-base": (109_482_240, "transformers BertModel, bert-base-uncased"),
    "bert-large": (335_141_888, "transformers BertModel, bert-large-uncased"),
    "gpt2": (124_439_808, "transformers GPT2LMHeadModel, gpt2"),
    "gpt2-medium": (354_823_168, "transformers GPT2LMHeadModel, gpt2-medium"),
    "gpt2-large": (774_030_080, "transformers GPT2LMHeadModel, gpt2-large"),
    "gpt2-xl": (1_557_611_200, "transformers GPT2LMHeadModel, gpt2-xl"),
    "llama2-7b": (6_738_415_616, "transformers LlamaForCausalLM, Llama-2-7b"),
    "llama3-8b": (8_030_261_248, "transformers LlamaForCausalLM, Meta-Llama-3-8B"),
    "llama3-70b": (70_553_706_496, "transformers LlamaForCausalLM, Meta-Llama-3-70B"),
    "llama3-405b": (405_853_388_800, "transformers LlamaForCausalLM, Llama-3.1-405B"),
    "mistral-7b": (7_241_732_096, "transformers MistralForCausalLM, Mistral-7B-v0.1"),
    "qwen3-0.6b": (596_049_920, "transformers Qwen3ForCausalLM, Qwen3-0.6B"),
    "t5-small": (60_506_624, "transformers T5ForConditionalGeneration, t5-small"),
    "t5-base": (222_903_552, "transformers T5ForConditionalGeneration, t5-base"),
    "bart-base": (139_420_416, "transformers BartModel, bart-base"),
    "vit-b16": (86_567_656, "torchvision vit_b_16; timm vit_base_patch16_224"),
    "deit-tiny": (5_717_416, "timm deit_tiny_patch16_224"),
}


def run() -> dict[str, Any]:
    """Published and counted, for every named model whose size is known exactly."""
    return {
        "rows": [
            {
                "preset": name,
                "published": published,
                "counted": count(name, PRESETS[name]()).total.parameters,
                "source": source,
            }
            for name, (published, source) in PUBLISHED.items()
        ]
    }


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Rows of text for the docs."""
    lines = [[say(f"columns.{key}", lang) for key in ("preset", "published", "counted", "difference", "source")]]
    for row in numbers["rows"]:
        gap = row["counted"] - row["published"]
        lines.append([row["preset"], f"{row['published']:,}", f"{row['counted']:,}", str(gap), row["source"]])
    return lines
