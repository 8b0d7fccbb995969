"""Image classification as the rest of the package sees it: its line in `TASKS`."""

from torch import nn

from glassformer.data.file_report import describe_images
from glassformer.data.pictures import image_files
from glassformer.metrics.classification import ConfusionTable
from glassformer.runs import Run
from glassformer.tasks.classification.confusion import confusion_matrix
from glassformer.tasks.image_classification.evaluation import evaluate_image_classification
from glassformer.tasks.image_classification.recognise import training_image
from glassformer.tasks.image_classification.task import ImageClassification
from glassformer.tasks.kind import Kind
from glassformer.tasks.own_files import OwnFiles, count_labels


def _confused(run: Run, model: nn.Module) -> ConfusionTable | None:
    return confusion_matrix(ImageClassification.again(run), model)


IMAGE_CLASSIFICATION = Kind(
    task=ImageClassification,
    verb="recognise",
    example=training_image,
    evaluate=evaluate_image_classification,
    confused=_confused,
    own=OwnFiles(
        recipe="own-images",
        source="folder",
        count=lambda path: count_labels([name for name, files in image_files(path).items() for _ in files]),
        describe=describe_images,
    ),
)
