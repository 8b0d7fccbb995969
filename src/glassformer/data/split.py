"""A fixed split of a set that comes in one piece: by hash, so that nobody has to keep a list of lines."""

from __future__ import annotations

from collections import Counter
from hashlib import sha1

from glassformer.data.pairs import Pairs

PARTS = 20  # 1/20 test, 1/20 validation, the rest for training


def hashed(pairs: Pairs, split: str) -> Pairs:
    """The pairs of "train", "val" or "test"; no sentence of either language stands in two of them.

    One sentence may have several translations, and two sentences may share one: pairs that are linked so, over any
    number of steps, form a group and stay together. The group goes by the SHA-1 of its first source in the order of
    code points, modulo 20: 0 is test, 1 is val, all others are train.
    """
    root = _groups(pairs)
    first: dict[int, str] = {}
    for group, source in zip(root, pairs.sources, strict=True):
        first[group] = min(source, first.get(group, source))
    part = {group: _part(source) for group, source in first.items()}
    return pairs.chosen(i for i, group in enumerate(root) if part[group] == split)


def _part(text: str) -> str:
    number = int(sha1(text.encode("utf-8"), usedforsecurity=False).hexdigest(), 16) % PARTS
    return {0: "test", 1: "val"}.get(number, "train")


def _groups(pairs: Pairs) -> list[int]:
    """The number of the first pair that each pair is linked with."""
    parent = list(range(len(pairs)))

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for side in (pairs.sources, pairs.targets):
        seen: dict[str, int] = {}
        for i, sentence in enumerate(side):
            one, other = sorted((find(i), find(seen.setdefault(sentence, i))))
            parent[other] = one
    return [find(i) for i in range(len(pairs))]


def apart(pairs: Pairs, number: int, seed: int) -> tuple[Pairs, Pairs]:
    """(the rest, `number` pairs kept apart): drawn by seed, and no sentence of either language stands in both."""
    root = _groups(pairs)
    order = sorted(set(root), key=lambda group: sha1(f"{seed}:{group}".encode(), usedforsecurity=False).digest())
    sizes = Counter(root)
    taken: set[int] = set()
    kept = 0
    for group in order:
        if kept + sizes[group] <= min(number, len(pairs) // 2):
            taken.add(group)
            kept += sizes[group]
    rest = [i for i, group in enumerate(root) if group not in taken]
    return pairs.chosen(rest), pairs.chosen(i for i, group in enumerate(root) if group in taken)
