"""The families of models that can be read and written, one file each: a map of names and a map of configurations."""

from __future__ import annotations

from glassformer.hub.family import Family

FAMILIES: dict[str, Family] = {}
