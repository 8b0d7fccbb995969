"""LayerNorm, RMSNorm and BatchNorm in the same translator, with small batches and sentences of different lengths.

Claim layer-not-batch; the rule is in `verdicts`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from glassformer.config.recipe import RunConfig
from glassformer.config.values import Choice
from glassformer.data.batch import PairBatch
from glassformer.layers.norm import NORMS, Norm
from glassformer.lessons.experiment import Experiment
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.norm.batch_norm import BatchNorm, told_of_padding
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, greater
from glassformer.models.build import build
from glassformer.show.drawing import bars
from glassformer.show.theme import Theme
from glassformer.tasks.translation.task import Translation
from glassformer.training.validate import make_sampler

if TYPE_CHECKING:
    from matplotlib.figure import Figure


KINDS = ("layer", "rms", "batch", "batch_real")  # batch_real: padding is left out of the averages
SIZES = (2, 8, 32)
STEPS = 140


def run(setup: LessonSetup) -> Data:
    """Each norm with each batch size; seeds, data and steps are the same for all."""
    material = experiment(setup)
    rows: list[dict[str, Any]] = []
    for size in setup.each("sentences in a batch", SIZES):
        outcomes = {
            kind: [train(material, kind, size, seed, setup.some(STEPS, 2)) for seed in setup.seeds] for kind in KINDS
        }
        row: dict[str, Any] = {"size": size, "padding": padded_share(material, size, setup.seeds[0])}
        for kind, found in outcomes.items():
            row[kind] = {name: interval([one[name] for one in found]) for name in found[0]}
        for kind in ("rms", "batch", "batch_real"):
            row[f"{kind}_more"] = difference(
                [one["loss"] for one in outcomes[kind]], [one["loss"] for one in outcomes["layer"]]
            )
        rows.append(row)
    return {"steps": setup.some(STEPS, 2), "rows": rows, "first": rows[0], "last": rows[-1]}


# --- one short training, judged in both modes ---


def experiment(setup: LessonSetup) -> Experiment:
    """Batches mix sentences of all lengths (`pool` 1), so that there is padding."""
    return Experiment(
        "ko-en",
        {
            "data.source.count": setup.some(4000, 600),
            "data.validation": 100,
            "text.vocab_size": 1000,
            "model.d_model": 32,
            "model.d_ff": 128,
            "model.n_encoder_layers": 1,
            "model.n_decoder_layers": 1,
            "train.batch_tokens": 4096,
            "train.learning_rate": 3e-3,
            "train.schedule": "constant",
            "train.warmup": 20,
            "train.ema": 0.0,
            "train.pool": 1,
        },
    )


def train(material: Experiment, kind: str, size: int, seed: int, steps: int) -> dict[str, float]:
    """The loss on unseen sentences in evaluation mode, and how much it differs in training mode."""
    changes: dict[str, Any] = {"train.steps": steps, "train.max_sentences": size}
    task = material.material.task
    assert isinstance(task, Translation)
    outcome = material.train(seed, changes, make=lambda config: model_with(kind, config, task.pad))
    loss = outcome.validation["loss"]
    return {"loss": loss, "gap": gap(material, outcome.model, outcome.config)}


def model_with(kind: str, config: RunConfig, pad: int) -> nn.Module:
    """The translator with this norm throughout."""
    norms: dict[str, Norm] = {**NORMS, "batch": BatchNorm}
    chosen = Choice("batch" if kind == "batch_real" else kind)
    model = build(replace(config.model, norm=chosen), seed=config.train.seed, norms=norms)
    if kind != "batch_real":
        return model
    embedded: list[Tensor] = []  # the tokens that a stack is given are those that were embedded last

    def real(_: tuple[Any, ...]) -> Tensor:
        """Real tokens of a stack; the first one counts, also where it has the number of padding."""
        counted = embedded.pop() != pad  # b t
        counted[:, 0] = True
        return counted

    model.get_submodule("embedding").register_forward_pre_hook(lambda _, inputs: embedded.append(inputs[0]))
    for stack in ("encoder", "decoder"):
        told_of_padding(model.get_submodule(stack), real)
    return model


@torch.no_grad()
def gap(material: Experiment, model: nn.Module, config: RunConfig) -> float:
    """|loss in training mode − loss in evaluation mode|, on batches of the training size; nothing is learned."""
    task, store = material.material.task, material.material.validation
    assert store is not None
    batches = make_sampler(store, task, config.train).batches(0)
    stored = {name: buffer.clone() for name, buffer in model.named_buffers()}
    losses: dict[bool, float] = {}
    for training in (True, False):
        model.train(training)
        sums = [task.loss(model, _batch(task, store, indexes)) for indexes in batches]
        losses[training] = float(sum(one.total for one in sums) / sum(one.count for one in sums))
        for name, buffer in model.named_buffers():  # training mode moves the stored averages
            buffer.copy_(stored[name])
    model.eval()
    return abs(losses[True] - losses[False])


def _batch(task: Any, store: Any, indexes: Any) -> PairBatch:
    batch: PairBatch = task.collate([store[i] for i in indexes])
    return batch


def padded_share(material: Experiment, size: int, seed: int) -> float:
    """The mean share of padding in the source of a batch, over a few batches."""
    config = material.config({"train.max_sentences": size}, seed)
    task, store = material.material.task, material.material.training
    batches = [_batch(task, store, some) for some in make_sampler(store, task, config.train).batches(0)[:20]]
    padded = sum(0 if batch.source_mask is None else int((~batch.source_mask).sum()) for batch in batches)
    return padded / sum(batch.source.numel() for batch in batches)


def verdicts(data: Data) -> dict[str, Verdict]:
    """LayerNorm is the better choice if BatchNorm ends with a higher loss on unseen sentences.

    The loss is that of evaluation mode, in which a model is used, so it includes the gap between the modes; paired
    differences over the seeds. BatchNorm is tested with padding in its averages and without; both must be worse than
    LayerNorm. The sides are the batch sizes.
    """
    sides = {
        str(row["size"]): {"batch": greater(row["batch_more"]), "batch_real": greater(row["batch_real_more"])}
        for row in data["rows"]
    }
    first, last = data["rows"][0], data["rows"][-1]
    measured: dict[str, Any] = {"steps": data["steps"]}
    for name, row in (("small", first), ("large", last)):
        measured[name] = {
            "size": row["size"],
            **{kind: row[kind]["loss"]["mean"] for kind in KINDS},
            "gap": row["batch"]["gap"]["mean"],
            "gap_real": row["batch_real"]["gap"]["mean"],
            "gap_layer": row["layer"]["gap"]["mean"],
            **{
                f"{kind}_{end}": row[f"{kind}_more"][end] for kind in ("batch", "batch_real") for end in ("low", "high")
            },
        }
    return {"layer-not-batch": Verdict.of(sides, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Above: the loss. Below: the gap."""
    figure = theme.figure(8.5, 6.4)
    labels = [words("size", n=row["size"]) for row in data["rows"]]
    panels = figure.subplots(2, 1)
    for axes, name in zip(panels, ("loss", "gap"), strict=True):
        groups = {words(kind): [row[kind][name] for row in data["rows"]] for kind in KINDS}
        bars(axes, theme, labels, groups, form=".2f")
        axes.set_title(words(name))
        axes.margins(y=0.12)
        axes.set_ylim(bottom=0.0)
        axes.get_legend().remove()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("layer-not-batch",),
    equation=r"\hat{x}=\gamma\odot\frac{x-\mathrm{mean}(x)}{\sqrt{\mathrm{var}(x)+\varepsilon}}+\beta",
    formula="y = γ ⊙ (x − mean(x)) / √(var(x) + ε) + β;  the mean is taken over a token (LayerNorm) or over the batch",
    paper="§3.1",
    sources=("layers/norm.py", "lessons/norm/batch_norm.py"),
)
