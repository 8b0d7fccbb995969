"""Attention: the equation (kernel), who may look at whom (mask), many heads (multi_head), the KV cache (cache)."""

from glassformer.layers.attention.cache import Cache, KeyValues, LayerCache
from glassformer.layers.attention.kernel import KERNELS
from glassformer.layers.attention.mask import Mask
from glassformer.layers.attention.multi_head import MultiHeadAttention

__all__ = ["KERNELS", "Cache", "KeyValues", "LayerCache", "Mask", "MultiHeadAttention"]
