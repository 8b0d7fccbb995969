"""Starting a run from a trained model, to fine-tune it: tensors that fit are taken, the others are initialised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig
from glassformer.errors import ConfigError
from glassformer.files import read_json
from glassformer.loading import Loaded, load
from glassformer.models.build import build
from glassformer.runs import Run, verify
from glassformer.runs.weights import WEIGHTS_FILE, load_weights, read_tensors
from glassformer.training.checkpoint import STATE, save_folder

FOLDER = "start"


@dataclass(frozen=True, kw_only=True)
class TakenWeights:
    """The tensors taken from another model. `new`: only in this one, or in another shape; `left`: only in the other."""

    model: str
    checkpoint: str
    taken: tuple[str, ...]
    new: tuple[str, ...]
    left: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def open_start(config: RunConfig) -> Loaded | None:
    """The model named by `train.start`: a run folder, or anything else that can be loaded."""
    return None if config.train.start is None else load(config.train.start, device="cpu")


def take(loaded: Loaded, config: ModelConfig) -> tuple[TakenWeights, dict[str, Tensor]]:
    """Every tensor whose name and shape match the model to be trained. Raises if no matrix matches."""
    theirs, ours = loaded.model.state_dict(), build(config, device="meta").state_dict()
    taken = {name: x for name, x in theirs.items() if name in ours and ours[name].shape == x.shape}
    if not any(x.dim() > 1 for x in taken.values()):  # a bias that happens to fit is not enough
        raise ConfigError("start_nothing", start=loaded.folder, name=next(iter(ours)))
    start = TakenWeights(
        model=str(loaded.folder),
        checkpoint=loaded.checkpoint.name,
        taken=tuple(taken),
        new=tuple(name for name in ours if name not in taken),
        left=tuple(name for name in theirs if name not in taken),
    )
    return start, taken


def keep(run: Run, start: TakenWeights, tensors: Mapping[str, Tensor]) -> None:
    """Keep a copy in the run folder: a run killed before its first checkpoint can start again from it, even if the
    other model is gone by then."""
    save_folder(run.folder / FOLDER, {WEIGHTS_FILE: tensors}, start.to_json())


def put_weights(run: Run, model: nn.Module) -> TakenWeights | None:
    """Put the kept weights into a newly built model; None if the run starts from scratch."""
    folder = run.folder / FOLDER
    if run.config.train.start is None:
        return None
    verify(folder)
    load_weights(model, {**model.state_dict(), **read_tensors(folder / WEIGHTS_FILE)}, folder)
    known = read_json(folder / STATE)
    lists = {name: tuple(known[name]) for name in ("taken", "new", "left")}
    return TakenWeights(model=known["model"], checkpoint=known["checkpoint"], **lists)
