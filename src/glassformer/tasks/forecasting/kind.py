"""Forecasting as the rest of the package sees it: its line in `TASKS`."""

from glassformer.tasks.forecasting.evaluation import evaluate_forecasting
from glassformer.tasks.forecasting.forecast import training_file
from glassformer.tasks.forecasting.samples import sample_forecasts
from glassformer.tasks.forecasting.task import Forecasting
from glassformer.tasks.kind import Kind

FORECASTING = Kind(
    task=Forecasting,
    verb="forecast",
    example=training_file,
    evaluate=evaluate_forecasting,
    samples=sample_forecasts,
)
