"""A live model of `transformers` as one side of a comparison: its modules are hooked, not copied.

`Family.taps` maps our taps to their modules.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.comparison.difference import Shape
from glassformer.comparison.inputs import Entrance, Reads, SharedInput
from glassformer.comparison.walk import LOGITS, See, placed
from glassformer.decoding.step import evaluating
from glassformer.errors import FileError, InputError
from glassformer.hub.families import FAMILIES
from glassformer.hub.family import Family
from glassformer.loading import Loaded

ROUNDING = 1e-4  # relative, float32: other kernels sum in another order
REFUSALS = (AttributeError, IndexError, KeyError, OSError, RuntimeError, TypeError, ValueError)


@dataclass(frozen=True)
class Theirs:
    """Their model in memory."""

    model: Any
    family: Family
    loaded: Loaded | None = None  # it reads the ids made for A

    @property
    def dtype(self) -> torch.dtype:
        return next(iter(self.model.parameters())).dtype

    def walk(self, batch: SharedInput, wanted: Mapping[str, Shape], see: See) -> None:
        """In the order of their pass; each tap that one of their modules shows is passed to `see` in our shape."""
        shown = {tap: module for tap in wanted if tap != LOGITS and (module := self._module(tap)) is not None}
        handles = [module.register_forward_hook(_hook(tap, wanted[tap], see)) for tap, module in shown.items()]
        try:
            with torch.no_grad(), evaluating(self.model):
                answer = self.model(**self._arguments(batch))
        except REFUSALS as error:
            raise InputError("compare_refused", why=_first_line(error)) from error
        finally:
            for handle in handles:
                handle.remove()
        for name in ("logits", "prediction_logits"):  # after every bias is added
            if LOGITS in wanted and answer.get(name) is not None:
                see(LOGITS, as_ours(answer[name], wanted[LOGITS]))

    def _module(self, tap: str) -> nn.Module | None:
        """Their module whose output is this tap; the paths of a model without a head have no prefix."""
        for pattern, path in self.family.taps.items():
            found = re.fullmatch(re.escape(pattern).replace(r"\{i\}", r"(\d+)"), tap)
            if found is None:
                continue
            whole = path.replace("{i}", found[1]) if found.groups() else path
            for each in (whole, whole.removeprefix(self.family.prefix)):
                module = _submodule(self.model, each)
                if module is not None:
                    return module
        return None

    def _arguments(self, batch: SharedInput) -> dict[str, Tensor]:
        """The batch under their names, limited to the arguments of the model's `forward`."""
        device = next(iter(self.model.parameters())).device
        given = {
            "input_ids": batch.source,
            "pixel_values": batch.source,
            "attention_mask": None if batch.mask is None else batch.mask.long(),
            "decoder_input_ids": batch.target,
        }
        taken = inspect.signature(self.model.forward).parameters
        return {
            name: moved
            for name, x in given.items()
            if name in taken and (moved := placed(x, device, self.dtype)) is not None
        }


@dataclass(frozen=True)
class TheirsClosed:
    """Their model, in a folder or in memory."""

    name: str
    reads: Reads
    make: Callable[[torch.dtype | None], Theirs]
    matched: bool = True

    def open(self, dtype: torch.dtype | None) -> Theirs:
        return self.make(dtype)


def is_theirs(side: object) -> bool:
    """Whether it is a model of `transformers`. Does not import the library: if it is not loaded, no model exists."""
    library = sys.modules.get("transformers")
    return library is not None and isinstance(side, library.PreTrainedModel)


def theirs(model: Any) -> TheirsClosed:
    """A model in memory, in its own type."""
    held = Theirs(model, _family(model.config))
    return TheirsClosed(type(model).__name__, _reads(model.config), lambda dtype: held)


def theirs_in(folder: str | Path) -> TheirsClosed:
    """A folder, opened by `transformers` with the class that wrote it: safetensors only, no download."""
    library = _library()
    if not Path(folder).is_dir():
        raise FileError("no_such_file", path=folder)
    with _said_by_us(folder):
        config = library.AutoConfig.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    family, named = _family(config), config.architectures or ["AutoModel"]
    made = getattr(library, named[0], library.AutoModel)

    def make(dtype: torch.dtype | None) -> Theirs:
        with _said_by_us(folder), silenced(library):
            model = made.from_pretrained(
                str(folder),
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,  # otherwise it may run code from the folder
                dtype=dtype or torch.float32,
            )
        return Theirs(model, family)

    return TheirsClosed(f"{made.__name__} ({folder})", _reads(config), make)


def as_ours(x: Tensor, shape: Shape) -> Tensor:
    """Their layout → ours, if the layout is all that differs; else unchanged, and the walk reports the shape.

    b t h·d_k → b h t d_k: they keep heads side by side. t d and 1 t d become b t d: every row is the same.
    """
    if len(shape) == 4 and x.shape == (shape[0], shape[2], shape[1] * shape[3]):
        return x.unflatten(-1, (shape[1], shape[3])).transpose(1, 2)  # b h t d_k
    row = x[0] if x.dim() > 1 and x.shape[0] == 1 else x
    if row.shape in (shape, shape[1:]):
        return row.expand(shape)
    return x


def _hook(tap: str, shape: Shape, see: See) -> Callable[..., None]:
    def hook(module: nn.Module, given: object, answer: Any) -> None:
        x = answer if isinstance(answer, Tensor) else answer[0]
        see(tap, as_ours(x, shape))

    return hook


def _submodule(model: nn.Module, path: str) -> nn.Module | None:
    try:
        return model.get_submodule(path)
    except AttributeError:
        return None


def _family(config: Any) -> Family:
    for family in FAMILIES.values():
        if config.model_type in family.model_types:
            return family
    known = ", ".join(name for family in FAMILIES.values() for name in family.model_types)
    raise InputError("compare_family", family=str(config.model_type), known=known)


def _reads(config: Any) -> Reads:
    table: dict[str, Any] = config.to_dict()
    if "image_size" in table:
        size = table["image_size"]
        sides = tuple(size) if isinstance(size, list | tuple) else (size, size)
        return Reads(Entrance("image", shape=(table["num_channels"], *sides)))
    source = Entrance("tokens", vocab_size=table["vocab_size"])
    padding = table.get("pad_token_id")
    if padding is not None and not 0 <= padding < source.vocab_size:  # some LLaMA models have none: -1
        padding = None
    target = None
    if table.get("is_encoder_decoder"):
        target = Entrance("tokens", vocab_size=table.get("decoder_vocab_size") or table["vocab_size"])
    return Reads(source, target, pad=padding)


def _library() -> Any:
    try:
        import transformers
    except ImportError as error:
        raise InputError("compare_no_transformers") from error
    return transformers


@contextmanager
def _said_by_us(folder: str | Path) -> Iterator[None]:
    try:
        yield
    except REFUSALS as error:
        raise FileError("compare_unreadable", path=folder, why=_first_line(error)) from error


@contextmanager
def silenced(library: Any) -> Iterator[None]:
    """Inside, `transformers` shows no progress bars and no advice."""
    logging = library.utils.logging
    level, shown = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if shown:
            logging.enable_progress_bar()


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
