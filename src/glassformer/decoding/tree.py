"""The tree of a beam search: every candidate, what became of it, and the path to the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

ROOT = -1
NOTHING = -1  # instead of a token
PRUNED, KEPT, FINISHED = range(3)
FATES = ("pruned", "kept", "finished")


@dataclass(frozen=True)
class Node:
    """One candidate: a token and its parent (the number of another node, or −1 for the start).

    `fate`: kept = a beam goes on from it; finished = it ended among the best; pruned = neither.
    """

    token: int
    parent: int
    log_probability: float  # log p(token | all tokens before it)
    cumulative: float  # Σ of them from the start
    step: int  # 1 for the first new token
    fate: str


@dataclass(frozen=True)
class Tree:
    """The search of one sentence. `results`: the nodes at which its n best hypotheses end, the best first."""

    nodes: tuple[Node, ...]
    results: tuple[int, ...]

    def path(self, node: int) -> list[int]:
        """The tokens from the start to this node."""
        tokens: list[int] = []
        while node != ROOT:
            tokens.append(self.nodes[node].token)
            node = self.nodes[node].parent
        return tokens[::-1]

    def to_dict(self) -> dict[str, Any]:
        """As values that fit into JSON."""
        return {"nodes": [asdict(node) for node in self.nodes], "results": list(self.results)}

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> Tree:
        return cls(tuple(Node(**node) for node in table["nodes"]), tuple(table["results"]))


@dataclass(frozen=True)
class Candidates:
    """The candidates of one step, b m, best first: the nodes they continue, and what they add to them."""

    tokens: Tensor
    parents: Tensor  # numbers of nodes, over all sentences
    log_probabilities: Tensor
    cumulative: Tensor


class Growth:
    """All candidates of a search, kept on the device until its end: nodes are numbered over steps and sentences."""

    def __init__(self) -> None:
        self.steps: list[Candidates] = []
        self.fates: list[tuple[Tensor, Tensor]] = []  # per step: sentences, b; fates of their candidates, b m
        self.size = 0

    def add(self, candidates: Candidates) -> Tensor:
        """The numbers of the new nodes, b m."""
        tokens = candidates.tokens
        numbers = torch.arange(self.size, self.size + tokens.numel(), device=tokens.device).view(tokens.shape)
        self.size += tokens.numel()
        self.steps.append(candidates)
        return numbers

    def mark(self, sentences: Tensor, fates: Tensor) -> None:
        """Remember what became of the last candidates; needed only for pictures."""
        self.fates.append((sentences, fates))

    def flat(self, name: str) -> NDArray[Any]:
        """One field of all nodes, on the host."""
        values: list[Tensor] = [getattr(step, name).flatten() for step in self.steps]
        return torch.cat(values).cpu().numpy()

    def written(self, last: NDArray[np.int64], ends: Sequence[int]) -> list[tuple[list[int], bool]]:
        """The tokens from the start to each of these nodes, without the one that ends them, and whether one does.

        All paths are followed back side by side, one step at a time.
        """
        tokens, parents = self.flat("tokens"), self.flat("parents")
        finished = np.isin(tokens[last], ends)
        at, steps = np.where(finished, parents[last], last), []
        while (going := at != ROOT).any():
            steps.append(np.where(going, tokens[at], NOTHING))
            at = np.where(going, parents[at], ROOT)
        rows = np.stack([np.full(len(last), NOTHING), *steps[::-1]], 1)  # shorter paths begin with NOTHING
        return [(row[row != NOTHING].tolist(), ended) for row, ended in zip(rows, finished.tolist(), strict=True)]

    def trees(self, results: list[list[int]]) -> list[Tree]:
        """One tree per sentence, its nodes numbered from 0; `results` are nodes of each sentence."""
        tokens, parents = self.flat("tokens").tolist(), self.flat("parents").tolist()
        logs, sums = self.flat("log_probabilities").tolist(), self.flat("cumulative").tolist()
        nodes: list[list[Node]] = [[] for _ in results]
        number: dict[int, int] = {ROOT: ROOT}
        at = 0
        for step, (sentences, fates) in enumerate(self.fates, 1):
            for sentence, row in zip(sentences.tolist(), fates.tolist(), strict=True):
                for fate in row:
                    if sums[at] > float("-inf"):
                        number[at] = len(nodes[sentence])
                        parent = number[parents[at]]
                        nodes[sentence].append(Node(tokens[at], parent, logs[at], sums[at], step, FATES[fate]))
                    at += 1
        return [
            Tree(tuple(mine), tuple(number[node] for node in best)) for mine, best in zip(nodes, results, strict=True)
        ]
