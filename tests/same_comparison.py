"""How two dumps of `same_as_before.py` are compared: what is equal, what is excused and why, what is a difference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple


class Difference(NamedTuple):
    """Where two dumps differ, and how."""

    path: str  # part/model and pass/…/key
    text: str


def polynomial(formula: str) -> dict[tuple[str, ...], Fraction] | None:
    """A formula as a sum of products; a quotient that does not come out is a symbol of its own."""
    tokens = re.findall(r"[A-Za-z_]\w*|\d+|[()+×÷-]", formula)
    if "".join(tokens) != formula.replace(" ", ""):
        return None

    def total() -> Counter[tuple[str, ...]]:
        found = term()
        while tokens and tokens[0] in "+-":
            sign = 1 if tokens.pop(0) == "+" else -1
            for key, value in term().items():
                found[key] += sign * value
        return found

    def term() -> Any:
        found = factor()
        while tokens and tokens[0] in "×÷":
            times = tokens.pop(0) == "×"
            other = factor()
            if times:
                both: Any = Counter()
                for (a, x), (b, y) in product(found.items(), other.items()):
                    both[tuple(sorted(a + b))] += x * y
                found = both
            else:
                ((names, by),) = other.items()
                below = tuple(f"÷{name}" for name in names)
                found = Counter({tuple(sorted(key + below)): Fraction(value) / by for key, value in found.items()})
        return found

    def factor() -> Any:
        token = tokens.pop(0)
        if token == "(":
            found = total()
            tokens.pop(0)
            return found
        return Counter({(): Fraction(int(token))}) if token.isdigit() else Counter({(token,): Fraction(1)})

    return {key: value for key, value in total().items() if value}


FORMULA = re.compile(r"formula|numbers")
OURS = re.compile(r"src/glassformer/[\w/]+\.py")

# Other symbols for the same numbers: what stood in a term, and what stands there now.
KINDS: dict[str, tuple[str, str]] = {
    "four bytes of a float32 are w": (r"\b4\b", "w"),
    "as many heads for keys as for queries": (r"\bn_heads\b", "n_kv_heads"),
    "a series of one channel: times one is not written": (r"×channels\b|\bchannels×", ""),
    "a whole window is what it is made of": (r"\bwhole\b", "(context+stride)"),
    "as many keys as queries": (r"\bs\b", "t"),
    "the positions of a series are its t": (r"\bpositions\b", "t"),
}


def kinds_between(before: str, after: str) -> str:
    """Which kinds of rewriting make the terms of one formula those of the other; nothing if none do."""
    terms, after_terms = (re.split(r"\+(?![^()]*\))", formula) for formula in (before, after))  # not inside brackets
    aims = [polynomial(term) for term in after_terms]
    for term in list(terms):
        if polynomial(term) in aims:
            aims.remove(polynomial(term))
            terms.remove(term)
    used: set[str] = set()
    for term in terms:
        found = next(((text, kinds) for text, kinds in _variants(term) if polynomial(text) in aims), None)
        if found is None:
            return ""
        aims.remove(polynomial(found[0]))
        used |= found[1]
    return "" if aims else "; ".join(sorted(used))


def _variants(term: str) -> Iterator[tuple[str, set[str]]]:
    """A term rewritten at some of the places where a kind applies."""
    places = [(each, kind) for kind, (old, _) in KINDS.items() for each in re.finditer(old, term)]
    places.sort(key=lambda place: place[0].start(), reverse=True)
    for chosen in product((False, True), repeat=len(places)):
        text, used = term, set()
        for (place, kind), change in zip(places, chosen, strict=True):
            if change:
                text = text[: place.start()] + KINDS[kind][1] + text[place.end() :]
                used.add(kind)
        yield text, used


class Comparison:
    """One part of two dumps, beside each other."""

    def __init__(self) -> None:
        self.rewritten: Counter[tuple[str, str]] = Counter()  # equal as polynomials
        self.renamed: Counter[tuple[str, str, str]] = Counter()  # kind, before, after
        self.moved: Counter[tuple[str, str]] = Counter()  # a file of ours, under another name

    def differences(self, before: Any, after: Any, path: str) -> Iterator[Difference]:
        if isinstance(before, dict) and isinstance(after, dict):
            if list(before) != list(after):
                gone, new = [k for k in before if k not in after], [k for k in after if k not in before]
                yield Difference(path, f"keys differ; gone {gone}, new {new}" if gone or new else "order differs")
            for key in (key for key in before if key in after):
                if not self._only_symbols(before, after, key):
                    yield from self.differences(before[key], after[key], f"{path}/{key}")
        elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
            for i, (a, b) in enumerate(zip(before, after, strict=True)):
                yield from self.differences(a, b, f"{path}/{i}")
        elif (
            before != after and not self._only_written_otherwise(before, after, path) and not self._moved(before, after)
        ):
            yield Difference(path, f"{before!r} → {after!r}")

    def _only_written_otherwise(self, before: Any, after: Any, path: str) -> bool:
        """A formula that is equal as a polynomial."""
        if not (isinstance(before, str) and isinstance(after, str) and FORMULA.search(path.rpartition("/")[2])):
            return False
        first = polynomial(before)
        same = first is not None and first == polynomial(after)
        if same:
            self.rewritten[before, after] += 1
        return same

    def _moved(self, before: Any, after: Any) -> bool:
        """The path of a source file that is gone, and of one that is there."""
        if not (
            isinstance(before, str) and isinstance(after, str) and OURS.fullmatch(before) and OURS.fullmatch(after)
        ):
            return False
        moved = not Path(before).exists() and Path(after).exists()
        if moved:
            self.moved[before, after] += 1
        return moved

    def _only_symbols(self, before: dict[str, Any], after: dict[str, Any], key: str) -> bool:
        """A formula with other symbols of a known kind, whose numbers are equal."""
        numbers = key.replace("formula", "numbers")
        if key == numbers or numbers not in before or numbers not in after:
            return False
        if polynomial(before[key]) == polynomial(after[key]):
            return False
        if polynomial(before[numbers]) != polynomial(after[numbers]):
            return False
        kind = kinds_between(before[key], after[key])
        if kind:
            self.renamed[kind, before[key], after[key]] += 1
        return bool(kind)


# Where the ledger was not what a model does, and was put right: see ADR 0014. Only what is kept may differ.
KEPT = re.compile(r"/(saved_(bytes|formula|numbers)|again|peak/\d|moments/\w+/\d+/(formula|numbers|amount))$")
MENDED: dict[str, Callable[[Any, dict[str, Any]], bool]] = {
    "float64: tables of rotary positions are kept once": lambda config, run: (
        run.get("dtype") == "float64" and config.position.kind == "rotary"
    ),
    "float64: the log-sum-exp has eight bytes": lambda config, run: (
        run.get("dtype") == "float64" and run.get("kernel", "fused") == "fused"
    ),
    "autocast: what a product is given is narrow, what a norm gives is wide": lambda config, run: bool(
        run.get("autocast")
    ),
    "a trained bias under a mask keeps the mask on an accelerator too": lambda config, run: (
        config.position.kind == "relative" and run.get("device") == "cuda" and run.get("kernel", "fused") == "fused"
    ),
}


def mended(found: list[Difference], passes: dict[str, Any]) -> tuple[list[Difference], Counter[str]]:
    """The differences that nothing explains, and how many each reason explains."""
    reasons, left = Counter[str](), []
    for each in found:
        config, run = passes[each.path.split("/")[1]]
        holding = (reason for reason, holds in MENDED.items() if holds(config, run))
        reason = next(holding, None) if KEPT.search(each.path) else None
        if reason is None:
            left.append(each)
        else:
            reasons[reason] += 1
    return left, reasons


def unfold(table: dict[str, Any]) -> dict[str, Any]:
    """Layers that were stored once, for each layer."""
    for each in table.values():
        for part, row in each.get("parts", {}).items():
            each["parts"][part] = each["parts"][row["as"]] if "as" in row else row
    return table
