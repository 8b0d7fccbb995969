"""Translation as the rest of the package sees it: its line in `TASKS`."""

from glassformer.data.file_report import describe_pairs
from glassformer.data.pairs import read_pairs
from glassformer.tasks.kind import Kind
from glassformer.tasks.own_files import OwnFiles
from glassformer.tasks.samples import first_sample
from glassformer.tasks.translation.evaluation import evaluate_translation
from glassformer.tasks.translation.samples import sample_translations
from glassformer.tasks.translation.task import Translation

TRANSLATION = Kind(
    task=Translation,
    verb="translate",
    example=first_sample,
    evaluate=evaluate_translation,
    searches=True,
    samples=sample_translations,
    samples_judge=True,
    own=OwnFiles(
        recipe="own-translation",
        count=lambda path: (len(read_pairs(path)), 1),
        describe=describe_pairs,
    ),
)
