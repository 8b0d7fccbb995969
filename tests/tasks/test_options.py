from __future__ import annotations

from dataclasses import replace

import pytest

from glassformer.config.options import Option, Schema
from glassformer.config.values import Choice, size
from glassformer.errors import ConfigError
from glassformer.tasks import kind_of
from glassformer.tasks.options import check_options
from small_run import run_config
from tiny_tasks import TINY, tiny

LOSSES = ("cross_entropy", "focal")


def schema(*names: str) -> Schema:
    return dict.fromkeys(names, Option(1, size))


def test_what_fits_passes() -> None:
    check_options(replace(run_config(), task=Choice("x", {"a": 1})), schema("a", "b"), LOSSES)


@pytest.mark.parametrize(
    ("options", "known", "message"),
    [
        ({"aa": 1}, schema("ab"), "task.aa: 'x' has no such option; there are: ab"),
        ({"a": 1}, {}, "task.a: 'x' has no options; write task"),
    ],
)
def test_an_unknown_option(options: dict[str, int], known: Schema, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_options(replace(run_config(), task=Choice("x", options)), known, LOSSES)
    assert str(caught.value).startswith(message)


def test_an_unfit_loss() -> None:
    with pytest.raises(ConfigError, match="cannot be learned with the loss 'cross_entropy'; use one of: mse"):
        check_options(run_config(), {}, ("mse", "mae"))


@pytest.mark.many
@pytest.mark.parametrize("name", TINY)
def test_every_task_keeps_to_a_limit_or_refuses_it(name: str) -> None:
    config = tiny(name)
    few = replace(config, data=replace(config.data, limit=36))
    task = kind_of(config).task
    if name in ("forecasting", "object_queries", "prompted_objects"):
        with pytest.raises(
            ConfigError, match=rf"data\.limit=36: {name} takes no limit; set data\.source\.(split|count)"
        ):
            task.begin(few)
    else:
        assert 0 < len(task.begin(few).training) < len(task.begin(config).training)
