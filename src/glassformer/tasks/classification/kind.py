"""Classification as the rest of the package sees it: its line in `TASKS`."""

from glassformer.data.file_report import describe_labelled
from glassformer.data.texts import read_texts
from glassformer.tasks.classification.confusion import confusion_matrix
from glassformer.tasks.classification.evaluation import evaluate_classification
from glassformer.tasks.classification.samples import sample_guesses
from glassformer.tasks.classification.task import Classification
from glassformer.tasks.kind import Kind
from glassformer.tasks.own_files import OwnFiles, count_labels
from glassformer.tasks.samples import first_sample

CLASSIFICATION = Kind(
    task=Classification,
    verb="classify",
    example=first_sample,
    evaluate=evaluate_classification,
    samples=sample_guesses,
    confused=confusion_matrix,
    own=OwnFiles(
        recipe="own-classification",
        count=lambda path: count_labels(read_texts(path).labels),
        describe=describe_labelled,
    ),
)
