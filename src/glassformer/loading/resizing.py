"""A trained model of images, ready for images of another size."""

from __future__ import annotations

from dataclasses import replace

from glassformer.config.values import Choice
from glassformer.loading.loaded import Loaded
from glassformer.models.resize import resized


def resize(loaded: Loaded, size: int, patch: int | None = None) -> Loaded:
    """The same model for images of size × size: see `models.resize`. Its data is resized too.

    With the same `patch` there are more patches, each of which sees less; with a patch that grows with the image, the
    model sees the same in finer detail and needs no further training.
    """
    model, config = resized(loaded.model, loaded.config.model, size, patch)
    source = loaded.config.data.source
    data = replace(loaded.config.data, source=Choice(source.kind, {**source.options, "resize": True}))
    return replace(loaded, model=model, config=replace(loaded.config, model=config, data=data))
