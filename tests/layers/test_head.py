from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from glassformer.errors import InputError
from glassformer.layers.head import ClassifierHead, LanguageModelHead, NoHead, RegressionHead, pool
from glassformer.trace.record import record

X = torch.tensor([[[1.0, -1.0], [2.0, -5.0], [6.0, -3.0]], [[4.0, 0.0], [8.0, 2.0], [0.0, 1.0]]])  # b=2 t=3 d=2
RIGHT = torch.tensor([[True, True, False], [True, True, True]])
LEFT = torch.tensor([[False, True, True], [True, True, True]])


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("cls", [[1.0, -1.0], [4.0, 0.0]]),
        ("sep", [[6.0, -3.0], [0.0, 1.0]]),
        ("mean", [[3.0, -3.0], [4.0, 1.0]]),
        ("max", [[6.0, -1.0], [8.0, 2.0]]),
        ("flatten", [[1.0, -1.0, 2.0, -5.0, 6.0, -3.0], [4.0, 0.0, 8.0, 2.0, 0.0, 1.0]]),
    ],
)
def test_pooling_by_hand(how: str, expected: list[list[float]]) -> None:
    assert pool(X, how).tolist() == expected


@pytest.mark.parametrize(
    ("how", "expected"),
    [("cls", [1.0, -1.0]), ("sep", [2.0, -5.0]), ("mean", [1.5, -3.0]), ("max", [2.0, -1.0])],
)
def test_pooling_with_padding_behind_by_hand(how: str, expected: list[float]) -> None:
    pooled = pool(X, how, RIGHT)
    assert pooled[0].tolist() == expected
    assert torch.equal(pooled[1], pool(X, how)[1])


@pytest.mark.parametrize(
    ("how", "expected"),
    [("cls", [2.0, -5.0]), ("sep", [6.0, -3.0]), ("mean", [4.0, -4.0]), ("max", [6.0, -3.0])],
)
def test_pooling_with_padding_in_front_by_hand(how: str, expected: list[float]) -> None:
    pooled = pool(X, how, LEFT)
    assert pooled[0].tolist() == expected
    assert torch.equal(pooled[1], pool(X, how)[1])


@pytest.mark.parametrize("how", ["cls", "sep", "mean", "max"])
@pytest.mark.parametrize("mask", [LEFT, RIGHT], ids=["left", "right"])
def test_what_stands_under_padding_does_not_matter(how: str, mask: torch.Tensor) -> None:
    changed = X.masked_fill(~mask[..., None], 999.0)
    assert torch.equal(pool(changed, how, mask), pool(X, how, mask))


@pytest.mark.parametrize("how", ["cls", "sep", "mean", "max"])
def test_a_full_mask_is_no_mask(how: str) -> None:
    torch.testing.assert_close(pool(X, how, torch.ones(2, 3, dtype=torch.bool)), pool(X, how))


@pytest.mark.parametrize("how", ["cls", "sep", "mean", "max"])
def test_a_row_of_padding_alone_gives_finite_logits(how: str) -> None:
    torch.manual_seed(0)
    head = ClassifierHead(d_model=2, classes=50, pool=how)
    with torch.no_grad():
        assert head.output is not None
        head.output.weight.normal_(std=10.0)
    logits = head(X, torch.tensor([[False, False, False], [True, True, True]]))
    assert torch.isfinite(logits).all()


def test_no_head_gives_the_stream() -> None:
    assert NoHead()(X) is X


def test_a_language_model_head_has_a_matrix_of_its_own() -> None:
    head, x = LanguageModelHead(d_model=4, vocab_size=7), torch.randn(2, 3, 4)
    assert {name: tuple(p.shape) for name, p in head.named_parameters()} == {"weight": (7, 4)}
    with record(head) as trace:
        logits = head(x)
    torch.testing.assert_close(logits, x @ head.weight.T)
    assert torch.equal(trace["logits"], logits)


def test_a_tied_head_uses_the_embedding() -> None:
    head = LanguageModelHead(d_model=4, vocab_size=7, tied=True, bias=True)
    assert [name for name, _ in head.named_parameters()] == ["bias"]
    with torch.no_grad():
        head.bias.copy_(torch.arange(7.0))
    x, embedding = torch.randn(2, 3, 4), torch.randn(7, 4)
    torch.testing.assert_close(head(x, embedding=embedding), x @ embedding.T + torch.arange(7.0))


