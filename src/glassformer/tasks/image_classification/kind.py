"""Image classification as the rest of the package sees it: its line in `TASKS`."""

from glassformer.data.file_report import describe_images
from glassformer.data.pictures import image_files
from glassformer.tasks.classification.confusion import confusion_matrix
from glassformer.tasks.image_classification.evaluation import evaluate_image_classification
from glassformer.tasks.image_classification.recognise import training_image
from glassformer.tasks.image_classification.task import ImageClassification
from glassformer.tasks.kind import Kind
from glassformer.tasks.own_files import OwnFiles, count_labels

IMAGE_CLASSIFICATION = Kind(
    task=ImageClassification,
    verb="recognise",
    example=training_image,
    evaluate=evaluate_image_classification,
    confused=confusion_matrix,
    own=OwnFiles(
        recipe="own-images",
        source="folder",
        count=lambda path: count_labels([name for name, files in image_files(path).items() for _ in files]),
        describe=describe_images,
    ),
)
