"""Models of Hugging Face that have learned something, imported: `generate` there and here, token for token."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glassformer.bench.references import quiet
from glassformer.decoding import Beams, Hypothesis, Limits, beam_search, greedy
from glassformer.hub.open import open_foreign
from marks import two_by_two

pytestmark = pytest.mark.slow

PAD, BOS, EOS, VOCABULARY = 0, 1, 2, 24
MOST, SENTENCES, WIDEST = 8, 200, 9
STOPS: dict[str, Any] = {"first": True, "bound": False, "exhaustive": "never"}
ALPHAS, BEAMS = (0.0, 0.6, 1.0, 2.0), (4, 5)
SPECIAL = {"pad_token_id": PAD, "bos_token_id": BOS, "eos_token_id": EOS}


class Learner(NamedTuple):
    """A class of `transformers`, its configuration, what its decoder starts with, and how many steps it learns."""

    architecture: str
    options: dict[str, Any]
    start: int | None
    steps: int


BART = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 40,
    "dropout": 0.0,
    "forced_eos_token_id": None,  # a rule of their generation, not of the model
}
LEARNERS = {
    "gpt2": Learner(
        "GPT2LMHeadModel",
        {"vocab_size": VOCABULARY, "n_positions": 40, "n_embd": 32, "n_layer": 2, "n_head": 4}
        | dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0),
        None,
        160,
    ),
    "llama": Learner(
        "LlamaForCausalLM",
        {"vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
        | {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 40},
        None,
        160,
    ),
    "t5": Learner(
        "T5ForConditionalGeneration",
        {"vocab_size": VOCABULARY, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
        | {"relative_attention_num_buckets": 16, "relative_attention_max_distance": 20, "dropout_rate": 0.0},
        PAD,
        300,
    ),
    "bart": Learner("BartForConditionalGeneration", BART, EOS, 160),
    "marian": Learner(
        "MarianMTModel",
        BART | {"scale_embedding": True, "decoder_vocab_size": VOCABULARY, "init_std": 0.15},
        PAD,
        160,
    ),
}


def batch(seed: int, rows: int, *, left: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Sources of 1 to 9 tokens, b s, their mask, and the targets: the same backwards, then EOS.

    Padding stands in front for a decoder alone; for an encoder behind, where their positions are ours.
    """
    random = torch.Generator().manual_seed(seed)
    words = torch.randint(3, VOCABULARY, (rows, WIDEST), generator=random)
    lengths = torch.randint(1, WIDEST + 1, (rows, 1), generator=random)
    mask, at = torch.arange(WIDEST)[None, :] >= WIDEST - lengths, torch.arange(WIDEST + 1)[None, :]
    target = torch.cat([words.flip(1), torch.full((rows, 1), PAD)], 1)
    target = target.masked_fill(at > lengths, PAD).masked_fill(at == lengths, EOS)
    if not left:
        order = mask.long().argsort(dim=1, descending=True, stable=True)
        words, mask = words.gather(1, order), mask.gather(1, order)
    return words.masked_fill(~mask, PAD), mask, target


def logits_of(model: Any, start: int | None, source: Tensor, mask: Tensor, target: Tensor) -> Tensor:
    begin = torch.full((len(source), 1), BOS if start is None else start)
    given = torch.cat([begin, target[:, :-1]], 1)
    if start is not None:
        return model(input_ids=source, attention_mask=mask.long(), decoder_input_ids=given, use_cache=False).logits
    whole = torch.cat([mask, torch.ones_like(given, dtype=torch.bool)], 1).long()
    places = (whole.cumsum(1) - 1).clamp(min=0)
    text = torch.cat([source, given], 1)
    return model(text, attention_mask=whole, position_ids=places, use_cache=False).logits[:, WIDEST:]


@cache
def learned(family: str) -> nn.Module:
    """A small model that learns to write backwards for some seconds: untrained ones repeat one token for ever.

    It is stopped long before it is sure, so that beams differ and end at different lengths.
    """
    import transformers

    learner = LEARNERS[family]
    kind: Any = getattr(transformers, learner.architecture)
    started = {} if learner.start is None else {"decoder_start_token_id": learner.start}
    torch.manual_seed(4)
    model: nn.Module = kind(kind.config_class(**learner.options, **SPECIAL, **started)).train()
    optimizer = torch.optim.Adam((weight for weight in model.parameters() if weight.requires_grad), lr=3e-3)
    for step in range(learner.steps):
        source, mask, target = batch(step, 48, left=learner.start is None)
        logits = logits_of(model, learner.start, source, mask, target)
        F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD).backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.eval()


