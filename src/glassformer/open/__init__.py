"""Any MODEL or RECIPE that a person names → its configuration, or the model itself with all that it needs."""

from glassformer.open.config import Model, is_run, name_of, open_config, open_recipe, recipes
from glassformer.open.device import choose_device, choose_dtype
from glassformer.open.loaded import Loaded, load
from glassformer.open.own import own_recipe
from glassformer.open.resize import resize

__all__ = [
    "Loaded",
    "Model",
    "choose_device",
    "choose_dtype",
    "is_run",
    "load",
    "name_of",
    "open_config",
    "open_recipe",
    "own_recipe",
    "recipes",
    "resize",
]
