"""The verbs of the Python interface: they take any MODEL that the command line takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, overload

import torch
from torch import Tensor, nn

from glassformer.errors import choose
from glassformer.evaluate.chat import Message, chat_prompt, is_conversation
from glassformer.evaluate.classify import Classified
from glassformer.evaluate.classify import classify as classify_all
from glassformer.evaluate.compare import compare as compare_models
from glassformer.evaluate.compare_ours import Side
from glassformer.evaluate.compare_report import Comparison
from glassformer.evaluate.embed import embed as embed_all
from glassformer.evaluate.evaluation import Evaluation
from glassformer.evaluate.evaluation import evaluate as evaluate_run
from glassformer.evaluate.fill import Filled
from glassformer.evaluate.fill import fill as fill_gaps
from glassformer.evaluate.forecast import Forecast
from glassformer.evaluate.forecast import forecast as forecast_file
from glassformer.evaluate.given import Text, every_text
from glassformer.evaluate.recognise import recognise as recognise_all
from glassformer.evaluate.translate import Search, search_for, translations
from glassformer.evaluate.write import Written, write, write_all, writing_for
from glassformer.layers.norm import NORMS, Norm
from glassformer.ledger.amounts import amount
from glassformer.ledger.costs import Pass
from glassformer.ledger.devices import MEASURED, Device, device_named
from glassformer.ledger.job import Job
from glassformer.ledger.parameters import Ledger
from glassformer.ledger.parameters import count as count_config
from glassformer.ledger.plan import Plan
from glassformer.ledger.plan import plan as plan_config
from glassformer.models.build import build as build_config
from glassformer.models.check import check as check_config
from glassformer.open import Loaded, Model, choose_device, name_of, open_config
from glassformer.open import load as load_run
from glassformer.runs import Run
from glassformer.train.begin import begin_or_again
from glassformer.train.events import Event
from glassformer.train.forecast_picture import check_picture, draw_forecast
from glassformer.train.watch import NotShown, watched
from glassformer.values import wrong_type

DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def count(model: Model, *, layers: int | None = None, run: Pass | None = None, **keys: Any) -> Ledger:
    """Every parameter of a model by formula, and with `run=gf.Pass(batch=8, length=512)` its FLOPs and bytes.

    `layers` sets the depth, other keywords any key of the configuration.
    """
    return count_config(name_of(model), open_config(model, layers=layers, overrides=keys), run)


def plan(
    model: Model,
    *,
    tokens: int | float | str,
    device: str | Device = MEASURED,
    job: Job | None = None,
    utilisation: float | None = None,
    mfu: float | None = None,
    price: float | None = None,
    layers: int | None = None,
    **keys: Any,
) -> Plan:
    """Will it fit, how long will it take, what limits it: `gf.plan("gpt2", tokens="300B", device="a100-40")`.

    `device` is the name of a data sheet, a `gf.Device`, or "this-machine", which is measured in seconds; `job` says how
    to train: `gf.Job(devices=8, batch=12)`.
    """
    return plan_config(
        name_of(model),
        open_config(model, layers=layers, overrides=keys),
        tokens=amount("tokens", tokens),
        device=device if isinstance(device, Device) else device_named(device),
        job=job or Job(),
        utilisation=utilisation,
        mfu=mfu,
        price=price,
    )


def build(
    model: Model,
    *,
    layers: int | None = None,
    seed: int | None = None,
    device: str | torch.device | None = None,
    dtype: str | torch.dtype | None = None,
    kernel: str = "fused",
    norms: Mapping[str, Norm] = NORMS,
    **keys: Any,
) -> nn.Module:
    """An nn.Module from a preset, a ModelConfig, a TOML file or a dict. `device="meta"`: without memory.

    `norms` adds kinds of one's own: `norms={**NORMS, "batch": …}, norm="batch"`.
    """
    config = open_config(model, layers=layers, overrides=keys)
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise wrong_type("seed", seed, "whole_number")
    return build_config(
        config, seed=seed, device=_device(device, meta=True), dtype=_dtype(dtype), kernel=kernel, norms=norms
    )


def check(model: Model, *, layers: int | None = None, **keys: Any) -> None:
    """Raise a ConfigError with name, value, rule and remedy unless the model can be built."""
    check_config(open_config(model, layers=layers, overrides=keys))


def load(
    model: str | Path,
    *,
    device: str | torch.device | None = None,
    checkpoint: str = "auto",
    dtype: str | torch.dtype | None = None,
    finite: bool = True,
) -> Loaded:
    """A trained model with its tokenizers, ready to use.

    `checkpoint`: averaged, best, last or a step; auto: the first whole one of these. `device="auto"`: the accelerator
    if there is one.
    `dtype`: the type to compute in, float32 where nothing is said. `finite=False` opens weights that are NaN or
    infinite, to be looked at.
    """
    return load_run(model, device=_device(device), checkpoint=checkpoint, dtype=_dtype(dtype), finite=finite)


@overload
def translate(  # type: ignore[overload-overlap]  # a str is a sequence of str too; the first that fits counts
    model: str | Path | Loaded,
    texts: str,
    *,
    beam: int | None = None,
    length_penalty: float | None = None,
    length_norm: str | None = None,
    stop: str | None = None,
    nbest: Literal[1] = 1,
    truncate: bool = False,
) -> str: ...
@overload
def translate(
    model: str | Path | Loaded,
    texts: Sequence[str],
    *,
    beam: int | None = None,
    length_penalty: float | None = None,
    length_norm: str | None = None,
    stop: str | None = None,
    nbest: Literal[1] = 1,
    truncate: bool = False,
) -> list[str]: ...
@overload
def translate(
    model: str | Path | Loaded,
    texts: str | Sequence[str],
    *,
    beam: int | None = None,
    length_penalty: float | None = None,
    length_norm: str | None = None,
    stop: str | None = None,
    nbest: int,
    truncate: bool = False,
) -> list[str] | list[list[str]]: ...
def translate(
    model: str | Path | Loaded,
    texts: str | Sequence[str],
    *,
    beam: int | None = None,
    length_penalty: float | None = None,
    length_norm: str | None = None,
    stop: str | None = None,
    nbest: int = 1,
    truncate: bool = False,
) -> str | list[str] | list[list[str]]:
    """The best translation: of a sentence a sentence, of a list a list; with `nbest` a list of the best of each.

    What is not said is as the model's own generation_config.json has it, else beam 4 with the paper's length norm.
    `beam=1` is greedy; `truncate` cuts a sentence that is too long.
    """
    loaded = _loaded(model)
    search = search_for(
        loaded,
        beam=beam,
        length_penalty=length_penalty,
        length_norm=length_norm,
        stop=stop,
        nbest=nbest,
        truncate=truncate,
    )
    found = [[one.text for one in some] for some in translations(loaded, texts, search)]
    if nbest == 1:
        best = [some[0] for some in found]
        return best[0] if isinstance(texts, str) else best
    return found[0] if isinstance(texts, str) else found


@overload
def classify(model: str | Path | Loaded, texts: Text, *, truncate: bool = False) -> Classified: ...  # type: ignore[overload-overlap]
@overload
def classify(model: str | Path | Loaded, texts: Sequence[Text], *, truncate: bool = False) -> list[Classified]: ...
def classify(
    model: str | Path | Loaded, texts: Text | Sequence[Text], *, truncate: bool = False
) -> Classified | list[Classified]:
    """The class of a text or a pair ("a", "b"), or of each of a list, with the probabilities of all classes.

    A text that is too long is refused, or with `truncate` cut off.
    """
    found = classify_all(_loaded(model), texts, truncate=truncate)
    return found[0] if isinstance(texts, str | tuple) else found


@overload
def recognise(model: str | Path | Loaded, images: str | Path) -> Classified: ...  # type: ignore[overload-overlap]
@overload
def recognise(model: str | Path | Loaded, images: Sequence[str | Path]) -> list[Classified]: ...
def recognise(model: str | Path | Loaded, images: str | Path | Sequence[str | Path]) -> Classified | list[Classified]:
    """The class of an image file, or of each of a list, with the probabilities of all classes; prints as a table."""
    found = recognise_all(_loaded(model), images)
    return found[0] if isinstance(images, str | Path) else found


def fill(model: str | Path | Loaded, text: str, *, top: int = 5, truncate: bool = False) -> list[Filled]:
    """The words that fit where a text says [MASK] or ___, for each gap by itself; prints as a table."""
    return fill_gaps(_loaded(model), text, top, truncate=truncate)


def embed(
    model: str | Path | Loaded, texts: str | Sequence[str], *, pool: str | None = None, truncate: bool = False
) -> Tensor:
    """A vector of a text, d, or of each of a list, n d. `pool`: mean, cls, max …; else as the model's files say."""
    found = embed_all(_loaded(model), texts, pool, truncate=truncate)
    return found[0] if isinstance(texts, str) else found


