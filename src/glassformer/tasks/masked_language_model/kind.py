"""Masked language modelling as the rest of the package sees it: its line in `TASKS`."""

from glassformer.data.documents import read_documents
from glassformer.data.file_report import describe_texts
from glassformer.tasks.kind import Kind
from glassformer.tasks.masked_language_model.evaluation import evaluate_masked
from glassformer.tasks.masked_language_model.task import MaskedLanguageModel
from glassformer.tasks.own_files import OwnFiles
from glassformer.tasks.samples import first_sample

MASKED_LANGUAGE_MODEL = Kind(
    task=MaskedLanguageModel,
    verb="fill",
    example=first_sample,
    evaluate=evaluate_masked,
    own=OwnFiles(
        recipe="own-gaps",
        count=lambda path: (len(read_documents(path, by_line=True)), 1),
        describe=describe_texts,
    ),
)