def test_an_untied_head_ignores_the_embedding() -> None:
    head, x = LanguageModelHead(d_model=4, vocab_size=7), torch.randn(2, 3, 4)
    assert torch.equal(head(x, embedding=torch.randn(7, 4)), head(x))


def test_the_scale_divides_by_the_root_of_d_model() -> None:
    x, embedding = torch.randn(2, 3, 4), torch.randn(7, 4)
    plain = LanguageModelHead(d_model=4, vocab_size=7, tied=True)
    scaled = LanguageModelHead(d_model=4, vocab_size=7, tied=True, scale=True)
    torch.testing.assert_close(scaled(x, embedding=embedding), plain(x, embedding=embedding) / 2)


def test_the_transform_is_dense_gelu_norm() -> None:
    head, x = LanguageModelHead(d_model=4, vocab_size=7, transform=True, eps=1e-12), torch.randn(2, 3, 4)
    assert head.transform is not None and head.weight is not None
    dense = F.gelu(x @ head.transform.weight.T + head.transform.bias)
    expected = F.layer_norm(dense, (4,), eps=1e-12) @ head.weight.T
    torch.testing.assert_close(head(x), expected)


@pytest.mark.parametrize("how", ["cls", "sep", "mean", "max"])
def test_a_classifier_is_a_pool_and_one_linear_layer(how: str) -> None:
    head = ClassifierHead(d_model=2, classes=5, pool=how)
    assert head.output is not None
    with record(head) as trace:
        logits = head(X, RIGHT)
    torch.testing.assert_close(logits, pool(X, how, RIGHT) @ head.output.weight.T + head.output.bias)
    assert torch.equal(trace["pooled"], pool(X, how, RIGHT))
    assert torch.equal(trace["logits"], logits)


def test_a_pooler_is_a_dense_layer_with_tanh() -> None:
    head = ClassifierHead(d_model=2, classes=5, pooler=True)
    assert head.pooler is not None and head.output is not None
    pooled = torch.tanh(X[:, 0] @ head.pooler.weight.T + head.pooler.bias)
    torch.testing.assert_close(head(X), pooled @ head.output.weight.T + head.output.bias)


def test_no_classes_stop_after_the_pooler() -> None:
    head = ClassifierHead(d_model=2, classes=0, pooler=True)
    assert [name for name, _ in head.named_parameters()] == ["pooler.weight", "pooler.bias"]
    assert head.pooler is not None
    assert torch.equal(head(X), torch.tanh(head.pooler(X[:, 0])))


def test_biases_of_heads_can_be_left_out() -> None:
    for head in (ClassifierHead(d_model=2, classes=5, bias=False), RegressionHead(d_model=2, outputs=3, bias=False)):
        assert [name for name, _ in head.named_parameters()] == ["output.weight"]


def test_regression_on_the_mean_by_hand() -> None:
    head = RegressionHead(d_model=2, outputs=1)
    with torch.no_grad():
        head.output.weight.copy_(torch.tensor([[2.0, 1.0]]))
        head.output.bias.fill_(0.5)
    assert head(X).tolist() == [[3.5], [9.5]]  # means (3, −3) and (4, 1)
    assert head(X, RIGHT)[0].tolist() == [0.5]  # mean (1.5, −3)


def test_regression_on_all_positions_by_hand() -> None:
    head = RegressionHead(d_model=2, outputs=1, pool="flatten", positions=3)
    assert head.output.weight.shape == (1, 6)
    with torch.no_grad():
        head.output.weight.copy_(torch.tensor([[1.0, 0.0, 10.0, 0.0, 100.0, 0.0]]))
        head.output.bias.zero_()
    with record(head) as trace:
        assert head(X).tolist() == [[621.0], [84.0]]
    assert trace.names() == ["pooled", "output"]


@pytest.mark.parametrize("length", [2, 4])
def test_another_number_of_positions_is_refused(length: int) -> None:
    head = RegressionHead(d_model=2, outputs=1, pool="flatten", positions=3)
    with pytest.raises(InputError, match=rf"^the head was built for 3 positions and got {length}; give an input"):
        head(torch.zeros(1, length, 2))


def test_dropout_before_regression_acts_in_training_only() -> None:
    head = RegressionHead(d_model=50, outputs=3, dropout=0.5)
    x = torch.randn(2, 3, 50)
    assert not torch.equal(head(x), head(x))
    head.eval()
    assert torch.equal(head(x), head(x))
