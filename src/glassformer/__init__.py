"""Glassformer: a Transformer laboratory. Public names are loaded on first use, so importing costs nothing."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from glassformer.version import __version__

if TYPE_CHECKING:
    from glassformer.api import TrainedRun as TrainedRun
    from glassformer.api import build as build
    from glassformer.api import check as check
    from glassformer.api import compare as compare
    from glassformer.api import count as count
    from glassformer.api import count_box as count_box
    from glassformer.api import evaluate as evaluate
    from glassformer.api import explore as explore
    from glassformer.api import forecast as forecast
    from glassformer.api import plan as plan
    from glassformer.api import presets as presets
    from glassformer.api import train as train
    from glassformer.api import trained_models as trained_models
    from glassformer.comparison.report import Comparison as Comparison
    from glassformer.config.model import ModelConfig as ModelConfig
    from glassformer.config.values import Choice as Choice
    from glassformer.errors import ConfigError as ConfigError
    from glassformer.errors import FileError as FileError
    from glassformer.errors import GlassformerError as GlassformerError
    from glassformer.errors import InputError as InputError
    from glassformer.layers.attention import Cache as Cache
    from glassformer.layers.attention import MultiHeadAttention as MultiHeadAttention
    from glassformer.layers.embedding import TokenEmbedding as TokenEmbedding
    from glassformer.layers.feed_forward import FeedForward as FeedForward
    from glassformer.layers.feed_forward import GatedFeedForward as GatedFeedForward
    from glassformer.layers.norm import LayerNorm as LayerNorm
    from glassformer.layers.norm import RMSNorm as RMSNorm
    from glassformer.layers.patch import ImagePatches as ImagePatches
    from glassformer.layers.patch import SeriesPatches as SeriesPatches
    from glassformer.layers.position import AlibiPositions as AlibiPositions
    from glassformer.layers.position import LearnedPositions as LearnedPositions
    from glassformer.layers.position import RelativePositions as RelativePositions
    from glassformer.layers.position import RotaryPositions as RotaryPositions
    from glassformer.layers.position import SinusoidalPositions as SinusoidalPositions
    from glassformer.ledger.costs import Pass as Pass
    from glassformer.ledger.devices import DEVICES as DEVICES
    from glassformer.ledger.devices import Device as Device
    from glassformer.ledger.job import Job as Job
    from glassformer.ledger.parameters import Ledger as Ledger
    from glassformer.ledger.plan import Plan as Plan
    from glassformer.ledger.presets import Presets as Presets
    from glassformer.lessons.lesson_results import JudgedClaim as JudgedClaim
    from glassformer.lessons.view import LessonView as LessonView
    from glassformer.loading import Loaded as Loaded
    from glassformer.models.block import DecoderBlock as DecoderBlock
    from glassformer.models.block import EncoderBlock as EncoderBlock
    from glassformer.models.block import recompute as recompute
    from glassformer.models.decoder import Decoder as Decoder
    from glassformer.models.encoder import Encoder as Encoder
    from glassformer.sharing.card import ModelCard as ModelCard
    from glassformer.sharing.packaged import TrainedModels as TrainedModels
    from glassformer.symbols.run import Step as Step
    from glassformer.tasks.classification.classify import Classified as Classified
    from glassformer.tasks.forecasting.forecast import Forecast as Forecast
    from glassformer.tasks.language_model.write import Written as Written
    from glassformer.tasks.masked_language_model.fill import Filled as Filled
    from glassformer.tasks.result import Evaluation as Evaluation
    from glassformer.textbook.verbs import claims as claims
    from glassformer.textbook.verbs import lesson as lesson
    from glassformer.textbook.verbs import report as report
    from glassformer.trace.catalogue import taps as taps
    from glassformer.trace.edit import edit as edit
    from glassformer.trace.edit import patch as patch
    from glassformer.trace.edit import replace as replace
    from glassformer.trace.edit import scale as scale
    from glassformer.trace.edit import zero as zero
    from glassformer.trace.record import record as record
    from glassformer.trace.trace import Trace as Trace
    from glassformer.verbs import classify as classify
    from glassformer.verbs import embed as embed
    from glassformer.verbs import fill as fill
    from glassformer.verbs import generate as generate
    from glassformer.verbs import load as load
    from glassformer.verbs import recognise as recognise
    from glassformer.verbs import translate as translate

_HOME = {
    "JudgedClaim": "lessons.lesson_results",
    "LessonView": "lessons.view",
    "AlibiPositions": "layers.position",
    "Cache": "layers.attention",
    "Choice": "config.values",
    "Comparison": "comparison.report",
    "Classified": "tasks.classification.classify",
    "ConfigError": "errors",
    "DEVICES": "ledger.devices",
    "Decoder": "models.decoder",
    "DecoderBlock": "models.block",
    "Device": "ledger.devices",
    "Encoder": "models.encoder",
    "EncoderBlock": "models.block",
    "Evaluation": "tasks.result",
    "FeedForward": "layers.feed_forward",
    "FileError": "errors",
    "Filled": "tasks.masked_language_model.fill",
    "Forecast": "tasks.forecasting.forecast",
    "GatedFeedForward": "layers.feed_forward",
    "GlassformerError": "errors",
    "ImagePatches": "layers.patch",
    "InputError": "errors",
    "Job": "ledger.job",
    "LayerNorm": "layers.norm",
    "LearnedPositions": "layers.position",
    "Ledger": "ledger.parameters",
    "Loaded": "loading",
    "ModelConfig": "config.model",
    "ModelCard": "sharing.card",
    "MultiHeadAttention": "layers.attention",
    "Pass": "ledger.costs",
    "Plan": "ledger.plan",
    "Presets": "ledger.presets",
    "RMSNorm": "layers.norm",
    "RelativePositions": "layers.position",
    "RotaryPositions": "layers.position",
    "SeriesPatches": "layers.patch",
    "SinusoidalPositions": "layers.position",
    "Step": "symbols.run",
    "TokenEmbedding": "layers.embedding",
    "Trace": "trace.trace",
    "TrainedModels": "sharing.packaged",
    "TrainedRun": "api",
    "Written": "tasks.language_model.write",
    "build": "api",
    "check": "api",
    "claims": "textbook.verbs",
    "compare": "api",
    "classify": "verbs",
    "count": "api",
    "count_box": "api",
    "edit": "trace.edit",
    "embed": "verbs",
    "evaluate": "api",
    "explore": "api",
    "fill": "verbs",
    "generate": "verbs",
    "forecast": "api",
    "lesson": "textbook.verbs",
    "load": "verbs",
    "patch": "trace.edit",
    "plan": "api",
    "presets": "api",
    "recognise": "verbs",
    "recompute": "models.block",
    "record": "trace.record",
    "replace": "trace.edit",
    "report": "textbook.verbs",
    "scale": "trace.edit",
    "taps": "trace.catalogue",
    "train": "api",
    "trained_models": "api",
    "translate": "verbs",
    "zero": "trace.edit",
}

# modules under short names: everything in them is public
_MODULES = {
    "losses": "losses",
    "masks": "layers.attention.mask",
    "metrics": "metrics",
    "schedules": "training.schedule",
    "tokenizers": "text",
}

# old name → new name, for one release: the old one still works, with a warning
_RENAMED = {
    "Answer": "JudgedClaim",
    "Told": "LessonView",
}

__all__ = ["__version__", *_HOME, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        from glassformer.words import say  # only here: `import glassformer` reads no sentences

        old, name = name, _RENAMED[name]
        warnings.warn(say("warnings.renamed", old=old, new=name), DeprecationWarning, stacklevel=2)
    if name in _MODULES:
        return import_module(f"glassformer.{_MODULES[name]}")
    if name not in _HOME:
        raise AttributeError(f"module 'glassformer' has no attribute {name!r}")
    return getattr(import_module(f"glassformer.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
