"""A trained model with its large matrices in 8 bits, for use only: a quarter of the memory."""

from __future__ import annotations

import ctypes
from contextlib import suppress

from torch import nn

from glassformer.layers.embedding import TokenEmbedding, token_matrix
from glassformer.layers.head import LanguageModelHead
from glassformer.layers.int8 import Int8LanguageModelHead, Int8Linear, Int8TokenEmbedding
from glassformer.models.block import Block
from glassformer.models.decoder import DecoderOnly
from glassformer.models.encoder import EncoderOnly
from glassformer.models.encoder_decoder import EncoderDecoder


def quantize(model: nn.Module) -> nn.Module:
    """The same model: every linear layer of its blocks, its token embeddings and its language model head in 8 bits.

    One matrix after the other, in place. All the rest, which is small, becomes float32: norms, biases, positions, what
    reads patches, and heads for classes and numbers, whose error would be the answer's.
    """
    assert isinstance(model, EncoderOnly | DecoderOnly | EncoderDecoder)
    head, target = model.head, model.embedding
    if isinstance(model, EncoderDecoder) and model.target_embedding is not None:
        target = model.target_embedding
    if isinstance(head, LanguageModelHead):
        matrix = token_matrix(target) if head.weight is None else head.weight
        assert matrix is not None
        model.head = Int8LanguageModelHead(head, matrix)
        head.weight = None
    for block in [module for module in model.modules() if isinstance(module, Block)]:
        for box in [*block.modules()]:
            for name, layer in box.named_children():
                if isinstance(layer, nn.Linear):
                    setattr(box, name, Int8Linear(layer.weight, layer.bias))
    if isinstance(model.embedding, TokenEmbedding):
        model.embedding = Int8TokenEmbedding(model.embedding)
    if isinstance(model, EncoderDecoder) and isinstance(model.target_embedding, TokenEmbedding):
        model.target_embedding = Int8TokenEmbedding(model.target_embedding)
    model = model.float().requires_grad_(False).eval()
    _give_back()
    return model


def _give_back() -> None:
    """The wide matrices are gone, but the C library of Linux keeps their memory for later unless it is asked."""
    with suppress(AttributeError, OSError, TypeError):  # another system
        ctypes.CDLL(None).malloc_trim(0)


def is_quantized(model: nn.Module) -> bool:
    return any(isinstance(module, Int8Linear) for module in model.modules())
