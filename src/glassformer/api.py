"""The Python interface: count, plan, build, evaluate, compare and train; the everyday verbs are in `verbs`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import torch
from torch import nn

from glassformer.comparison.compare import compare as compare_models
from glassformer.comparison.ours import ModelSide
from glassformer.comparison.report import Comparison
from glassformer.config.values import wrong_type
from glassformer.errors import ConfigError, UsageError, shown
from glassformer.layers.norm import NORMS, Norm
from glassformer.ledger.amounts import amount
from glassformer.ledger.costs import Pass
from glassformer.ledger.devices import MEASURED, Device, device_named
from glassformer.ledger.job import Job
from glassformer.ledger.parameters import Ledger
from glassformer.ledger.parameters import count as count_config
from glassformer.ledger.plan import Plan
from glassformer.ledger.plan import plan as plan_config
from glassformer.ledger.presets import Presets
from glassformer.ledger.presets import presets as named_presets
from glassformer.ledger.rows import ParameterRow, rows_of_box
from glassformer.loading import Loaded, Model, name_of, open_config
from glassformer.models.build import build as build_config
from glassformer.models.check import check as check_config
from glassformer.ranks import Ranks
from glassformer.runs import Run
from glassformer.sharing import TrainedModels
from glassformer.sharing import trained_models as list_models
from glassformer.tasks.evaluation import evaluate as evaluate_run
from glassformer.tasks.forecasting.forecast import Forecast
from glassformer.tasks.forecasting.forecast import forecast as forecast_file
from glassformer.tasks.result import Evaluation
from glassformer.tasks.search import search_for
from glassformer.torchrun import ranks_here
from glassformer.training.begin import begin_or_again
from glassformer.training.events import Event
from glassformer.training.forecast_picture import check_forecast_picture, draw_forecast
from glassformer.training.watch import NotShown, train_watched
from glassformer.verbs import device_of, dtype_of, load

if TYPE_CHECKING:
    from glassformer.explorer.serve import Running


def count(model: Model, *, layers: int | None = None, run: Pass | None = None, **keys: Any) -> Ledger:
    """Every parameter of a model by formula, and with `run=gf.Pass(batch=8, length=512)` its FLOPs and bytes.

    `layers` sets the depth, other keywords any key of the configuration.
    """
    if run is not None:
        _check_kind("run", run, Pass)
    return count_config(name_of(model), open_config(model, layers=layers, overrides=keys), run)


def count_box(box: type[nn.Module], **options: Any) -> tuple[ParameterRow, ...]:
    """The parameters of one box by itself, by formula: `gf.count_box(gf.FeedForward, d_model=512, d_ff=2048)`.

    A row has `.name`, `.formula`, `.numbers`, `.parameters`, `.buffers` and `.shapes()`. Nothing is allocated.
    """
    if not (isinstance(box, type) and issubclass(box, nn.Module)):
        raise ConfigError("wrong_kind", key="box", value=shown(box), kind="gf.MultiHeadAttention, gf.FeedForward …")
    return rows_of_box(box, options)


def presets() -> Presets:
    """Every named model with its size; prints as a table. `.names` lists them."""
    return named_presets()


def trained_models() -> TrainedModels:
    """Every trained model of the package with its score and size; `gf.trained_models()["digits"]` is a card."""
    return list_models()


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

    `device` is the name of a data sheet, a `gf.Device`, or "this-machine", measured in a few seconds; `job` says how to
    train: `gf.Job(devices=8, batch=12)`.
    """
    job = Job() if job is None else job
    _check_kind("job", job, Job)
    return plan_config(
        name_of(model),
        open_config(model, layers=layers, overrides=keys),
        tokens=amount("tokens", tokens),
        device=device if isinstance(device, Device) else device_named(device),
        job=job,
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

    `norms` adds your own kinds: `norms={**NORMS, "batch": …}, norm="batch"`.
    """
    config = open_config(model, layers=layers, overrides=keys)
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise wrong_type("seed", seed, "whole_number")
    if not isinstance(norms, Mapping):
        raise ConfigError("wrong_kind", key="norms", value=shown(norms), kind="{**NORMS, …}")
    return build_config(
        config, seed=seed, device=device_of(device, meta=True), dtype=dtype_of(dtype), kernel=kernel, norms=norms
    )


def check(model: Model, *, layers: int | None = None, **keys: Any) -> None:
    """Raise a ConfigError with name, value, rule and remedy unless the model can be built."""
    check_config(open_config(model, layers=layers, overrides=keys))


def forecast(
    model: str | Path | Loaded,
    path: str | Path,
    *,
    column: str = "",
    date: str = "",
    gaps: bool = False,
    picture: str | Path | None = None,
) -> Forecast:
    """The values after the last row of a CSV, compared with baselines; `picture`: a .png or .svg to draw."""
    if picture is not None:
        check_forecast_picture(Path(picture))
    loaded = model if isinstance(model, Loaded) else load(model)
    found = forecast_file(loaded, path, column=column, date=date, gaps=gaps)
    if picture is not None:
        draw_forecast(found, Path(picture))
    return found


def evaluate(
    run: str | Path | Loaded | TrainedRun,
    split: str = "validation",
    *,
    beam: int | None = None,
    length_penalty: float | None = None,
    length_norm: str | None = None,
    stop: str | None = None,
    forensics: bool = False,
) -> Evaluation[Any]:
    """BLEU, chrF, TER, exact match and loss on a split of the run's own data; prints as a table.

    The search is that of `translate`, unless these options say otherwise.
    """
    given = run.folder if isinstance(run, TrainedRun) else run
    loaded = given if isinstance(given, Loaded) else load(given)
    search = search_for(loaded, beam=beam, length_penalty=length_penalty, length_norm=length_norm, stop=stop)
    return evaluate_run(loaded, split, search, forensics=forensics)


@overload
def explore(*models: str | Path | Loaded | TrainedRun, port: int | None = None, browser: bool = True) -> Running: ...


@overload
def explore(
    *models: str | Path | Loaded | TrainedRun, export: str | Path, text: str | None = None, force: bool = False
) -> Path: ...


def explore(
    *models: str | Path | Loaded | TrainedRun,
    port: int | None = None,
    browser: bool = True,
    export: str | Path | None = None,
    text: str | None = None,
    force: bool = False,
) -> Running | Path:
    """The web explorer in the background, with these models and those of the package; `.url` is its address.

    `gf.explore("runs/demo")` opens the browser, and so does `gf.explore(model)` with a model of `gf.load` or a run of
    `gf.train`; `.stop()` ends it. `gf.explore(model, export="page.html", text="…")` writes the page with that one pass
    as one file instead, which opens without a server or the model.
    """
    folders = [one.folder if isinstance(one, Loaded | TrainedRun) else one for one in models]
    if export is not None:
        from glassformer.explorer.save import save_page

        return save_page(folders, Path(export), text=text, force=force)
    if text is not None:
        raise UsageError("explorer_export_only", key="text")
    from glassformer.explorer.serve import start  # here: the server is needed by nobody else

    return start(folders, port=port, browser=browser)


def compare(
    a: ModelSide,
    b: ModelSide,
    inputs: str | Sequence[str] | torch.Tensor | None = None,
    *,
    tolerance: float | None = None,
    transformers: bool = False,
) -> Comparison:
    """Two models on the same inputs: the first tap where they differ, and by how much; prints as a table.

    `inputs`: texts, a tensor as the models take it, or None for a small batch that is always the same. `b` may be a
    live model of the library transformers; with `transformers=True` it is a folder that transformers opens.
    `tolerance` is relative to the largest number of a tap: by default 0, or 1e-4 for a model of transformers.
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

    def load(self, *, device: str | torch.device | None = None, checkpoint: str | int = "auto") -> Loaded:
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

    `overrides` sets any key: {"train.steps": 500}; `watch` is called with every event as it happens. In a script that
    torchrun has started, all its processes train one model; `watch` is then called in each.
    """
    if not isinstance(overrides, Mapping | None):
        raise wrong_type("overrides", overrides, "table")
    changes = overrides or {}

    def trained(ranks: Ranks) -> TrainedRun:
        job, resumed = begin_or_again(recipe, out, resume, changes, ranks=ranks)
        for event in train_watched(job, resume=resumed):
            if not isinstance(event, NotShown):
                watch(event)
        return TrainedRun(job.run.folder)

    with ranks_here(always="train.parallel" in changes) as ranks:
        return trained(ranks)


def _check_kind(key: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise ConfigError("wrong_kind", key=key, value=shown(value), kind=f"gf.{kind.__name__}(…)")
