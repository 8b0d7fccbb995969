"""Forecasting: the past of a series in patches, its next values out; each channel by itself (Nie et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from glassformer.config.options import Schema
from glassformer.config.recipe import RunConfig, TrainConfig
from glassformer.config.table import ConfigTable, checked
from glassformer.config.values import Choice, one_of, size_or_zero
from glassformer.data.batch import ArrayBatch
from glassformer.data.channel_sources import CHANNELS_OPTIONS, CUT, SOURCES
from glassformer.data.examples import Example, Windows
from glassformer.data.panel import Panel, Scaler, panel
from glassformer.errors import ConfigError, choose
from glassformer.losses import Loss, Sum, make_loss, mean_absolute_error, mean_squared_error
from glassformer.models.check import check, input_positions
from glassformer.models.encoder import EncoderOnly
from glassformer.runs import Run
from glassformer.tasks.forecasting.baselines import Baselines
from glassformer.tasks.options import check_options, refuse_limit
from glassformer.tasks.task import means

EPS = 1e-5  # added to the variance, as in RevIN, so that a context that hardly moves is not blown up


CENTRES = ("mean", "last", "none")


@dataclass(frozen=True, kw_only=True)
class Settings(ConfigTable):
    """The options of a recipe besides the sizes.

    `season`: rows in a season, 24 for hours; `drop_last`: a batch size for which the evaluation also gives the errors
    without the last, smaller batch of windows, as in the literature.
    """

    instance_norm: str = checked("mean", partial(one_of, known=CENTRES))
    log: bool = False
    season: int = 1
    drop_last: int = checked(0, size_or_zero)

    @classmethod
    def of(cls, task: Choice) -> Settings:
        return cls.from_choice("task", task)

    def checked_season(self, context: int) -> int:
        if self.season > context:
            raise ConfigError("season_long", season=self.season, context=context)
        return self.season


@dataclass(frozen=True, kw_only=True)
class SeriesMaterial:
    """The material of a forecaster: the series and their scales, the windows of each part, the baselines."""

    config: RunConfig
    task: Forecasting
    panel: Panel
    scaler: Scaler
    baselines: Baselines
    windows: Mapping[str, Windows]

    @property
    def training(self) -> Windows:
        return self.windows["train"]

    @property
    def validation(self) -> Windows | None:
        found = self.windows["validation"]
        return found if len(found) else None

    def fill(self, run: Run) -> None:
        self.scaler.save(run.folder)
        self.baselines.save(run.folder)


@dataclass(frozen=True, kw_only=True)
class Forecasting:
    r"""Windows of a series: from `context` values, predict the next `horizon`; both are sizes of the model.

    Channel independence: the one model sees every channel as a series of its own, so a batch may mix them.
    Instance normalisation (Kim et al. 2022, RevIN without its affine part), where x is the context of one window:

        ŷ = c + √(var(x) + ε) · model((x − c) / √(var(x) + ε)),     c = mean(x), or the last value of x

    With the last value, a model whose output is 0 is persistence: a good start for prices. The normalisation belongs to
    the task, not to a box, as it has no parameters. The loss is that of ŷ, in deviations of the training part.
    """

    horizon: int
    criterion: Loss = mean_squared_error
    instance_norm: str = "mean"

    name: ClassVar[str] = "forecasting"
    unit: ClassVar[str] = "values"
    recordable: ClassVar[bool] = True
    options: ClassVar[Schema] = Settings.schema()
    sources: ClassVar[Mapping[str, Schema]] = CHANNELS_OPTIONS
    judged: ClassVar[Mapping[str, str]] = {"loss": "less", "mse": "less", "mae": "less", "persistence": "less"}
    shown: ClassVar[Mapping[str, str]] = {"mse": "free", "mae": "free", "persistence": "free"}
    extra_tokens: ClassVar[int] = 0

    # --- from a recipe ---

    @classmethod
    def sketch(cls, config: RunConfig) -> RunConfig:
        check_options(config, cls.options, ("mse", "mae", "huber"))
        refuse_limit(config, "data.source.split")
        source, model = config.data.source, config.model
        choose("data.source", source.kind, SOURCES)
        if "split" in source.options:
            CUT.check("data.source.split", source.options["split"])
        if model.family != "encoder":
            raise ConfigError("task_family", task=cls.name, family="encoder")
        if model.input.kind != "series" or model.head.kind != "regression":
            raise ConfigError("forecast_model", input=model.input.kind, head=model.head.kind)
        if model.input.options.get("channels", 1) != 1:
            raise ConfigError("forecast_channels", channels=model.input.options["channels"])
        return config

    @classmethod
    def begin(cls, config: RunConfig) -> SeriesMaterial:
        """Scales and linear maps are learned from the training part; validation chooses the ridge of the maps."""
        check(cls.sketch(config).model)
        context, horizon = sizes(config)
        read, chosen = panel(config.data.source), Settings.of(config.task)
        read.check_length(context, horizon)
        scaler = Scaler.fit(read, chosen.log)
        windows = cut(config, read, scaler)
        validation = windows["validation"] if len(windows["validation"]) else None
        baselines = Baselines.fit(windows["train"], validation, chosen.checked_season(context))
        return SeriesMaterial(
            config=config, task=cls.make(config), panel=read, scaler=scaler, baselines=baselines, windows=windows
        )

    @classmethod
    def again(cls, run: Run) -> SeriesMaterial:
        config, scaler = run.config, Scaler.open(run.folder)
        read = panel(config.data.source)
        return SeriesMaterial(
            config=config,
            task=cls.make(config),
            panel=read,
            scaler=scaler,
            baselines=Baselines.open(run.folder, Settings.of(config.task).season),
            windows=cut(config, read, scaler),
        )

    @classmethod
    def make(cls, config: RunConfig) -> Forecasting:
        """From a recipe: `task = "forecasting"`, or a table with the options of `Settings`."""
        loss = config.train.loss
        return cls(
            horizon=sizes(config)[1],
            criterion=make_loss(loss.kind, loss.options),
            instance_norm=Settings.of(config.task).instance_norm,
        )

    # --- in training ---

    def collate(self, examples: Sequence[Example], random: np.random.Generator | None = None) -> ArrayBatch:
        past = torch.from_numpy(np.stack([past for past, _ in examples]))  # b context
        future = torch.from_numpy(np.stack([future for _, future in examples]))  # b horizon
        return ArrayBatch(past, future, future.numel())

    def predict(self, model: nn.Module, past: Tensor) -> Tensor:
        """b context → b horizon, both scaled."""
        if not isinstance(model, EncoderOnly):
            raise ConfigError("task_family", task=self.name, family="encoder")
        if self.instance_norm == "none":
            return model(past[:, None]).float()
        centre = past[:, -1:] if self.instance_norm == "last" else past.mean(1, keepdim=True)  # b 1
        deviation = (past.var(1, unbiased=False, keepdim=True) + EPS).sqrt()  # b 1
        return centre + deviation * model(((past - centre) / deviation)[:, None]).float()

    def loss(self, model: nn.Module, batch: ArrayBatch) -> Sum:
        return self.criterion(self.predict(model, batch.inputs), batch.targets)

    def scores(self, model: nn.Module, batch: ArrayBatch) -> dict[str, Sum]:
        """The errors of the model, and the squared error of persistence."""
        found, last = self.predict(model, batch.inputs), batch.inputs[:, -1:].expand_as(batch.targets)
        return {
            "loss": self.criterion(found, batch.targets),
            "mse": mean_squared_error(found, batch.targets),
            "mae": mean_absolute_error(found, batch.targets),
            "persistence": mean_squared_error(last, batch.targets),
        }

    def metrics(self, sums: Mapping[str, Sum]) -> dict[str, float]:
        return means(sums)

    def with_loss(self, loss: Loss) -> Forecasting:
        return replace(self, criterion=loss)

    def of_one_size(self, config: TrainConfig, longest: int | None) -> Forecasting:
        return self


def sizes(config: RunConfig) -> tuple[int, int]:
    """Context and horizon of the model."""
    return config.model.input.options["context"], config.model.head.options["outputs"]


def cut(config: RunConfig, read: Panel, scaler: Scaler) -> dict[str, Windows]:
    """The windows of each part, all on the same scaled values: nothing is copied."""
    context, horizon = sizes(config)
    positions = input_positions(config.model)
    assert positions is not None
    values = scaler.scaled(read.channels)
    return {
        part: Windows(values, read.starts(part, context, horizon), (context, horizon), positions)
        for part in ("train", "validation", "test")
    }