@overload
def generate(  # type: ignore[overload-overlap]  # a str is a sequence of str too
    model: str | Path | Loaded,
    prompt: str = "",
    *,
    tokens: int | None = None,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    beam: int | None = None,
    stop: str | Sequence[str] = (),
    chat: bool = False,
    system: str | None = None,
    truncate: bool = False,
    special_tokens: bool = False,
) -> Written: ...
@overload
def generate(
    model: str | Path | Loaded,
    prompt: Sequence[str],
    *,
    tokens: int | None = None,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    beam: int | None = None,
    stop: str | Sequence[str] = (),
    chat: bool = False,
    system: str | None = None,
    truncate: bool = False,
    special_tokens: bool = False,
) -> list[Written]: ...
@overload
def generate(
    model: str | Path | Loaded,
    prompt: Sequence[Message],
    *,
    tokens: int | None = None,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    beam: int | None = None,
    stop: str | Sequence[str] = (),
    chat: bool = False,
    system: str | None = None,
    truncate: bool = False,
    special_tokens: bool = False,
) -> Written: ...
def generate(
    model: str | Path | Loaded,
    prompt: str | Sequence[str] | Sequence[Message] = "",
    *,
    tokens: int | None = None,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    beam: int | None = None,
    stop: str | Sequence[str] = (),
    chat: bool = False,
    system: str | None = None,
    truncate: bool = False,
    special_tokens: bool = False,
) -> Written | list[Written]:
    """A text and how a model goes on with it: greedily, drawn where any of temperature … seed is named, or by beams.

    A list of texts is written side by side, each as it would be alone. `chat=True` puts the text, as what a user says,
    into the model's own chat template, after what `system` says; so does a list of messages with role and content.
    What is not said is as the model's generation_config.json has it. `truncate` keeps the end of a prompt that is too
    long; with `special_tokens` a typed "</s>" is that token.
    """
    loaded = _loaded(model)
    writing = writing_for(
        loaded,
        tokens=tokens,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        seed=seed,
        beam=beam,
        stop=stop,
        truncate=truncate,
        special_tokens=special_tokens,
    )
    if is_conversation(prompt):
        return write(loaded, chat_prompt(loaded, prompt, system), writing)
    every = [chat_prompt(loaded, one, system) if chat else one for one in every_text(prompt)]
    return write(loaded, every[0], writing) if isinstance(prompt, str) else write_all(loaded, every, writing)


