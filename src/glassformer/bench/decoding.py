"""Decoding against Hugging Face's `generate` and CTranslate2: random weights, every sentence decoded to full length.

`generate` has a model of the same sizes, CTranslate2 our very weights: its tokens must be ours before it is timed. All
get sentences of similar length together.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from glassformer.bench.peers import BOS, EOS, HuggingFaceMarian
from glassformer.bench.peers import StepSetting as Sizes
from glassformer.bench.references import need_transformers
from glassformer.bench.timing import device_here, interleaved, spread, summary
from glassformer.bench.training_step import paper_model
from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.decoding import Beams, Hypothesis, Limits, beam_search, greedy
from glassformer.decoding.side_by_side import side_by_side
from glassformer.decoding.step import evaluating
from glassformer.errors import InputError
from glassformer.hub.ctranslate2 import CTRANSLATE2, TokenNames, write_model
from glassformer.hub.ctranslate2_spec import specify
from glassformer.models.build import build
from glassformer.words import say

Decoding = Callable[[Tensor, Tensor, int], list[list[int]]]  # source, mask, beams → tokens of the best

BATCHES_AT_ONCE = {CTRANSLATE2: False, f"{CTRANSLATE2}_at_once": True}  # all cores for a batch, or a core for each
SENTENCES = 128
ALPHA = 0.6


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
    """Beam 1 and beam 4; the libraries take turns. CTranslate2 is left out, and named, where it is not installed."""
    need_transformers("decoding")
    device = device_here()
    setting = SETTINGS[device]
    source, mask = _sentences(setting, device)
    model = _model(setting, device)
    ours, theirs = _ours(model, setting), _theirs(setting, device)
    has_engine = device == "cpu" and importlib.util.find_spec(CTRANSLATE2) is not None
    rows = []
    with ctranslate2_beside(model, setting) if has_engine else nullcontext() as engine:
        for beam in (1, 4):
            passes: dict[str, Callable[[], object]] = {
                "glassformer": partial(ours, source, mask, beam),
                "marian": partial(theirs, source, mask, beam),
            }
            if engine is not None:
                for name, at_once in BATCHES_AT_ONCE.items():
                    check_equal(ours(source, mask, beam), engine(source, mask, beam, at_once))
                    passes[name] = partial(engine, source, mask, beam, at_once)
            seconds = interleaved(passes, rounds=setting.rounds, warm_up=1, device=device)
            rows.append({"beam": beam, "seconds": {name: summary(times) for name, times in seconds.items()}})
    absent = [CTRANSLATE2] if device == "cpu" and not has_engine else []
    return {"device": device, "sentences": SENTENCES, "tokens": setting.tokens, "rows": rows, "absent": absent}


def _sentences(setting: DecodingSetting, device: str) -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    length = setting.sizes.length
    lengths = torch.randint(length // 2, length + 1, (SENTENCES,))
    lengths[::8] = length
    mask = torch.arange(length)[None] < lengths[:, None]  # b s
    source = torch.randint(3, setting.sizes.vocab_size, (SENTENCES, length)).masked_fill(~mask, 0)
    return source.to(device), mask.to(device)


class SortedBatch(NamedTuple):
    """Sentences of similar length, no wider than the longest, and which they are."""

    order: Tensor
    source: Tensor
    mask: Tensor


def sorted_batches(source: Tensor, mask: Tensor, size: int) -> list[SortedBatch]:
    """By length, for every library alike."""
    lengths = mask.sum(1)
    batches = []
    for order in lengths.argsort(stable=True).split(size):
        width = int(lengths[order].max())
        batches.append(SortedBatch(order, source[order, :width], mask[order, :width]))
    return batches


def _config(setting: DecodingSetting) -> ModelConfig:
    return replace(paper_model(setting.sizes), head=Choice("language_model", {"bias": True}))


def _model(setting: DecodingSetting, device: str) -> nn.Module:
    """Its bias rules out the end of a sentence: forbidding it leaves the others' probabilities as they are here, but
    not in CTranslate2.
    """
    model = build(_config(setting), seed=0, device=device, dtype=_dtype(device)).eval()
    model.get_parameter("head.bias").data[EOS] = -1e4
    return model


def _ours(model: nn.Module, setting: DecodingSetting) -> Decoding:
    limits = Limits(eos=EOS, bos=BOS, forbidden=(EOS,), max_len=setting.tokens)

    def decode(source: Tensor, mask: Tensor, beam: int) -> list[list[int]]:
        beams = Beams(width=beam, length_norm="power", alpha=ALPHA, stop="first")

        def search(batch: SortedBatch) -> list[list[Hypothesis]]:
            if beam == 1:
                return greedy(model, batch.source, batch.mask, limits=limits)
            return beam_search(model, batch.source, batch.mask, limits=limits, beams=beams)

        batches = sorted_batches(source, mask, setting.batch)
        with evaluating(model):
            best = side_by_side(search, batches, source.device)  # as `translate` does
        order = chain.from_iterable(batch.order.tolist() for batch in batches)
        found = dict(zip(order, chain.from_iterable(best), strict=True))
        return [found[sentence][0].tokens for sentence in range(len(source))]

    return decode


@contextmanager
def ctranslate2_beside(
    model: nn.Module, setting: DecodingSetting
) -> Iterator[Callable[[Tensor, Tensor, int, bool], list[list[int]]]]:
    """The same weights through our export, in float32, on as many cores; it sorts the sentences by length itself.

    In a process of its own: the threads of both together would be more than the cores, and torch's would then go to
    sleep at every step, which makes it a third slower.
    """
    names = TokenNames.numbered(setting.sizes.vocab_size, bos=BOS, eos=EOS)
    processes = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
    with tempfile.TemporaryDirectory() as folder, processes:
        write_model(specify(_config(setting), model.state_dict().__getitem__), names, Path(folder))

        def decode(source: Tensor, mask: Tensor, beam: int, at_once: bool) -> list[list[int]]:
            rows = [[str(token) for token in row[real].tolist()] for row, real in zip(source, mask, strict=True)]
            cores = torch.get_num_threads()
            inter, intra = (cores, 1) if at_once else (1, cores)
            return processes.submit(_translated, folder, inter, intra, rows, setting, beam).result()

        yield decode


def _translated(
    folder: str, inter: int, intra: int, rows: list[list[str]], setting: DecodingSetting, beam: int
) -> list[list[int]]:
    results = _engine(folder, inter, intra).translate_batch(
        rows,
        beam_size=beam,
        length_penalty=ALPHA,
        max_batch_size=setting.batch,
        min_decoding_length=setting.tokens,
        max_decoding_length=setting.tokens,
    )
    return [[int(token) for token in result.hypotheses[0]] for result in results]


@cache
def _engine(folder: str, inter: int, intra: int) -> Any:
    import ctranslate2

    return ctranslate2.Translator(folder, inter_threads=inter, intra_threads=intra, compute_type="float32")


def check_equal(ours: list[list[int]], theirs: list[list[int]]) -> None:
    """Raises if the two do not write the same: then there is nothing to compare."""
    different = sum(mine != other for mine, other in zip(ours, theirs, strict=True))
    if different:
        raise InputError("bench_other_tokens", count=different, total=len(ours), peer=CTRANSLATE2)


def _theirs(setting: DecodingSetting, device: str) -> Callable[[Tensor, Tensor, int], None]:
    torch.manual_seed(0)
    model: Any = HuggingFaceMarian(setting.sizes).body.eval().to(device, _dtype(device))

    def decode(source: Tensor, mask: Tensor, beam: int) -> None:
        for batch in sorted_batches(source, mask, setting.batch):
            model.generate(
                input_ids=batch.source,
                attention_mask=batch.mask.long(),
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
    for name in numbers.get("absent", []):
        missing = say("bench.not_installed", lang)
        lines.append([numbers["device"], "–", say(f"bench.peers.{name}", lang), missing, "–", "–"])
    return lines
