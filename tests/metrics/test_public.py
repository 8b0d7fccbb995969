from __future__ import annotations

from glassformer.metrics import public


def test_every_name_is_the_thing_itself_and_no_module() -> None:
    names = [name for name in vars(public) if not name.startswith("_")]
    assert {"accuracy", "bleu", "chrf", "calibration", "confusion", "f1", "perplexity", "mse", "wilson"} <= set(names)
    assert all(callable(getattr(public, name)) for name in names)
