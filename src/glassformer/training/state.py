"""All state that changes during training, in one value: created at step 0, saved to and restored from a checkpoint."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from glassformer.config.recipe import RunConfig
from glassformer.data.ahead import Ahead
from glassformer.data.batch import Batch
from glassformer.data.examples import Examples
from glassformer.data.sampler import EpochPosition, Indexes, Sampler, of_batch
from glassformer.errors import FileError, reason
from glassformer.models.block import recompute
from glassformer.ranks import ALONE, Ranks
from glassformer.runs import Run
from glassformer.runs.weights import load_weights
from glassformer.tasks import Task
from glassformer.training.checkpoint import Checkpoint, open_checkpoint, read_state, set_aside
from glassformer.training.compile import compile_parts, is_compiled, may_be_packed
from glassformer.training.ema import MovingAverage
from glassformer.training.events import CheckpointRefused, Event
from glassformer.training.meter import Meter
from glassformer.training.optimizer import load_state, make_optimizer, state_tensors
from glassformer.training.parallel import Spread
from glassformer.training.precision import LossScale
from glassformer.training.progress import Progress, differing, origin
from glassformer.training.schedule import learning_rate
from glassformer.training.seed import of_all_ranks, of_rank, random_state, seed_all, seed_rank, set_random_state
from glassformer.training.step import Stepper
from glassformer.training.validate import make_sampler

StepBatches = tuple[list[Batch], EpochPosition]  # the micro-batches of a step, and where the next one begins


def longest_text(config: RunConfig, task: Task[Any]) -> int:
    """The most tokens of a text that is learned from: the recipe says it, or the table of positions."""
    return min(config.data.max_length, config.model.max_len - task.extra_tokens)


@dataclass
class _Preparing:
    """Batches on their way to an accelerator; None before the first step."""

    batches: Ahead[StepBatches] | None = None


@dataclass(frozen=True, kw_only=True)
class TrainingState:
    """A model in training with its optimiser, its averages and its position in the data. `advance` takes one step."""

    config: RunConfig
    task: Task[Any]
    store: Examples
    sampler: Sampler
    stepper: Stepper
    ema: MovingAverage | None
    progress: Progress
    compiled: bool = False
    ahead: _Preparing = field(default_factory=_Preparing)

    @property
    def device(self) -> torch.device:
        return self.stepper.device

    @property
    def model(self) -> nn.Module:
        return self.stepper.model

    @property
    def ranks(self) -> Ranks:
        return self.stepper.ranks

    @classmethod
    def begin(
        cls,
        config: RunConfig,
        model: nn.Module,
        task: Task[Any],
        store: Examples,
        device: torch.device,
        ranks: Ranks = ALONE,
    ) -> TrainingState:
        """State at step 0: the model on its device, or on those of all ranks, every random generator seeded."""
        train = config.train
        seed_all(train.seed)
        if not ranks.first:
            seed_rank(train.seed, 0, ranks.rank)
        if train.recompute:
            recompute(model)
        model.train()
        compiled, on = is_compiled(config, device), device.type == "cuda"
        if compiled:
            task = compile_parts(model, task)
        if on:
            packed = may_be_packed(model, device, train.precision)
            task = task.of_one_size(train, longest_text(config, task) if packed else None)
        spread = Spread.of(model, task, config, device, ranks)
        stepper = Stepper(
            model=model,
            task=task,
            optimizer=make_optimizer(model, train),
            loss_scale=LossScale(train.precision, device),
            meter=Meter(device),
            device=device,
            precision=train.precision,
            clip=train.clip,
            captured=on and task.recordable and not (ranks.joined or train.recompute),
            spread=spread,
        )
        return cls(
            config=config,
            task=task,
            store=store,
            sampler=make_sampler(store, task, train, ranks),
            stepper=stepper,
            ema=MovingAverage(model, train.ema) if train.ema else None,
            progress=Progress(),
            compiled=compiled,
        )

    def advance(self) -> float:
        """One whole training step, which training/step.py lists part by part; return its learning rate."""
        progress = self.progress
        batches, (progress.epoch, progress.position) = self._next_batches()
        progress.step += 1
        rate = learning_rate(progress.step, self.config.train, self.config.model.d_model)
        targets = self.stepper.take_step(batches, rate)
        if self.ema is not None:
            self.ema.update()
        progress.tokens += targets
        return rate

    def _next_batches(self) -> StepBatches:
        """The micro-batches of the next step; for an accelerator they are prepared while it computes."""
        if not self.prepares_ahead:
            return next(self._from(self.progress.place))
        if self.ahead.batches is None:
            self.ahead.batches = Ahead(self._from(self.progress.place))
        return next(self.ahead.batches)

    @property
    def prepares_ahead(self) -> bool:
        """A CPU has no one else to prepare its batches."""
        return self.device.type != "cpu"

    def close(self) -> None:
        """Stop preparing batches; those that were prepared and not taken are prepared again by the next session."""
        if self.ahead.batches is not None:
            self.ahead.batches.close()
            self.ahead.batches = None

    @property
    def waited(self) -> float:
        """Seconds that the accelerator has waited for batches, in this session."""
        return 0.0 if self.ahead.batches is None else self.ahead.batches.waited

    def next_batch(self) -> tuple[Batch, Indexes]:
        """The first micro-batch of the next step and its examples, to look at: nothing is taken."""
        (first, *_), _ = self.sampler.group(self.progress.place)
        seed, store = self.config.train.seed, self.store
        return self.task.collate([store[i] for i in first.indexes], of_batch(seed, first.place)), first.indexes

    def _from(self, place: EpochPosition) -> Iterator[StepBatches]:
        """The micro-batches of each step from `place` on; what is random in one depends on its own place alone."""
        seed, store = self.config.train.seed, self.store
        while True:
            groups, place = self.sampler.group(place)
            yield [self.task.collate([store[i] for i in indexes], of_batch(seed, at)) for at, indexes in groups], place

    def checkpoint(self) -> Checkpoint:
        state = {
            "progress": self.progress.to_dict(),
            "meter": list(vars(self.stepper.meter.read()).values()),
            "scale": self.stepper.loss_scale.state(),
            "ema_updates": 0 if self.ema is None else self.ema.updates,
            "origin": origin(self.config, self.store),
        }
        return Checkpoint(
            model=self.model.state_dict(),
            optimizer=state_tensors(self.stepper.optimizer, self.model),
            random=of_all_ranks(self.ranks.gather(random_state(self.device))),
            state=state,
            ema=None if self.ema is None else {**self.model.state_dict(), **self.ema.average},
        )

    def restore(self, run: Run) -> Generator[Event, None, Path | None]:
        """Resume from the newest checkpoint that is complete and of this run; report and set aside those refused."""
        found = self.ranks.from_first(lambda: sorted(run.checkpoints_by_step().values(), reverse=True))
        refused: list[tuple[Path, FileError]] = []
        for path in found:
            error = self._restored(path)
            if error is not None:
                refused.append((path, error))
                continue
            for other, why in refused:  # only now: if no checkpoint fits, the recipe may be the wrong one
                if self.ranks.first:
                    set_aside(other)
                yield CheckpointRefused(other, why, path)
            return path
        if refused:
            raise FileError("no_checkpoint_left", path=run.folder, count=len(found), why=reason(refused[0][1]))
        return None

    def _restored(self, path: Path) -> FileError | None:
        """Restore a checkpoint on every rank, or say why one of them cannot."""
        try:
            self._restore(path)
        except FileError as error:
            mine: FileError | None = error
        else:
            mine = None
        return next((error for error in self.ranks.gather(mine) if error is not None), None)

    def _restore(self, path: Path) -> None:
        state = self._fitting(path)
        checkpoint = open_checkpoint(path, state, self.model)
        load_weights(self.model, checkpoint.model, path)
        try:
            load_state(self.stepper.optimizer, self.model, checkpoint.optimizer)
            if self.ema is not None:
                self.ema.load(checkpoint.model if checkpoint.ema is None else checkpoint.ema, state["ema_updates"])
            self.stepper.loss_scale.load(state["scale"])
            self.stepper.meter.load(state["meter"])
            vars(self.progress).update(Progress(**state["progress"]).to_dict())
            known = of_rank(checkpoint.random, self.ranks.rank)
            if known:
                set_random_state(known, self.device)
            else:
                seed_rank(self.config.train.seed, self.progress.step, self.ranks.rank)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise FileError("checkpoint_unreadable", path=path, why=str(error)) from error

    def _fitting(self, path: Path) -> dict[str, Any]:
        """The state in a checkpoint that is whole and of this run, as all ranks see it: shards are read together."""
        state: dict[str, Any] = {}
        try:
            state = read_state(path)
            part = differing(origin(self.config, self.store), state.get("origin"))
            if part is not None:
                raise FileError("checkpoint_foreign", path=path, part=part)
        except FileError as error:
            mine: FileError | None = error
        else:
            mine = None
        for theirs in self.ranks.gather(mine):
            if theirs is not None:
                raise theirs
        return state
