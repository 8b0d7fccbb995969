"""Beam search, §6.1: the best few hypotheses of each sentence are extended side by side, in one batch."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Shaped
from torch import Tensor, nn

from glassformer.config.values import size
from glassformer.decoding.lagging import LAG, LaggingAnswer
from glassformer.decoding.limits import CheckedLimits, Limits, prepare
from glassformer.decoding.next_words import NextWords
from glassformer.decoding.rules import LENGTH_NORMS, STOP_RULES, SearchProgress
from glassformer.decoding.step import Decodable, DecodingStart, Hypothesis, evaluating
from glassformer.decoding.tree import FINISHED, KEPT, PRUNED, ROOT, Candidates, Growth, Tree
from glassformer.errors import ConfigError, choose, shown

NEVER = float("-inf")
LEAVE_TOGETHER = 8  # sentences leave when one of so many has finished: the cache of those that stay is copied then


@dataclass(frozen=True, kw_only=True)
class Beams:
    """How to search: how many beams, how lengths are compared (see `LENGTH_NORMS`), when to stop (see `STOP_RULES`)."""

    width: int = 4
    length_norm: str = "gnmt"
    alpha: float = 0.6
    stop: str = "bound"

    def __post_init__(self) -> None:
        choose("length_norm", self.length_norm, LENGTH_NORMS)
        choose("stop", self.stop, STOP_RULES)
        if isinstance(self.alpha, bool) or not isinstance(self.alpha, int | float) or not math.isfinite(self.alpha):
            raise ConfigError("generate_alpha", value=shown(self.alpha))

    def norm(self, length: int) -> float:
        return LENGTH_NORMS[self.length_norm](length, self.alpha)


@dataclass(frozen=True)
class Finished:
    """The best hypotheses that have ended, b beam, the best first; −∞ where there is none yet."""

    scores: Tensor
    nodes: Tensor

    @classmethod
    def none(cls, b: int, beam: int, like: Tensor) -> Finished:
        return cls(like.new_full((b, beam), NEVER), torch.full((b, beam), ROOT, device=like.device))

    def merged(self, scores: Tensor, nodes: Tensor, *, unless: Tensor | None = None) -> Finished:
        """These and new ones: the best of all, as many as before; those of sentences that are over stay as they are."""
        scores = scores if unless is None else scores.masked_fill(unless[:, None], NEVER)
        best = torch.cat([self.scores, scores], 1).topk(self.scores.shape[1])  # b beam
        return Finished(best.values, torch.cat([self.nodes, nodes], 1).gather(1, best.indices))

    def select(self, rows: Tensor) -> Finished:
        return Finished(self.scores[rows], self.nodes[rows])


class BeamSearch:
    """One beam search over a batch: call `run`, then `best`."""

    def __init__(
        self, model: Decodable, start: DecodingStart, checked: CheckedLimits, rules: Beams, *, record: bool = False
    ) -> None:
        self.model, self.checked, self.rules, self.record = model, checked, rules, record
        self.state = start.state
        longest, device = checked.longest(start), start.tokens.device
        self.logits = model.step(start.tokens, start.state)  # b v
        # m = width × (1 + number of end tokens), so that `width` of them go on even if every beam ends
        self.words = NextWords(checked, rules.width * max(2, 1 + len(checked.ends)))
        self.sentences = torch.arange(len(longest), device=device)  # b: those still searched
        self.limit = torch.tensor(longest, device=device)  # b
        scores = torch.promote_types(self.logits.dtype, torch.float32)
        self.norm_at_limit = torch.tensor([rules.norm(length) for length in longest], dtype=scores, device=device)  # b
        self.sums = self.logits.new_zeros(len(longest), 1, dtype=scores)  # b w: log-probabilities of the w beams
        self.nodes = torch.full((len(longest), 1), ROOT, device=device)  # b w: their last nodes
        self.finished = self.results = Finished.none(len(longest), rules.width, self.sums)
        self.growth = Growth()
        self.done = torch.zeros(len(longest), dtype=torch.bool, device=device)  # b
        self.first, self.last = min(longest), max(longest)  # steps at which a sentence reaches its limit
        # a sentence may stay after its end, but not where it would leave the table of positions
        room = start.room or []
        self.tight = {limit for limit, most in zip(longest, room, strict=False) if self.last + LAG > most}
        self.have_finished = LaggingAnswer(0 if record else LAG)

    def run(self) -> BeamSearch:
        length = 1
        while (tokens := self.advance(length)) is not None:
            del self.logits  # the next take their place in memory
            self.logits = self.model.step(tokens, self.state)  # b·w v
            length += 1
        self.words.settle(self.logits)
        return self

    def advance(self, length: int) -> Tensor | None:
        """One step: extend every beam, keep the best, retire finished sentences. Returns the next tokens."""
        candidates, beams = self.candidates(length)  # b m
        numbers = self.growth.add(candidates)  # b m
        k, ends = min(self.rules.width, numbers.shape[1]), self.checked.ended(candidates.tokens)  # b m
        if length >= self.first:
            ends = ends | (self.limit <= length)[:, None]  # b m
        sums, norm = candidates.cumulative, self.rules.norm(length)
        # Only the k best may finish; the others replace beams that have ended.
        scores = torch.where(ends[:, :k], sums[:, :k], NEVER) / norm
        self.finished = self.finished.merged(scores, numbers[:, :k], unless=self.done)
        going = sums.masked_fill(ends, NEVER).topk(k)  # b w
        if self.record:
            fates = torch.zeros_like(numbers).scatter(1, going.indices, KEPT).masked_fill(ends, PRUNED)
            fates[:, :k].masked_fill_(ends[:, :k], FINISHED)
            self.growth.mark(self.sentences, fates)
        self.sums, self.nodes = going.values, numbers.gather(1, going.indices)
        tokens, beams = candidates.tokens.gather(1, going.indices), beams.gather(1, going.indices)  # b w
        at = SearchProgress(self.sums[:, 0], self.finished.scores[:, -1], norm, self.norm_at_limit, self.rules.alpha)
        self.done = self.done | STOP_RULES[self.rules.stop](at) | (self.sums[:, 0] == NEVER)  # b; none at the last step
        many = 1 if self.record else len(self.done) / LEAVE_TOGETHER  # a tree ends where its search does
        leave = self.have_finished.ask(self.done.sum() >= many)
        return self.go_on(tokens, beams, leave=leave or length >= self.last or length in self.tight)

    def candidates(self, length: int) -> tuple[Candidates, Tensor]:
        """The best continuations of each sentence, b m, and the beams they continue."""
        must = self.checked.forced(length - 1, self.limit)  # b
        must = None if must is None else must.repeat_interleave(self.sums.shape[1])  # b·w
        best = self.words.best_of_beams(self.logits, self.sums, length - 1, must)  # b m
        return Candidates(best.columns, self.nodes.gather(1, best.beams), best.new, best.sums), best.beams

    def go_on(self, tokens: Tensor, beams: Tensor, *, leave: bool) -> Tensor | None:
        """Finished sentences may leave with their results; the others branch. None if no sentence is left."""
        if leave:
            self.results = self.put(self.results)
            keep = (~self.done).nonzero()[:, 0]
            if not keep.numel():
                return None
            self.done = self.done[keep]
            self.finished, self.sentences = self.finished.select(keep), self.sentences[keep]
            self.sums, self.nodes, self.limit = self.sums[keep], self.nodes[keep], self.limit[keep]
            self.norm_at_limit, tokens, beams = self.norm_at_limit[keep], tokens[keep], beams[keep]
            self.state.keep(keep)
        self.state.branch(beams)
        return tokens  # b w

    def put(self, results: Finished) -> Finished:
        """`results`, updated with what has been found so far for the sentences still being searched."""
        scores = results.scores.index_copy(0, self.sentences, self.finished.scores)
        return Finished(scores, results.nodes.index_copy(0, self.sentences, self.finished.nodes))

    def best(self, n: int) -> list[list[Hypothesis]]:
        """The n best of each sentence, read from their last tokens back to the start."""
        found = self.found(n)
        last = np.array([node for _, nodes in found for node in nodes], dtype=np.int64)
        sums = self.growth.flat("cumulative")[last].tolist()
        paths = zip(self.growth.written(last, self.checked.ends), sums, strict=True)

        def hypothesis(score: float) -> Hypothesis:
            (words, finished), total = next(paths)
            return Hypothesis(words, score, total, finished)

        return [[hypothesis(score) for score in scores] for scores, _ in found]

    def found(self, n: int) -> list[tuple[list[float], list[int]]]:
        """Scores and nodes of the n best of each sentence."""
        pairs = zip(self.results.scores[:, :n].tolist(), self.results.nodes[:, :n].tolist(), strict=True)
        return [
            ([score for score in scores if score > NEVER], nodes[: sum(score > NEVER for score in scores)])
            for scores, nodes in pairs
        ]

    def trees(self, n: int) -> list[Tree]:
        return self.growth.trees([nodes for _, nodes in self.found(n)])


@torch.inference_mode()
def beam_search(
    model: nn.Module,
    source: Shaped[Tensor, "b s ..."],
    mask: Bool[Tensor, "b s"] | None = None,
    *,
    limits: Limits,
    beams: Beams = Beams(),  # noqa: B008
    n_best: int = 1,
) -> list[list[Hypothesis]]:
    r"""Beam search, §6.1.

        best = argmax_Y log p(Y | x) / norm(|Y|), over the `width` best prefixes of every length

    The `n_best` hypotheses of each sentence, the best first. Forbidden tokens are left out; the probabilities of
    the others are not renormalised.
    Differs from the paper: nothing by default; `length_norm="power"` is Hugging Face's search, token for token.
    """
    search = _searched(model, source, mask, limits, beams, n_best, record=False)
    return [] if search is None else search.best(n_best)


@torch.inference_mode()
def beam_trees(
    model: nn.Module,
    source: Shaped[Tensor, "b s ..."],
    mask: Bool[Tensor, "b s"] | None = None,
    *,
    limits: Limits,
    beams: Beams = Beams(),  # noqa: B008
    n_best: int = 1,
) -> tuple[list[list[Hypothesis]], list[Tree]]:
    """What `beam_search` gives, and the tree of each sentence's search."""
    search = _searched(model, source, mask, limits, beams, n_best, record=True)
    return ([], []) if search is None else (search.best(n_best), search.trees(n_best))


def _searched(
    model: nn.Module, source: Tensor, mask: Tensor | None, limits: Limits, beams: Beams, n_best: int, *, record: bool
) -> BeamSearch | None:
    """A finished search; None if there are no sentences."""
    decodable, checked = prepare(model, source, limits)
    size("beam", beams.width, 1, decodable.vocab_size)
    size("n_best", n_best, 1, beams.width)
    if source.shape[0] == 0:
        return None
    with evaluating(model):
        return BeamSearch(decodable, decodable.start(source, mask), checked, beams, record=record).run()
