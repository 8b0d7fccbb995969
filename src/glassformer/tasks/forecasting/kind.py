"""Forecasting as the rest of the package sees it: its line in `TASKS`."""

from glassformer.data.file_report import describe_series
from glassformer.tasks.forecasting.evaluation import evaluate_forecasting
from glassformer.tasks.forecasting.forecast import training_file
from glassformer.tasks.forecasting.samples import sample_forecasts
from glassformer.tasks.forecasting.task import Forecasting
from glassformer.tasks.kind import Kind
from glassformer.tasks.own_files import OwnFiles

FORECASTING = Kind(
    task=Forecasting,
    verb="forecast",
    example=training_file,
    evaluate=evaluate_forecasting,
    samples=sample_forecasts,
    own=OwnFiles(recipe="own-series", source="csv", options=("path",), describe=describe_series),
)
