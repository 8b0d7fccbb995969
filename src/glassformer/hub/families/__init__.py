"""The families of models that can be read and written, one file each: a map of names and a map of configurations."""

from __future__ import annotations

from glassformer.hub.families.bart import BART, PEGASUS
from glassformer.hub.families.bert import BERT, ROBERTA
from glassformer.hub.families.gpt2 import GPT2
from glassformer.hub.families.llama import LLAMA, MISTRAL, QWEN2, QWEN3
from glassformer.hub.families.marian import MARIAN
from glassformer.hub.families.t5 import T5
from glassformer.hub.families.vit import DEIT, VIT
from glassformer.hub.family import Family

FAMILIES: dict[str, Family] = {
    "bert": BERT,
    "roberta": ROBERTA,
    "gpt2": GPT2,
    "llama": LLAMA,
    "mistral": MISTRAL,
    "qwen2": QWEN2,
    "qwen3": QWEN3,
    "t5": T5,
    "bart": BART,
    "pegasus": PEGASUS,
    "marian": MARIAN,
    "vit": VIT,
    "deit": DEIT,
}
