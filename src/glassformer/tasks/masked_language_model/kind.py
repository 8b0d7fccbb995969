"""Masked language modelling as the rest of the package sees it: its line in `TASKS`."""

from glassformer.tasks.kind import Kind
from glassformer.tasks.masked_language_model.evaluation import evaluate_masked
from glassformer.tasks.masked_language_model.task import MaskedLanguageModel
from glassformer.tasks.samples import first_sample

MASKED_LANGUAGE_MODEL = Kind(
    task=MaskedLanguageModel,
    verb="fill",
    example=first_sample,
    evaluate=evaluate_masked,
)
