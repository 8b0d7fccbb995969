"""Other people's encoder-decoders in the sizes of a step, each as its own documentation recommends it.

None computes quite the same as the paper's model (other positions, a bias of the logits, no biases in attention): the
sizes are the same, and the work. torch's own computes the same once it has our positions: see `from_torch`.
Dropout is where ours is: on the embeddings and on what each sub-layer adds, unless a library has no such place.
"""

from __future__ import annotations

import math
import warnings
from importlib.util import find_spec
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PAD, BOS, EOS = 0, 1, 2
TABLE_OF_POSITIONS = 512


class StepSetting(NamedTuple):
    """The sizes of a step, and how often it is timed."""

    batch: int
    length: int
    d_model: int
    n_layers: int  # in the encoder, and in the decoder
    d_ff: int
    n_heads: int
    vocab_size: int
    rounds: int
    dropout: float = 0.1


class TorchTransformer(nn.Module):
    """nn.Transformer with tied embeddings and learned positions, as people usually write it."""

    def __init__(self, setting: StepSetting, *, pre_norm: bool = False) -> None:
        super().__init__()
        d, depth, rate = setting.d_model, setting.n_layers, setting.dropout
        self.embedding = nn.Embedding(setting.vocab_size, d)
        nn.init.normal_(self.embedding.weight, std=d**-0.5)
        self.positions = nn.Parameter(torch.randn(TABLE_OF_POSITIONS, d) * 0.02)
        self.drop = nn.Dropout(rate)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="enable_nested_tensor")  # concerns evaluation alone
            self.body = nn.Transformer(
                d, setting.n_heads, depth, depth, setting.d_ff, dropout=rate, batch_first=True, norm_first=pre_norm
            )
        for module in self.body.modules():  # inside the sub-layers ours has none
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            if isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                module.dropout.p = 0.0

    def forward(self, source: Tensor, target: Tensor, real: Tensor | None = None) -> Tensor:
        """`real`: b s, False where the source is padded; the target's padding comes after all that is learned."""
        look = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
        hidden = None if real is None else torch.zeros_like(real, dtype=look.dtype).masked_fill(~real, -math.inf)
        y = self.body(
            self._enter(source),
            self._enter(target),
            tgt_mask=look,
            tgt_is_causal=True,
            src_key_padding_mask=hidden,
            memory_key_padding_mask=hidden,
        )
        return F.linear(y, self.embedding.weight)

    def _enter(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) * math.sqrt(self.embedding.weight.shape[1])
        return self.drop(x + self.positions[: tokens.shape[1]])


def from_torch(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a `TorchTransformer` under our names; its q, k and v are one matrix, one above the other."""
    found = {"embedding.weight": tensors["embedding.weight"]}
    for path, tensor in tensors.items():
        if not path.startswith("body."):
            continue
        stack, *inside = path.removeprefix("body.").split(".")
        if inside[0] == "norm":
            found[f"{stack}.final_norm.{inside[1]}"] = tensor
            continue
        _, layer, part, *last = inside
        block = f"{stack}.blocks.{layer}"
        if last and last[0].startswith("in_proj"):
            kind = last[0].removeprefix("in_proj_")
            for each, rows in zip("qkv", tensor.chunk(3), strict=True):
                found[f"{block}.{INSIDE[stack][part]}.w_{each}.{kind}"] = rows
        else:
            box = INSIDE[stack][part] + (".w_o" if last[0] == "out_proj" else "")
            found[f"{block}.{box}.{last[-1]}"] = tensor
    return found


FEED_FORWARD = {"linear1": "feed_forward.w_1", "linear2": "feed_forward.w_2"}
ATTENTION = {"self_attn": "self_attention", "norm1": "self_attention_norm"}
INSIDE = {  # torch's name of a part of a block → ours
    "encoder": {**ATTENTION, **FEED_FORWARD, "norm2": "feed_forward_norm"},
    "decoder": {
        **ATTENTION,
        "multihead_attn": "cross_attention",
        "norm2": "cross_attention_norm",
        **FEED_FORWARD,
        "norm3": "feed_forward_norm",
    },
}


class HuggingFaceMarian(nn.Module):
    """Hugging Face's Marian: the most used version of the paper's model."""

    def __init__(self, setting: StepSetting) -> None:
        super().__init__()
        from transformers import MarianConfig, MarianMTModel

        config = MarianConfig(
            vocab_size=setting.vocab_size,
            d_model=setting.d_model,
            encoder_layers=setting.n_layers,
            decoder_layers=setting.n_layers,
            encoder_ffn_dim=setting.d_ff,
            decoder_ffn_dim=setting.d_ff,
            encoder_attention_heads=setting.n_heads,
            decoder_attention_heads=setting.n_heads,
            activation_function="relu",
            max_position_embeddings=TABLE_OF_POSITIONS,
            dropout=setting.dropout,
            pad_token_id=PAD,
            eos_token_id=EOS,
            bos_token_id=BOS,
            decoder_start_token_id=BOS,
            forced_eos_token_id=None,
            scale_embedding=True,
        )
        self.body = MarianMTModel(config)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        logits: Tensor = self.body(input_ids=source, decoder_input_ids=target, use_cache=False).logits
        return logits


class XTransformers(nn.Module):
    """x-transformers, post-norm with ReLU and its fused attention.

    It has no dropout on what a sub-layer adds; the rate is that inside the feed-forward network instead.
    """

    def __init__(self, setting: StepSetting) -> None:
        super().__init__()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="`torch.jit.script` is deprecated")
            from x_transformers import Decoder, Encoder, TransformerWrapper

        d, heads, rate = setting.d_model, setting.n_heads, setting.dropout

        def stack(kind: type[nn.Module], *, cross_attend: bool) -> nn.Module:
            return kind(
                dim=d,
                depth=setting.n_layers,
                heads=heads,
                attn_dim_head=d // heads,
                ff_mult=setting.d_ff / d,
                ff_custom_activation=nn.ReLU(),
                ff_dropout=rate,
                pre_norm=False,
                attn_flash=True,
                cross_attend=cross_attend,
            )

        def whole(layers: nn.Module) -> nn.Module:
            size, most = setting.vocab_size, TABLE_OF_POSITIONS
            made: nn.Module = TransformerWrapper(
                num_tokens=size, max_seq_len=most, emb_dropout=rate, tie_embedding=True, attn_layers=layers
            )
            return made

        self.encoder = whole(stack(Encoder, cross_attend=False))
        self.decoder = whole(stack(Decoder, cross_attend=True))
        self.decoder.token_emb = self.encoder.token_emb

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory = self.encoder(source, return_embeddings=True)
        logits: Tensor = self.decoder(target, context=memory)
        return logits


PEERS: dict[str, type[nn.Module]] = {
    "torch": TorchTransformer,
    "marian": HuggingFaceMarian,
    "x_transformers": XTransformers,
}
PACKAGES = {"marian": "transformers", "x_transformers": "x_transformers"}


def is_installed(peer: str) -> bool:
    return peer not in PACKAGES or find_spec(PACKAGES[peer]) is not None
