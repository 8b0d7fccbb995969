"""Record a pass: chosen tensors under the path of the module that made them. The result does not change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase

from torch import Tensor, nn

from glassformer.errors import InputError, shown, suggest
from glassformer.layers.attention import MultiHeadAttention
from glassformer.layers.attention.kernel import check_within
from glassformer.tap import Selection
from glassformer.trace.catalogue import need_module, tap_names, taps
from glassformer.trace.trace import Trace
from glassformer.trace.watch import NamedObserver, watching

_LAYER = re.compile(r"(?:^|\.)blocks\.(\d+)$")
OURS = ("glassformer.layers.", "glassformer.models.", "glassformer.kernels.")  # of these it is known what they tap
OF_HEADS = ("q", "k", "v", "scores", "weights", "heads")  # b h t …: the taps with heads
OF_ROWS = ("q", "scores", "weights", "heads")  # the taps with a row for each query


class Recorder(NamedObserver):
    """Fills a trace with the requested tensors."""

    def __init__(
        self,
        trace: Trace,
        names: Sequence[str] | None,
        layers: Sequence[int] | None,
        chosen: Selection,
        gradients: bool,
    ) -> None:
        super().__init__()
        self.trace, self.names, self.layers = trace, names, layers
        self.chosen, self.gradients = chosen, gradients
        self._seen: set[str] = set()
        self.ran = False  # has there been a pass?

    def passes_over(self, path: str) -> bool:
        if self.layers is None or not path[-1].isdigit():  # asked from the top down: what is in a layer is not asked
            return False
        layer = _LAYER.search(path)
        return layer is not None and int(layer[1]) not in self.layers

    def asks(self, name: str) -> bool:
        return self.names is None or any(fnmatchcase(name, pattern) for pattern in self.names)

    def is_silent(self, module: nn.Module) -> bool:
        return super().is_silent(module) or (_is_ours(module) and not tap_names(type(module)))

    def follows(self, path: str, module: nn.Module) -> bool:
        before = f"{path}." if path else ""
        return not _is_ours(module) or any(self.asks(before + name) for name in tap_names(type(module)))

    def begin(self) -> None:
        self.ran = True
        self._seen.clear()

    def see(self, name: str, x: Tensor) -> Tensor:
        """Records after every edit, whichever context was entered first: the tensor that the model continues with."""
        x = x if self._outer is None else self._outer.see(name, x)
        return self.meet(self._full(name), x) if self.inside else x

    def meet(self, name: str, x: Tensor) -> Tensor:
        if not self.asks(name):
            return x
        kept = name
        if self.whole:  # a module used twice in a pass: the shared embedding of source and target
            while kept in self._seen:
                kept = f"{name}#{int(kept.rpartition('#')[2]) + 1}" if "#" in kept else f"{name}#2"
            self._seen.add(kept)
        self.trace.tensors[kept] = self._choose(name, x.detach())
        if self.gradients and x.requires_grad:
            x.register_hook(lambda gradient: self._keep_gradient(kept, name, gradient))
        return x

    def _keep_gradient(self, kept: str, name: str, gradient: Tensor) -> None:
        self.trace.gradients[kept] = self._choose(name, gradient.detach())

    def _choose(self, name: str, x: Tensor) -> Tensor:
        """The requested heads and rows; a fused kernel has already chosen them."""
        tap = name.rpartition(".")[2]
        heads, rows = self.chosen
        shared = tap in ("k", "v") and heads is not None and max(heads, default=0) >= x.shape[1]  # grouped heads
        if heads is not None and tap in OF_HEADS and x.shape[1] > len(heads) and not shared:
            check_within("heads", heads, x.shape[1])
            x = x[:, heads]  # b heads t …
        if rows is not None and tap in OF_ROWS and x.shape[2] > len(rows):
            check_within("rows", rows, x.shape[2])
            x = x[:, :, rows]  # b h rows …
        return x

    @property
    def selection(self) -> Selection | None:
        return None if self.chosen == Selection() else self.chosen


@contextmanager
def record(
    model: nn.Module,
    names: str | Sequence[str] | None = None,
    *,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    rows: Sequence[int] | None = None,
    gradients: bool = False,
) -> Iterator[Trace]:
    """Record every pass of the model inside the `with`; a second pass overwrites the first.

    `names`: patterns such as "*.weights"; `layers`, `heads`, `rows` (queries): only these. The kernel stays the same;
    scores and weights are computed separately, only as requested. `gradients`: also those of `backward()`.
    """
    trace, patterns = Trace(), _patterns(names)
    need_module(model)
    wanted = None if layers is None else _numbers("layers", layers, _last_layer(model))
    of_heads = None if heads is None else _numbers("heads", heads, _last_head(model))
    chosen = Selection(of_heads, None if rows is None else _numbers("rows", rows, None))
    recorder = Recorder(trace, patterns, wanted, chosen, gradients)
    with watching(model, recorder):
        yield trace
    for pattern in patterns or () if recorder.ran else ():
        if not any(fnmatchcase(name.partition("#")[0], pattern) for name in trace.tensors):
            raise InputError("no_such_tap_recorded", name=pattern, hint=suggest(pattern, taps(model)))


def _is_ours(module: nn.Module) -> bool:
    """One from elsewhere may tap anything."""
    return type(module).__module__.startswith(OURS)


def _patterns(names: object) -> list[str] | None:
    if names is None:
        return None
    given = [names] if isinstance(names, str) else names
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise InputError("names_not_text", given=shown(names))
    return list(given)


def _numbers(what: str, given: object, last: int | None) -> list[int]:
    """Which layers, heads or rows: integers from 0 to `last`. Only the pass knows how many rows there are."""
    if not isinstance(given, Sequence) or not all(type(number) is int for number in given):
        raise InputError("numbers_not_whole", what=what, given=shown(given))
    for number in given:
        if number < 0 or (last is not None and number > last):
            raise InputError("no_such_selection", what=what, value=number, last="…" if last is None else last)
    return list(given)


def _last_layer(model: nn.Module) -> int | None:
    """The number of the last layer of the deepest stack; None if there are no layers."""
    return max((len(blocks) - 1 for blocks in _blocks("", model)), default=None)


def _blocks(name: str, module: nn.Module) -> Iterator[Sequence[nn.Module]]:
    """The layers of every stack; what is inside a layer is not looked at."""
    children = [*module.named_children()]
    if name == "blocks":
        yield [child for _, child in children]
        return
    for each, child in children:
        yield from _blocks(each, child)


def _last_head(model: nn.Module) -> int | None:
    found = [module.n_heads - 1 for module in model.modules() if isinstance(module, MultiHeadAttention)]
    return max(found, default=None)
