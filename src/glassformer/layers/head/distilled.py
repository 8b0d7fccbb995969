"""Two classifiers that answer together: the head of DeiT with its distillation token."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from glassformer.config.values import size
from glassformer.errors import InputError
from glassformer.tap import tap


class DistilledHead(nn.Module):
    r"""Classes from the class token and from the distillation token (Touvron et al. 2021).

        logits = ((x_0 W_1 + b_1) + (x_1 W_2 + b_2)) / 2

    In training the first learned from the labels and the second from a teacher; their mean is better than either.
    Differs from the paper: the paper has none.
    """

    def __init__(self, *, d_model: int, classes: int, bias: bool = True) -> None:
        super().__init__()
        size("head.classes", classes)
        self.output = nn.Linear(d_model, classes, bias=bias)
        self.distillation = nn.Linear(d_model, classes, bias=bias)

    def forward(
        self, x: Float[Tensor, "b t d"], mask: Tensor | None = None, embedding: Tensor | None = None
    ) -> Float[Tensor, "b classes"]:
        if x.shape[1] < 2:
            raise InputError("distilled_positions", length=x.shape[1])
        labelled, taught = tap("labelled", self.output(x[:, 0])), tap("taught", self.distillation(x[:, 1]))  # b classes
        return tap("logits", (labelled + taught) / 2)