def forecast(
    model: str | Path | Loaded,
    path: str | Path,
    *,
    column: str = "",
    date: str = "",
    gaps: bool = False,
    picture: str | Path | None = None,
) -> Forecast:
    """The values after the last row of a CSV, with persistence and DLinear beside; `picture`: a .png or .svg of it."""
    if picture is not None:
        check_picture(Path(picture))
    loaded = model if isinstance(model, Loaded) else load(model)
    found = forecast_file(loaded, path, column=column, date=date, gaps=gaps)
    if picture is not None:
        draw_forecast(found, Path(picture))
    return found


def evaluate(
    run: str | Path | Loaded | TrainedRun,
    split: str = "validation",
    *,
    beam: int = 4,
    length_penalty: float = 0.6,
    forensics: bool = False,
) -> Evaluation:
    """BLEU, chrF, TER, exact match and loss on a split of the run's own data; prints as a table."""
    given = run.folder if isinstance(run, TrainedRun) else run
    return evaluate_run(given, split, Search(beam=beam, alpha=length_penalty), forensics=forensics)


def compare(
    a: Side,
    b: Side,
    inputs: str | Sequence[str] | torch.Tensor | None = None,
    *,
    tolerance: float | None = None,
    transformers: bool = False,
) -> Comparison:
    """Two models on the same inputs: the first tap where they differ, and by how much; prints as a table.

    `inputs`: texts, a tensor as the models take it, or None for a small batch that is always the same. `b` may be a
    live model of the library transformers; with `transformers=True` it is a folder that this library opens.
    `tolerance` is relative to the largest number of a tap: by default 0, or 1e-4 beside a model of transformers.
    """
    return compare_models(a, b, inputs, tolerance=tolerance, transformers=transformers)


@dataclass(frozen=True)
class TrainedRun:
    """What training leaves behind: a folder, its log, its best checkpoint, and the model on demand."""

    folder: Path

    @property
    def log(self) -> list[dict[str, Any]]:
        """Every line of log.jsonl."""
        return Run.open(self.folder).log.read()

    @property
    def best(self) -> Path | None:
        """The checkpoint that was best in validation."""
        return Run.open(self.folder).best

    def load(self, *, device: str | torch.device | None = None, checkpoint: str = "auto") -> Loaded:
        return load(self.folder, device=device, checkpoint=checkpoint)


def train(
    recipe: str | Path,
    *,
    out: str | Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    resume: bool = False,
    watch: Callable[[Event], None] = lambda event: None,
) -> TrainedRun:
    """Train a recipe of the package or a TOML file; the run is in `out` (default: runs/NAME).

    `overrides` sets any key: {"train.steps": 500}; `watch` is told everything that happens, as it happens.
    """
    job, resumed = begin_or_again(recipe, out, resume, overrides or {})
    for event in watched(job, resume=resumed):
        if not isinstance(event, NotShown):
            watch(event)
    return TrainedRun(job.run.folder)


def _loaded(model: str | Path | Loaded) -> Loaded:
    return model if isinstance(model, Loaded) else load(model)


def _dtype(dtype: str | torch.dtype | None) -> torch.dtype | None:
    return None if dtype is None else choose("dtype", str(dtype).removeprefix("torch."), DTYPES)


def _device(device: str | torch.device | None, *, meta: bool = False) -> torch.device | None:
    return None if device is None else choose_device(device, meta=meta)
