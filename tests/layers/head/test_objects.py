from __future__ import annotations

import torch

from glassformer.layers.head import ObjectsHead
from glassformer.ledger.rows import rows_of_box
from glassformer.trace.record import record


def test_classes_and_boxes_by_hand() -> None:
    head = ObjectsHead(d_model=2, classes=1)
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.zero_()
        head.output.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 2.0]]))
        head.box_hidden.weight.copy_(torch.eye(2))
        head.box.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, 0.0]]))
    with record(head) as trace:
        y = head(torch.tensor([[[3.0, -4.0]]]))  # max(0, x) = (3, 0)
    logits, boxes = ObjectsHead.split(y)
    assert logits.tolist() == [[[3.0, -8.0]]]  # the class, and nothing
    torch.testing.assert_close(boxes, torch.sigmoid(torch.tensor([[[3.0, 0.0, -3.0, 0.0]]])))
    assert trace.names() == ["logits", "boxes"]


def test_boxes_lie_inside_the_image() -> None:
    y = ObjectsHead(d_model=8, classes=3)(100 * torch.randn(2, 5, 8))
    logits, boxes = ObjectsHead.split(y)
    assert logits.shape == (2, 5, 4) and boxes.shape == (2, 5, 4)
    assert bool(((boxes >= 0) & (boxes <= 1)).all())


def test_the_account_by_hand() -> None:
    (row,) = rows_of_box(ObjectsHead, {"d_model": 96, "classes": 10})
    assert row.parameters == 96 * 11 + 11 + 96 * 96 + 96 + 96 * 4 + 4
    assert row.numbers == "96×(10+1)+(10+1)+96×96+96+96×4+4"
