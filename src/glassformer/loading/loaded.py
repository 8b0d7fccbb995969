"""A model ready to be used: weights, tokenizers and configuration together, from a run folder or an imported one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import torch
from torch import nn

from glassformer.config.recipe import RunConfig
from glassformer.config.values import path_of, word
from glassformer.data.moses import prepared_side
from glassformer.errors import FileError, InputError
from glassformer.hub.empty_model import allocated, empty_model, parameter_count
from glassformer.hub.header import read_header
from glassformer.hub.open import CONFIG_FILE, is_foreign, open_foreign, refuse_too_large
from glassformer.hub.store import KEPT
from glassformer.hub.unsupported import refuse_stranger
from glassformer.hub.weights import StoredWeights
from glassformer.loading.device import KEEP, LoadedType, check_computes
from glassformer.loading.trained import refuse_misspelt, resolve_model
from glassformer.models.quantize import is_quantized, quantize
from glassformer.runs import Run, choose_weights
from glassformer.runs.weights import AUTO, check_finite_weight, load_weights, read_tensors
from glassformer.show import Column, Table, as_text
from glassformer.text import Frame, Tokenizer, Vocabularies
from glassformer.text.seen import SeenText, unknown
from glassformer.trace.sentence import Reader, TokenizedText
from glassformer.words import say


@dataclass(frozen=True, repr=False)
class Loaded:
    """A trained model ready to use, with its configuration and, if it reads text, its tokenizers.

    Prints as a table, in a notebook too.
    """

    model: nn.Module
    tokenizers: Vocabularies | None
    config: RunConfig
    folder: Path
    checkpoint: Path  # the folder that the weights came from

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        """The type of the numbers that go in and come out; matrices may be in int8."""
        return next(self.model.parameters()).dtype

    @property
    def vocabularies(self) -> Vocabularies:
        """The tokenizers of both sides; raises for a model that reads no text."""
        if self.tokenizers is None and self.config.model.input.kind == "tokens":
            raise FileError("hub_no_tokenizer", path=self.folder)
        if self.tokenizers is None:
            raise InputError("not_text_model", model=self.folder.name, input=self.config.model.input.kind)
        return self.tokenizers

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the source, or the only one."""
        return self.vocabularies.source

    @property
    def task(self) -> str:
        return self.config.task.kind

    @property
    def foreign(self) -> Path | None:
        """The folder with the original files of an imported model: its own, or the copies that the import kept."""
        if is_foreign(self.folder):
            return self.folder
        return self.folder / KEPT if (self.folder / KEPT / CONFIG_FILE).is_file() else None

    @property
    def labels(self) -> list[str]:
        """The names of the classes, or their numbers if they have none."""
        named = self.config.task.options.get("labels")
        count = self.config.model.head.options.get("classes", 0)
        return [str(name) for name in named] if named else [str(i) for i in range(count)]

    @property
    def prepare(self) -> Callable[[str], str]:
        """Prepares a typed text as the training texts were prepared."""
        return prepared_side(self.config.data.prepare, self.config.data.source_language)

    def encode(self, text: str) -> list[int]:
        """The ids of a text, prepared and split, without its frame."""
        return self.tokenizer.encode(self.prepare(text))

    def framed(self, text: str) -> list[int]:
        """The ids of a text as the model learned to read it, framed by its special tokens."""
        return self.frame.around(self.encode(text))

    @property
    def frame(self) -> Frame:
        """The special tokens around its input."""
        return Frame.of(self.config, self.tokenizer.specials)

    def unseen(self, texts: Sequence[str]) -> list[list[str]]:
        """The words of each text that no training text has; for an imported model, those its tokenizer cannot spell.

        An answer to such words is a guess: a sub-word tokenizer spells them, but the model has never read them.
        """
        seen = self._seen
        return [unknown(self.tokenizer, text) if seen is None else seen.missing(text) for text in texts]

    def longer(self, texts: Sequence[str]) -> list[int | None]:
        """For each text that is longer than every training text, the length of the longest; None for the others.

        Lengths are characters. A model has never read that much at once, so its answer is a guess too.
        """
        seen = self._seen
        return [seen.longest if seen is not None and seen.too_long(text) else None for text in texts]

    @cached_property
    def _seen(self) -> SeenText | None:
        """Read only once, so that a problem is reported once."""
        return SeenText.open(self.folder)

    @property
    def target_frame(self) -> Frame:
        """The special tokens around a translator's output."""
        return Frame.of_target(self.config, self.vocabularies.target.specials)

    @property
    def start(self) -> int:
        """The token that the decoder of an encoder-decoder begins with."""
        return self.target_frame.front[0]

    def shown(self) -> Table:
        """What was loaded, and from where."""
        config = self.config.model
        kind = "int8" if is_quantized(self.model) else str(self.dtype).removeprefix("torch.")
        depth = "+".join(str(n) for n in (config.encoder_layers, config.decoder_layers) if n)
        facts = {
            "task": self.task,
            "family": say(f"families.{config.family}"),
            "sizes": f"{depth} × {config.d_model}, {config.n_heads} h, d_ff {config.d_ff}",
            "parameters": f"{parameter_count(config):,}",
            "tokenizer": "" if self.tokenizers is None else self._vocabulary_sizes(self.tokenizers),
            "device": f"{self.device}, {kind}",
            "folder": str(self.folder),
            "checkpoint": str(self.checkpoint),
        }
        table = Table(Column(), Column())
        for key, value in facts.items():
            if value:
                table.add(say(f"loaded.{key}"), value)
        return table

    def _vocabulary_sizes(self, tokenizers: Vocabularies) -> str:
        """One number if both sides share a tokenizer."""
        sides = [tokenizers.source] if tokenizers.joint else [tokenizers.source, tokenizers.target]
        return say("loaded.entries", count=" + ".join(f"{side.vocab_size:,}" for side in sides))

    def __rich__(self) -> Table:
        return self.shown()

    def __repr__(self) -> str:
        return as_text(self.shown())

    def _repr_html_(self) -> str:
        return self.shown().to_html()

    def reader(self) -> Reader:
        """How it reads a sentence, for traces: the source framed, the target begun."""
        source, target = self.vocabularies.source, self.vocabularies.target

        def read(tokenizer: Tokenizer, ids: list[int]) -> TokenizedText:
            return TokenizedText([tokenizer.piece(i) for i in ids], torch.tensor([ids], device=self.device))

        return Reader(
            self.model,
            lambda text: read(source, self.framed(text)),
            lambda text: read(target, self.target_frame.begun(target.encode(text))),
            target.piece,
        )


