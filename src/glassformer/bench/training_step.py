"""A training step of an encoder-decoder, against torch's own nn.Transformer and Hugging Face's Marian.

Same sizes, same batch, same loss, clipping and Adam; all take turns in one run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glassformer.bench.references import need_transformers
from glassformer.bench.timing import device_here, interleaved, spread, summary
from glassformer.config.model import ModelConfig
from glassformer.config.recipe import TrainConfig
from glassformer.config.values import Choice
from glassformer.data.batch import PairBatch
from glassformer.losses import make_loss
from glassformer.models.build import build
from glassformer.tasks.translation.task import Translation
from glassformer.text import Frame
from glassformer.training.compile import compile_parts
from glassformer.training.meter import Meter
from glassformer.training.optimizer import make_optimizer
from glassformer.training.precision import LossScale
from glassformer.training.step import Stepper
from glassformer.words import say

PAD, BOS, EOS = 0, 1, 2


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


SETTINGS = {
    "cpu": StepSetting(64, 24, 256, 3, 1024, 4, 8000, 15),
    "cuda": StepSetting(768, 32, 512, 6, 2048, 8, 32768, 20),
}


class TorchTransformer(nn.Module):
    """nn.Transformer with tied embeddings and learned positions, as people usually write it."""

    def __init__(self, setting: StepSetting) -> None:
        super().__init__()
        d = setting.d_model
        self.embedding = nn.Embedding(setting.vocab_size, d)
        nn.init.normal_(self.embedding.weight, std=d**-0.5)
        self.positions = nn.Parameter(torch.randn(512, d) * 0.02)
        depth = setting.n_layers
        self.body = nn.Transformer(d, setting.n_heads, depth, depth, setting.d_ff, dropout=0.1, batch_first=True)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        t = target.shape[1]
        look = nn.Transformer.generate_square_subsequent_mask(t, device=target.device)
        y = self.body(self._enter(source), self._enter(target), tgt_mask=look, tgt_is_causal=True)
        return F.linear(y, self.embedding.weight)

    def _enter(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) * math.sqrt(self.embedding.weight.shape[1])
        return x + self.positions[: tokens.shape[1]]


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
            max_position_embeddings=512,
            dropout=0.1,
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


PEERS: dict[str, type[nn.Module]] = {"torch": TorchTransformer, "marian": HuggingFaceMarian}


def paper_model(setting: StepSetting) -> ModelConfig:
    """The paper's model in these sizes, with one matrix for both embeddings and the output."""
    return ModelConfig(
        vocab_size=setting.vocab_size,
        d_model=setting.d_model,
        n_heads=setting.n_heads,
        d_ff=setting.d_ff,
        n_encoder_layers=setting.n_layers,
        n_decoder_layers=setting.n_layers,
        max_len=512,
        tie_embeddings="all",
        head=Choice("language_model"),
    )


def ours(setting: StepSetting, device: str, compiled: bool) -> Callable[[], None]:
    """A step of the training loop itself, on one batch."""
    config = replace(paper_model(setting), dropout=0.1, attention_dropout=0.0, feed_forward_dropout=0.0)
    train = TrainConfig(clip=1.0)
    model = build(config, seed=0, device=device).train()
    loss = make_loss("cross_entropy", {"smoothing": 0.1})
    task: Any = Translation(pad=PAD, source=Frame(end=EOS), target=Frame(BOS, EOS), criterion=loss)
    task = compile_parts(model, task) if compiled else task
    place = torch.device(device)
    stepper = Stepper(
        model=model,
        task=task,
        optimizer=make_optimizer(model, train),
        loss_scale=LossScale(_precision(device), place),
        meter=Meter(place),
        device=place,
        precision=_precision(device),
        clip=1.0,
    )
    source, target, labels = _tokens(setting, device)
    batch = PairBatch(source, None, target, labels, labels.numel())
    return lambda: stepper.take_step([batch], 1e-4)


def peer(name: str, setting: StepSetting, device: str, compiled: bool) -> Callable[[], None]:
    """The same step around another model, with torch's own loss, clipping and fused Adam."""
    torch.manual_seed(0)
    module = PEERS[name](setting).to(device).train()
    model: Any = torch.compile(module) if compiled else module
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    source, target, labels = _tokens(setting, device)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            loss = F.cross_entropy(model(source, target).flatten(0, 1), labels.flatten(), label_smoothing=0.1)
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()

    return step


def _tokens(setting: StepSetting, device: str) -> tuple[Tensor, ...]:
    shape = (setting.batch, setting.length)
    return tuple(torch.randint(3, setting.vocab_size, shape, device=device) for _ in range(3))


def _precision(device: str) -> str:
    return "bf16" if device == "cuda" else "float32"


def run() -> dict[str, Any]:
    """Ours and the peers, eager; on an accelerator compiled too."""
    need_transformers("training-step")
    device = device_here()
    setting, rows = SETTINGS[device], []
    for compiled in (True, False) if device == "cuda" else (False,):
        torch.compiler.reset()
        steps = {"glassformer": ours(setting, device, compiled)}
        rivals = [name for name in PEERS if not compiled or name == "marian"]  # compiling does not help nn.Transformer
        steps |= {name: peer(name, setting, device, compiled) for name in rivals}
        seconds = interleaved(steps, rounds=setting.rounds, warm_up=4, device=device)
        rows.append({"compiled": compiled, "seconds": {name: summary(times) for name, times in seconds.items()}})
    return {"device": device, "setting": setting._asdict(), "rows": rows}


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Time of a step ÷ ours; on an accelerator also target tokens per second."""
    tokens = numbers["setting"]["batch"] * numbers["setting"]["length"]
    lines = [[say(f"columns.{key}", lang) for key in ("device", "mode", "model", "against_ours", "spread", "speed")]]
    for row in numbers["rows"]:
        base = row["seconds"]["glassformer"]["median"]
        mode = say("bench.compiled" if row["compiled"] else "bench.eager", lang)
        for name, seconds in row["seconds"].items():
            speed = f"{tokens / seconds['median']:,.0f}" if numbers["device"] == "cuda" else "–"
            label = say(f"bench.peers.{name}", lang)
            ratio = f"{seconds['median'] / base:.2f}"
            lines.append([numbers["device"], mode, label, ratio, spread(seconds, base), speed])
    return lines
