"""The training loop: steps, log lines, evaluations and checkpoints in a fixed order, reported as events.

If asked to stop in the middle of an accumulation, it finishes that step first: a checkpoint is always between steps.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Any, TypeVar

import torch

from glassformer.config.recipe import TrainConfig
from glassformer.errors import FileError, InputError
from glassformer.files import remove_folder
from glassformer.loading import choose_device
from glassformer.ranks import Ranks
from glassformer.runs import locked
from glassformer.runs.weights import load_weights, read_weights
from glassformer.tasks.task import Measure
from glassformer.training import events
from glassformer.training.average import average, to_average
from glassformer.training.checkpoint import clean, retire
from glassformer.training.device_use import DeviceUse
from glassformer.training.environment import compare_environments
from glassformer.training.events import Event
from glassformer.training.job import Training
from glassformer.training.parallel import lying
from glassformer.training.precision import products_beside
from glassformer.training.room import out_of_memory
from glassformer.training.seed import kept_random_state, settings
from glassformer.training.signals import KNOWN, Asked, listening
from glassformer.training.state import TrainingState
from glassformer.training.validate import validate

R = TypeVar("R")


def train(job: Training, *, resume: bool = False) -> Iterator[Event]:
    """Train to the end or until asked to stop, yielding every event as it happens.

    A new run begins at step 0. With `resume` it continues from the newest whole checkpoint, if there is one.
    """
    config, ranks = job.recipe.train, job.ranks
    chosen = settings(deterministic=config.deterministic, threads=config.threads)
    device = choose_device(config.device)
    lock = locked(job.run.folder) if ranks.first else nullcontext()
    with lock, listening() as asked, chosen, products_beside(config.precision, device):
        leftovers = ranks.from_first(lambda: clean(job.run, resume=resume))
        try:
            state = TrainingState.begin(job.recipe, job.model, job.task, job.training, device, ranks)
        except torch.OutOfMemoryError as error:  # not even the weights
            raise out_of_memory(job.recipe, device, 0) from error
        loop = _Loop(job, config, state, asked)
        try:
            with ranks.within_reach():
                yield from loop.session(resume, device, leftovers)
        except torch.OutOfMemoryError as error:
            refused = out_of_memory(job.recipe, device, state.progress.step)
            loop.say_failed(refused)
            raise refused from error
        except (Exception, KeyboardInterrupt) as error:
            loop.say_failed(error)
            raise
        finally:
            state.close()


class _Loop:
    """One session of training, from the current state to the end or until asked to stop."""

    def __init__(self, job: Training, config: TrainConfig, state: TrainingState, asked: Asked) -> None:
        self.job, self.config, self.state, self.asked = job, config, state, asked
        self.began = time.monotonic() - state.progress.elapsed
        self.saved_step = -1
        self.line_began = time.monotonic()
        self.use: DeviceUse | None = None
        self.first_step: float | None = None

    def session(self, resume: bool, device: torch.device, leftovers: tuple[str, ...]) -> Iterator[Event]:
        """Restore what there is, and take the steps that are left."""
        job, state = self.job, self.state
        came_from = (yield from state.restore(job.run)) if resume else None
        finished = bool(self.over())
        job.run.log.cut(state.progress.step, finished=job.run.averaged is not None and finished)
        self.write_best()  # a kill may have come after the checkpoint and before this
        yield from compare_environments(job.run, device, self.ranks.world)
        yield events.Started(
            step=state.progress.step,
            steps=self.config.steps,
            parameters=sum(p.numel() for p in job.model.parameters()),
            device=state.stepper.parts.said(device),
            resumed_from=came_from,
            leftovers=leftovers,
        )
        if job.start is not None and not state.progress.step:
            yield events.StartedFrom(job.start)
        yield from self.steps()

    def steps(self) -> Iterator[Event]:
        progress, config = self.state.progress, self.config
        reason = self.over()
        self.use = None if reason else DeviceUse.of(self.state)
        self.began = session = time.monotonic()
        self.began -= progress.elapsed
        self.saved_step = progress.step if progress.step else -1
        self.line_began = time.monotonic() - progress.line_seconds
        if not reason and self.ranks.first and self.job.run.averaged_folder.exists():
            remove_folder(self.job.run.averaged_folder)  # the mean of a shorter run must not outlive it
        while not reason:
            rate = self.state.advance()
            if self.first_step is None:
                self.first_step = self._since(session)
            yield events.StepDone(progress.step, progress.epoch, rate, progress.tokens)
            if self.state.device.type == "cpu":
                self._stop_if_diverged()
            if progress.step % config.log_every == 0 or progress.step == config.steps:
                yield self._log(rate)
            best = False
            if self._evaluation_is_due():
                evaluated = self._evaluate()
                best = evaluated.best
                paused = time.monotonic()
                yield evaluated
                self.line_began += time.monotonic() - paused  # the listener may have drawn pictures
            if best or progress.step % config.save_every == 0:
                yield from self._save()
            reason = self.over()
        if self.saved_step != progress.step:
            yield from self._save()
        if reason in ("finished", "early") and config.average > 1:
            yield from self._average()
        progress.elapsed = time.monotonic() - self.began
        self._status(reason)
        yield events.Stopped(progress.step, reason)

    def _since(self, session: float) -> float:
        """Seconds until the first step of this session was done: compiling is the most of it."""
        if self.state.device.type == "cuda":
            torch.cuda.synchronize(self.state.device)
        return time.monotonic() - session

    def over(self) -> str:
        """The reason to stop now, or "" to continue."""
        progress, config = self.state.progress, self.config
        if progress.step >= config.steps:
            return "finished"
        if config.patience and progress.since_best >= config.patience:
            return "early"
        return KNOWN[max(self.ranks.gather(self.asked.code))]  # one rank is asked, all stop

    @property
    def ranks(self) -> Ranks:
        return self.job.ranks

    # --- lines ---

    def _stop_if_diverged(self) -> None:
        row = self.state.stepper.meter.read().in_a_row
        if row >= self.config.skip_limit:
            raise InputError("diverged", step=self.state.progress.step, count=int(row))

    def _log(self, rate: float) -> events.Logged:
        self._stop_if_diverged()
        progress, meter = self.state.progress, self.state.stepper.meter
        reading, now = meter.read(), time.monotonic()
        progress.elapsed = now - self.began
        seconds = max(now - self.line_began, 1e-9)
        waiting, of_ceiling = (None, None) if self.use is None else self.use.shares(self.state, reading.count, seconds)
        line = events.Logged(
            step=progress.step,
            epoch=progress.epoch,
            loss=reading.loss,
            learning_rate=rate,
            gradient_norm=reading.gradient_norm,
            tokens=progress.tokens,
            tokens_per_second=reading.count / seconds,
            skipped=int(reading.skipped),
            elapsed=progress.elapsed,
            waiting=waiting,
            of_ceiling=of_ceiling,
        )
        meter.begin_line()
        self.line_began = now
        self.job.run.log.append({"kind": "train", **line.to_json()})
        self._status("running", loss=line.loss, tokens_per_second=line.tokens_per_second)
        return line

    def _status(self, state: str, **more: object) -> None:
        progress = self.state.progress
        best = {"step": progress.best_step, "metric": self.config.best, "value": progress.best_value}
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        status = {
            "state": state,
            "step": progress.step,
            "steps": self.config.steps,
            "epoch": progress.epoch,
            "time": now,
            "first_step": self.first_step,
        }
        if self.use is not None:
            self.use.see_memory(self.state.device)
            status["peak_memory"] = self.use.peak
        self.job.run.write_status({**status, "elapsed": progress.elapsed, "best": best, **more})

    def say_failed(self, error: BaseException) -> None:
        """Write the failure into the status, if possible: a full disk, for example, may refuse this too."""
        try:
            self._status("failed", error=str(error) or type(error).__name__)
        except FileError:
            return

    # --- evaluation ---

    def _evaluation_is_due(self) -> bool:
        step, every = self.state.progress.step, self.config.evaluate_every
        return bool(every) and (step % every == 0 or step == self.config.steps) and self._has_metrics()

    def _has_metrics(self) -> bool:
        return self.job.validation is not None or self.job.measure is not None

    def _evaluate(self) -> events.Evaluated:
        return self._metrics(self.state.ema.in_use() if self.state.ema is not None else nullcontext(), self._judge)

    def _judge(self, metrics: Mapping[str, float]) -> events.Evaluated:
        """Is this the best so far? Written down at once."""
        progress = self.state.progress
        value, better = metrics.get(self.config.best), self.job.task.judged.get(self.config.best)
        if value is None or better is None:
            raise InputError("no_such_metric", metric=self.config.best, known=", ".join(metrics))
        self._refuse_undecided(value, metrics)
        best = progress.keep_best(value, better)
        self.job.run.log.append({"kind": "evaluation", "step": progress.step, **metrics, "best": best})
        return events.Evaluated(progress.step, metrics, best)

    def _refuse_undecided(self, value: float, metrics: Mapping[str, float]) -> None:
        """The metric that decides is NaN at the first evaluation: no step could be the best, whatever is learned.

        A loss that is NaN is another matter: training has diverged, and is stopped for that.
        """
        first = self.state.progress.best_value is None and not self.state.progress.since_best
        if first and math.isnan(value) and not math.isnan(metrics.get("loss", 0.0)):
            known = [name for name, one in metrics.items() if name in self.job.task.judged and not math.isnan(one)]
            raise InputError("metric_nan", metric=self.config.best, known=", ".join(known))

    def _metrics(self, weights: AbstractContextManager[None], judge: Callable[[Mapping[str, float]], R]) -> R:
        """Evaluate with these `weights` in the model, and let `judge` see the metrics before samples are written.

        Random numbers drawn here do not affect training.
        """
        job, device = self.job, self.state.device
        paused = time.monotonic()
        metrics: dict[str, float] = {}
        eager = torch.compiler.set_stance("force_eager") if self.state.compiled else nullcontext()
        if self.use is not None:
            self.use.see_memory(device)
        try:
            with weights, kept_random_state(device), eager:
                if job.validation is not None:
                    metrics |= validate(self.state.stepper.parts, job.task, job.validation, self.config, device)
                metrics |= self._looked_at(job.measure)
                judged = judge(metrics)
                self._looked_at(job.show)
        finally:
            job.model.train()
        if self.use is not None:
            torch.cuda.reset_peak_memory_stats(device)  # an evaluation may hold more than training does
        self.line_began += time.monotonic() - paused
        return judged

    @torch.no_grad()
    def _looked_at(self, look: Measure | None) -> dict[str, float]:
        """What `look` finds at the whole model, on rank 0; all ranks are told."""
        if look is None:
            return {}
        model: Any = self.state.stepper.parts.on_first()
        return self.ranks.from_first(lambda: dict(look(model.eval(), self.state.progress.step) or {}))

    # --- checkpoints ---

    def _save(self) -> Iterator[Event]:
        progress, run = self.state.progress, self.job.run
        paused = time.monotonic()
        progress.elapsed, progress.line_seconds = paused - self.began, paused - self.line_began
        yield events.Saving(progress.step)
        run.log.sync()
        path = run.checkpoint(progress.step)
        self.state.checkpoint().save(path, self.ranks, cut=self.state.stepper.parts.is_cut)
        self.write_best()
        if self.ranks.first:
            retire(run, keep=self.config.keep, every=self.config.save_every, best=progress.best_step)
        self.saved_step = progress.step
        self.line_began += time.monotonic() - paused
        yield events.Saved(progress.step, path)

    def write_best(self) -> None:
        progress = self.state.progress
        if progress.best_step is not None:
            best = {"step": progress.best_step, "metric": self.config.best, "value": progress.best_value}
            self.job.run.write_best(best)

    def _average(self) -> Iterator[Event]:
        """Average the checkpoints that were due, so that a run that was interrupted averages the same ones."""
        run, model = self.job.run, self.job.model
        steps = self.ranks.from_first(lambda: to_average(run, self.config))
        if not steps:
            return
        checkpoints = [run.checkpoint(step) for step in steps]
        self.ranks.after_first(f"average of {steps[-1]}", lambda: average(checkpoints, run.averaged_folder))
        weights = lying(read_weights(run.averaged_folder), model.state_dict().get)
        before = {name: value.detach().clone() for name, value in model.state_dict().items()}
        load_weights(model, weights, run.averaged_folder)
        metrics = self._metrics(nullcontext(), dict) if self._has_metrics() else {}
        load_weights(model, before, run.averaged_folder)
        run.log.append({"kind": "averaged", "step": self.state.progress.step, "of": list(steps), **metrics})
        yield events.Averaged(run.averaged_folder, steps, metrics)