class Sides(NamedTuple):
    """The same model twice, in float64: as Hugging Face opens its folder, and imported."""

    theirs: Any
    ours: nn.Module
    source: Tensor
    mask: Tensor
    start: int | None

    @property
    def limits(self) -> Limits:
        return Limits(bos=self.start, eos=EOS, forbidden=(PAD, BOS), max_len=MOST)


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Sides]:
    @cache
    def both(family: str) -> Sides:
        folder: Path = tmp_path_factory.mktemp(family)
        model: Any = learned(family)
        with quiet():
            model.save_pretrained(folder)
            theirs = type(model).from_pretrained(folder, dtype=torch.float64).eval()
        start = LEARNERS[family].start
        source, mask, _ = batch(10**6, SENTENCES, left=start is None)
        if start is None:  # a decoder alone is told by BOS where the source ends
            end = torch.full((SENTENCES, 1), BOS)
            source, mask = torch.cat([source, end], 1), torch.cat([mask, end > 0], 1)
        return Sides(theirs, open_foreign(folder, dtype=torch.float64).model.eval(), source, mask, start)

    return both


def generated(sides: Sides, **options: Any) -> tuple[list[list[int]], list[float]]:
    """New tokens up to the end, and scores, of every returned sequence of theirs."""
    found = sides.theirs.generate(
        input_ids=sides.source,
        attention_mask=sides.mask.long(),
        max_new_tokens=MOST,
        do_sample=False,
        suppress_tokens=[PAD, BOS],
        return_dict_in_generate=True,
        output_scores=True,
        **options,
    )
    given = sides.source.shape[1] if sides.start is None else 1
    rows = [row[given:] for row in found.sequences.tolist()]
    scores = found.get("sequences_scores")
    return [
        row[: row.index(EOS)] if EOS in row else row[:MOST] for row in rows
    ], [] if scores is None else scores.tolist()


def searched(sides: Sides, n_best: int = 1, **options: Any) -> list[Hypothesis]:
    beams = Beams(length_norm="power", **options)
    found = beam_search(sides.ours, sides.source, sides.mask, limits=sides.limits, beams=beams, n_best=n_best)
    return [hypothesis for best in found for hypothesis in best]


@pytest.mark.parametrize("family", LEARNERS)
def test_the_inputs_end_at_different_lengths(sides: Callable[[str], Sides], family: str) -> None:
    found = searched(sides(family), width=4, alpha=1.0, stop="bound")
    assert len(found) == SENTENCES
    assert len({len(each.tokens) for each in found}) >= 7
    assert len({tuple(each.tokens) for each in found}) >= 150
    assert 10 <= sum(not each.finished for each in found) <= 100


@pytest.mark.parametrize(("beam", "stop", "alpha"), two_by_two(BEAMS, tuple(STOPS), ALPHAS))
@pytest.mark.parametrize("family", LEARNERS)
def test_beam_search_token_for_token(
    sides: Callable[[str], Sides], family: str, beam: int, stop: str, alpha: float
) -> None:
    both = sides(family)
    way = {"early_stopping": STOPS[stop], "length_penalty": alpha}
    tokens, scores = generated(both, num_beams=beam, num_return_sequences=beam, **way)
    found = searched(both, width=beam, n_best=beam, alpha=alpha, stop=stop)
    assert [each.tokens for each in found] == tokens
    torch.testing.assert_close(torch.tensor([each.score for each in found]), torch.tensor(scores), atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("family", LEARNERS)
def test_greedy_token_for_token(sides: Callable[[str], Sides], family: str) -> None:
    both = sides(family)
    tokens, _ = generated(both, num_beams=1)
    found = greedy(both.ours, both.source, both.mask, limits=both.limits)
    assert [best.tokens for (best,) in found] == tokens
