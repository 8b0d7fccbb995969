"""Language modelling as the rest of the package sees it: its line in `TASKS`."""

from glassformer.data.file_report import describe_texts
from glassformer.tasks.kind import Kind
from glassformer.tasks.language_model.evaluation import evaluate_language_model
from glassformer.tasks.language_model.own import fitting_context
from glassformer.tasks.language_model.samples import sample_continuations
from glassformer.tasks.language_model.task import LanguageModel
from glassformer.tasks.own_files import OwnFiles
from glassformer.tasks.samples import first_sample

LANGUAGE_MODEL = Kind(
    task=LanguageModel,
    verb="generate",
    example=first_sample,
    evaluate=evaluate_language_model,
    samples=sample_continuations,
    own=OwnFiles(recipe="own-text", fit=fitting_context, describe=describe_texts),
)
