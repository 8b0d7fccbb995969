"""Any MODEL or RECIPE that a person names → its configuration, or the model itself with everything it needs."""

from glassformer.loading.config import Model, name_of, open_config, open_recipe, recipes
from glassformer.loading.device import choose_device, choose_dtype, choose_loaded_dtype
from glassformer.loading.loaded import Loaded, load
from glassformer.loading.resizing import resize
from glassformer.loading.trained import trained_folders, weights_folder
from glassformer.runs import is_run

__all__ = [
    "Loaded",
    "Model",
    "choose_device",
    "choose_dtype",
    "choose_loaded_dtype",
    "is_run",
    "load",
    "name_of",
    "open_config",
    "open_recipe",
    "recipes",
    "resize",
    "trained_folders",
    "weights_folder",
]
