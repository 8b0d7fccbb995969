"""Finding things as the rest of the package sees it: its line in `TASKS`."""

from glassformer.tasks.kind import Kind
from glassformer.tasks.object_queries.evaluation import evaluate_object_queries
from glassformer.tasks.object_queries.samples import sample_objects
from glassformer.tasks.object_queries.task import ObjectQueries

OBJECT_QUERIES = Kind(
    task=ObjectQueries,
    verb="evaluate",  # it has no everyday use
    evaluate=evaluate_object_queries,
    samples=sample_objects,
)
