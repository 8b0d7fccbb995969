"""Decoding against Hugging Face's `generate`: same sizes, random weights, every sentence decoded to full length."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from glassformer.bench.peers import BOS, EOS, HuggingFaceMarian
from glassformer.bench.peers import StepSetting as Sizes
from glassformer.bench.references import need_transformers
from glassformer.bench.timing import device_here, interleaved, spread, summary
from glassformer.bench.training_step import paper_model
from glassformer.decoding import Beams, Limits, beam_search, greedy
from glassformer.models.build import build
from glassformer.words import say

SENTENCES = 128


class DecodingSetting(NamedTuple):
    """The model, the number of sentences in a batch, and the tokens to decode for each."""

    sizes: Sizes
    batch: int
    tokens: int
    rounds: int


SETTINGS = {
    "cpu": DecodingSetting(Sizes(0, 20, 256, 3, 1024, 8, 8000, 0), batch=32, tokens=20, rounds=5),
    "cuda": DecodingSetting(Sizes(0, 32, 512, 6, 2048, 8, 32768, 0), batch=128, tokens=32, rounds=5),
}


def run() -> dict[str, Any]:
    """Beam 1 and beam 4; the two libraries take turns."""
    need_transformers("decoding")
    device = device_here()
    setting = SETTINGS[device]
    source, mask = _sentences(setting, device)
    theirs = _theirs(setting, device)
    rows = []
    for beam in (1, 4):
        passes: dict[str, Callable[[], object]] = {
            "glassformer": partial(_ours(setting, device), source, mask, beam),
            "marian": partial(theirs, source, mask, beam),
        }
        seconds = interleaved(passes, rounds=setting.rounds, warm_up=1, device=device)
        rows.append({"beam": beam, "seconds": {name: summary(times) for name, times in seconds.items()}})
    return {"device": device, "sentences": SENTENCES, "tokens": setting.tokens, "rows": rows}


def _sentences(setting: DecodingSetting, device: str) -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    length = setting.sizes.length
    lengths = torch.randint(length // 2, length + 1, (SENTENCES,))
    lengths[::8] = length
    mask = torch.arange(length)[None] < lengths[:, None]  # b s
    source = torch.randint(3, setting.sizes.vocab_size, (SENTENCES, length)).masked_fill(~mask, 0)
    return source.to(device), mask.to(device)


def _ours(setting: DecodingSetting, device: str) -> Callable[[Tensor, Tensor, int], None]:
    model = build(paper_model(setting.sizes), seed=0, device=device, dtype=_dtype(device)).eval()
    limits = Limits(eos=EOS, bos=BOS, forbidden=(EOS,), max_len=setting.tokens)

    def decode(source: Tensor, mask: Tensor, beam: int) -> None:
        for some, real in zip(source.split(setting.batch), mask.split(setting.batch), strict=True):
            if beam == 1:
                greedy(model, some, real, limits=limits)
            else:
                beam_search(model, some, real, limits=limits, beams=Beams(width=beam))

    return decode


def _theirs(setting: DecodingSetting, device: str) -> Callable[[Tensor, Tensor, int], None]:
    torch.manual_seed(0)
    model: Any = HuggingFaceMarian(setting.sizes).body.eval().to(device, _dtype(device))

    def decode(source: Tensor, mask: Tensor, beam: int) -> None:
        for some, real in zip(source.split(setting.batch), mask.split(setting.batch), strict=True):
            model.generate(
                input_ids=some,
                attention_mask=real.long(),
                num_beams=beam,
                max_new_tokens=setting.tokens,
                min_new_tokens=setting.tokens,
                do_sample=False,
                suppress_tokens=[EOS],
            )

    return decode


def _dtype(device: str) -> torch.dtype:
    return torch.bfloat16 if device == "cuda" else torch.float32


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Time ÷ ours; on an accelerator also sentences per second."""
    lines = [
        [say(f"columns.{key}", lang) for key in ("device", "beam", "model", "against_ours", "spread", "sentences")]
    ]
    for row in numbers["rows"]:
        base = row["seconds"]["glassformer"]["median"]
        for name, seconds in row["seconds"].items():
            speed = f"{numbers['sentences'] / seconds['median']:,.0f}" if numbers["device"] == "cuda" else "–"
            label = say(f"bench.peers.{name}", lang)
            cells = [str(row["beam"]), label, f"{seconds['median'] / base:.2f}", spread(seconds, base), speed]
            lines.append([numbers["device"], *cells])
    return lines
