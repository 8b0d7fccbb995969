"""One token after another, without going back: the loop that greedy decoding and sampling share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Shaped
from torch import Tensor, nn

from glassformer.decoding.limits import FREE, CheckedLimits, Limits, prepare
from glassformer.decoding.next_words import NextWords
from glassformer.decoding.rules import accumulated, largest
from glassformer.decoding.step import Decodable, DecodingStart, Hypothesis, evaluating
from glassformer.kernels import usable

Choose = Callable[[Tensor, Tensor, int], Tensor]  # logits b v, sentences b, how many tokens before → tokens b


@dataclass(frozen=True)
class DecodingStep:
    """The tokens of one step, for the sentences that are still going on."""

    sentences: Tensor  # b: which ones
    tokens: Tensor  # b
    log_probabilities: Tensor  # b: the model's own, before any filter; 0 for a forced token


def walk(model: Decodable, start: DecodingStart, checked: CheckedLimits, choose: Choose) -> Iterator[DecodingStep]:
    """Choose a token and feed it to the model, until every sentence has ended. Finished ones leave the batch.

    The host waits for the device once per step, to learn whether a sentence has ended.
    """
    longest = checked.longest(start)
    tokens, state, most = start.tokens, start.state, max(longest)
    limit = torch.tensor(longest, device=tokens.device)  # b
    sentences = torch.arange(len(longest), device=tokens.device)  # b
    words = NextWords(checked, 1)
    for before in range(most):
        logits = model.step(tokens, state)  # b v
        must = checked.forced(before, limit)  # b
        if choose is most_probable and must is None and usable(logits):  # the best by a kernel that reads logits once
            logs, chosen = (best[:, 0] for best in words.best(logits, before, None))  # b
        else:
            logits = accumulated(logits)
            chosen = choose(checked.forbid(logits, before), sentences, before)  # b
            chosen = chosen if must is None else torch.where(must == FREE, chosen, must)
            logs = logits.log_softmax(1).gather(1, chosen[:, None])[:, 0]  # b
            logs = logs if must is None else logs.masked_fill(must != FREE, 0.0)
        done = checked.ended(chosen) | (limit <= before + 1)  # b
        has_ended = bool(done.any())
        words.settle(logits)  # known by now
        yield DecodingStep(sentences, chosen, logs)
        tokens = chosen[:, None]  # b 1
        if has_ended:
            keep = (~done).nonzero()[:, 0]
            if not keep.numel():
                return
            state.keep(keep)
            tokens, limit, sentences = tokens[keep], limit[keep], sentences[keep]


def collect(steps: Iterator[DecodingStep], b: int, checked: CheckedLimits) -> list[Hypothesis]:
    """The steps of a walk, put together: one hypothesis for each of the b sentences."""
    taken = list(steps)
    sentences = torch.cat([step.sentences for step in taken]).tolist()
    tokens = torch.cat([step.tokens for step in taken]).tolist()
    logs = torch.cat([step.log_probabilities for step in taken])
    written: list[list[int]] = [[] for _ in range(b)]
    for sentence, token in zip(sentences, tokens, strict=True):
        written[sentence].append(token)
    sums = logs.new_zeros(b).index_add_(0, torch.cat([step.sentences for step in taken]), logs).tolist()
    finished = [row[-1] in checked.ends for row in written]
    return [
        Hypothesis(row[:-1] if ended else row, total, total, ended)
        for row, total, ended in zip(written, sums, finished, strict=True)
    ]


@torch.inference_mode()
def greedy(
    model: nn.Module,
    source: Shaped[Tensor, "b s ..."],
    mask: Bool[Tensor, "b s"] | None = None,
    *,
    limits: Limits,
) -> list[list[Hypothesis]]:
    r"""Greedy decoding.

        y_i = argmax_v p(v | y_<i, x)

    `source` is the text of the encoder, or the prompt of a decoder alone; `mask`: True = a real token.
    Returns one list per sentence, with one hypothesis in it, in the form that all decoders share.
    """
    decodable, checked = prepare(model, source, limits)
    if source.shape[0] == 0:
        return []
    with evaluating(model):
        steps = walk(decodable, decodable.start(source, mask), checked, most_probable)
        return [[one] for one in collect(steps, source.shape[0], checked)]


def most_probable(logits: Tensor, sentences: Tensor, before: int) -> Tensor:
    return largest(logits, 1)[1][:, 0]  # b
