"""Hugging Face's `generate` and ours on the same model: both see the same logits, so the tokens must be the same."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import GenerationMixin, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput, CausalLMOutput, Seq2SeqLMOutput

import glassformer as gf
from glassformer.decoding import Beams, Limits, beam_search, greedy
from marks import two_by_two

pytestmark = pytest.mark.slow

PAD, BOS, EOS, VOCABULARY = 0, 1, 2, 24
MOST, SENTENCES, STEPS = 8, 200, 100
STOPS: dict[str, Any] = {"first": True, "bound": False, "exhaustive": "never"}
SMALL = {
    "vocab_size": VOCABULARY,
    "max_len": 64,
    "d_model": 32,
    "n_heads": 4,
    "d_ff": 64,
    "n_decoder_layers": 2,
    "norm_order": "pre",
    "head": "language_model",
}


class Encoder(nn.Module):
    """The part of an encoder-decoder that Hugging Face asks for by itself."""

    main_input_name = "input_ids"

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = [model]  # not a module of this one: its parameters are counted already

    def forward(self, input_ids: Tensor, attention_mask: Tensor, **_: Any) -> BaseModelOutput:
        return BaseModelOutput(last_hidden_state=self.model[0].encode(input_ids, attention_mask.bool()))


class Wrapped(PreTrainedModel, GenerationMixin):
    """One of our models with the face of one of theirs. No cache: every step is a full pass."""

    config_class = PretrainedConfig
    main_input_name = "input_ids"
    _supports_cache_class = False

    def __init__(self, config: PretrainedConfig, model: nn.Module) -> None:
        super().__init__(config)
        self.model, self.encoder = model, Encoder(model)

    @property
    def dtype(self) -> torch.dtype:
        return torch.float64

    def get_encoder(self, *_: Any, **__: Any) -> nn.Module:
        return self.encoder

    def prepare_inputs_for_generation(
        self, input_ids: Tensor, attention_mask: Any = None, encoder_outputs: Any = None, **_: Any
    ) -> dict[str, Any]:
        return {"tokens": input_ids, "attention_mask": attention_mask, "encoder_outputs": encoder_outputs}

    def forward(self, tokens: Tensor, attention_mask: Tensor, encoder_outputs: Any = None, **_: Any) -> Any:
        mask = attention_mask.bool()
        if not self.config.is_encoder_decoder:
            return CausalLMOutput(logits=self.model(tokens, mask))
        memory = encoder_outputs.last_hidden_state
        return Seq2SeqLMOutput(logits=self.model.decode(tokens, memory, None, mask))


def batch(seed: int, rows: int) -> tuple[Tensor, Tensor, Tensor]:
    """Sources of 1 to 9 tokens behind their padding, b s, their mask, and the targets: the same backwards, then EOS."""
    generator = torch.Generator().manual_seed(seed)
    source = torch.randint(3, VOCABULARY, (rows, 9), generator=generator)
    mask = (torch.arange(9)[None, :] < torch.randint(1, 10, (rows, 1), generator=generator)).flip(1)
    target = torch.cat([source.flip(1), torch.full((rows, 1), PAD)], 1)
    lengths = mask.sum(1, keepdim=True)
    at = torch.arange(10)[None, :]
    target = target.masked_fill(at > lengths, PAD).masked_fill(at == lengths, EOS)
    return source.masked_fill(~mask, PAD), mask, target


def logits_of(model: nn.Module, family: str, source: Tensor, mask: Tensor, target: Tensor) -> Tensor:
    begin = torch.full((len(source), 1), BOS)
    given, real = torch.cat([begin, target[:, :-1]], 1), torch.ones(len(source), 10, dtype=torch.bool)
    if family == "encoder-decoder":
        return model(source, given, mask)
    return model(torch.cat([source, given], 1), torch.cat([mask, real], 1))[:, 9:]


@cache
def lively(family: str) -> nn.Module:
    """A small model that learns to write backwards for some seconds: untrained ones repeat one token for ever.

    It is stopped long before it is sure, so that beams differ and end at different lengths.
    """
    model = gf.build({"family": family, **SMALL}, seed=4)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(STEPS):
        source, mask, target = batch(step, 48)
        logits = logits_of(model, family, source, mask, target)
        F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD).backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.double().eval()


def prompts(family: str) -> tuple[Tensor, Tensor]:
    """A decoder alone is told by BOS where the source ends."""
    source, mask, _ = batch(STEPS, SENTENCES)
    if family == "encoder-decoder":
        return source, mask
    end = torch.full((SENTENCES, 1), BOS)
    return torch.cat([source, end], 1), torch.cat([mask, end > 0], 1)


def wrapped(family: str) -> Wrapped:
    config = PretrainedConfig(
        is_encoder_decoder=family == "encoder-decoder",
        vocab_size=VOCABULARY,
        pad_token_id=PAD,
        bos_token_id=BOS,
        eos_token_id=EOS,
        decoder_start_token_id=BOS,
    )
    return Wrapped(config, lively(family)).eval()


def theirs(model: Wrapped, source: Tensor, mask: Tensor, **options: Any) -> tuple[list[list[int]], list[float]]:
    """New tokens up to the end, and scores, of every returned sequence."""
    found = model.generate(
        input_ids=source,
        attention_mask=mask.long(),
        max_new_tokens=MOST,
        do_sample=False,
        use_cache=False,
        suppress_tokens=[PAD, BOS],
        return_dict_in_generate=True,
        output_scores=True,
        **options,
    )
    given = 1 if model.config.is_encoder_decoder else source.shape[1]
    rows = [row[given:] for row in found.sequences.tolist()]
    cut = [row[: row.index(EOS)] if EOS in row else row[:MOST] for row in rows]
    scores = getattr(found, "sequences_scores", None)
    return cut, [] if scores is None else scores.tolist()


def ours(model: Wrapped, source: Tensor, mask: Tensor, n_best: int = 1, **options: Any) -> SimpleNamespace:
    found = beam_search(
        model.model,
        source,
        mask,
        limits=Limits(bos=BOS, eos=EOS, forbidden=(PAD, BOS), max_len=MOST),
        beams=Beams(length_norm="power", **options),
        n_best=n_best,
    )
    flat = [hypothesis for best in found for hypothesis in best]
    return SimpleNamespace(tokens=[each.tokens for each in flat], scores=[each.score for each in flat], flat=flat)


@pytest.mark.parametrize("family", ["encoder-decoder", "decoder"])
def test_the_inputs_end_at_different_lengths(family: str) -> None:
    model = wrapped(family)
    found = ours(model, *prompts(family), width=4, alpha=1.0, stop="bound")
    lengths = [len(tokens) for tokens in found.tokens]
    assert len(set(lengths)) >= 8
    assert len({tuple(tokens) for tokens in found.tokens}) >= 150
    assert 10 <= sum(not each.finished for each in found.flat) <= 100


@pytest.mark.parametrize(("beam", "stop", "alpha"), two_by_two((4, 5), tuple(STOPS), (0.0, 0.6, 1.0, 2.0)))
@pytest.mark.parametrize("family", ["encoder-decoder", "decoder"])
def test_beam_search_token_for_token(family: str, beam: int, stop: str, alpha: float) -> None:
    model, (source, mask) = wrapped(family), prompts(family)
    tokens, scores = theirs(
        model,
        source,
        mask,
        num_beams=beam,
        num_return_sequences=beam,
        early_stopping=STOPS[stop],
        length_penalty=alpha,
    )
    found = ours(model, source, mask, width=beam, n_best=beam, alpha=alpha, stop=stop)
    assert found.tokens == tokens
    torch.testing.assert_close(torch.tensor(found.scores), torch.tensor(scores), atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("family", ["encoder-decoder", "decoder"])
def test_greedy_token_for_token(family: str) -> None:
    model, (source, mask) = wrapped(family), prompts(family)
    tokens, _ = theirs(model, source, mask, num_beams=1)
    found = greedy(model.model, source, mask, limits=Limits(bos=BOS, eos=EOS, forbidden=(PAD, BOS), max_len=MOST))
    assert [best.tokens for (best,) in found] == tokens


FORCED: dict[str, dict[str, int]] = {
    "first": {"forced_bos_token_id": BOS},
    "last": {"forced_eos_token_id": EOS},
    "both": {"forced_bos_token_id": BOS, "forced_eos_token_id": EOS},
}


def own_words(forced: str) -> dict[str, int]:
    names = {"forced_bos_token_id": "first", "forced_eos_token_id": "last"}
    return {names[key]: token for key, token in FORCED[forced].items()}


def theirs_forced(model: Wrapped, forced: str, **options: Any) -> list[list[int]]:
    """Theirs forbids BOS after it has forced it, so only padding is forbidden here."""
    source, mask = prompts("encoder-decoder")
    found = model.generate(
        input_ids=source,
        attention_mask=mask.long(),
        max_length=MOST + 1,
        do_sample=False,
        use_cache=False,
        bad_words_ids=[[PAD]],
        **FORCED[forced],
        **options,
    )
    rows = [row[1:] for row in found.tolist()]
    return [row[: row.index(EOS)] if EOS in row else row[:MOST] for row in rows]


@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("forced", FORCED)
def test_forced_tokens_in_beam_search_token_for_token(forced: str, stop: str, alpha: float) -> None:
    model, beams = wrapped("encoder-decoder"), 4
    tokens = theirs_forced(
        model, forced, num_beams=beams, num_return_sequences=beams, early_stopping=STOPS[stop], length_penalty=alpha
    )
    found = beam_search(
        model.model,
        *prompts("encoder-decoder"),
        limits=Limits(bos=BOS, eos=EOS, forbidden=(PAD,), max_len=MOST, **own_words(forced)),
        beams=Beams(length_norm="power", width=beams, alpha=alpha, stop=stop),
        n_best=beams,
    )
    assert [one.tokens for best in found for one in best] == tokens


@pytest.mark.parametrize("forced", FORCED)
def test_forced_tokens_in_greedy_token_for_token(forced: str) -> None:
    model = wrapped("encoder-decoder")
    limits = Limits(bos=BOS, eos=EOS, forbidden=(PAD,), max_len=MOST, **own_words(forced))
    found = greedy(model.model, *prompts("encoder-decoder"), limits=limits)
    assert [best.tokens for (best,) in found] == theirs_forced(model, forced, num_beams=1)