def load(
    model: str | Path,
    *,
    device: str | torch.device | None = None,
    checkpoint: str | int = AUTO,
    dtype: LoadedType | None = None,
    finite: bool = True,
    mapped: bool = True,
) -> Loaded:
    """A trained model of the package, a run folder, or one of Hugging Face → its model, ready to use.

    It computes in float32 unless `dtype` says otherwise.

    `dtype`: "keep" is the type in which most of its numbers are stored; torch.int8: see `models.quantize`.
    `checkpoint`: averaged, best, last, a step, or auto: see `runs.choose_weights`. `finite`: refuse weights that are
    NaN or infinite. `mapped`: weights of a folder of Hugging Face may stay in its file, see `hub.open.open_foreign`.
    """
    path_of("model", model)
    word("checkpoint", checkpoint)
    refuse_stranger(model)  # as typed: a Path would drop the second slash after https:
    refuse_misspelt(model)
    model = resolve_model(model)
    if is_foreign(Path(model)):
        source = Path(model) if Path(model).is_dir() else Path(model).parent
        if checkpoint != AUTO:
            raise FileError("checkpoint_of_one", path=source, which=checkpoint)
        kind = _type_to_read(dtype, device, lambda: StoredWeights.open(source))
        found = open_foreign(source, device=device, dtype=kind, finite=finite, mapped=mapped)
        network = quantize(found.model) if dtype == torch.int8 else found.model
        return Loaded(network, found.tokenizers, found.config, source, source)
    run = Run.open(model)
    weights = choose_weights(run, checkpoint)
    kind = _type_to_read(dtype, device, lambda: StoredWeights(weights.parent, read_header(weights)))
    network = empty_model(run.config.model).to(kind or torch.get_default_dtype())
    refuse_too_large(network, device)
    network = allocated(network, device or "cpu").eval()
    load_weights(network, read_tensors(weights), weights.parent)
    if finite:
        refuse_not_finite(network, weights.parent)
    text = run.config.model.input.kind == "tokens" and run.config.text.tokenizer.kind != "none"
    tokenizers = Vocabularies.open(run.folder) if text else None
    if dtype == torch.int8:
        network = quantize(network)
    return Loaded(network, tokenizers, run.config, run.folder, weights.parent)


def _type_to_read(
    dtype: LoadedType | None, device: str | torch.device | None, stored: Callable[[], StoredWeights]
) -> torch.dtype | None:
    """The type in which weights are read: what is to become int8 stays as it is stored until then."""
    kind = stored().usual_dtype() if dtype in (KEEP, torch.int8) else dtype
    assert kind is None or isinstance(kind, torch.dtype)
    if kind is not None and dtype != torch.int8:
        check_computes(kind, torch.device(device or "cpu"))
    return kind


def refuse_not_finite(model: nn.Module, path: Path) -> None:
    """Raises an error that names the first tensor with NaN or infinity."""
    for name, x in chain(model.named_parameters(), model.named_buffers()):
        check_finite_weight(name, x, path)
