from __future__ import annotations

from glassformer.config.model import ModelConfig
from glassformer.hub.families import FAMILIES
from glassformer.hub.family import At, biased, layers, linear, no_copies


def test_names_of_linear_layers_and_of_all_layers() -> None:
    assert linear({"w_q": "q", "w_o": "o"}, {"w_q": True, "w_o": False}) == {
        "w_q.weight": "q.weight",
        "w_q.bias": "q.bias",
        "w_o.weight": "o.weight",
    }
    assert biased({"norm": "ln"}) == {"norm.weight": "ln.weight", "norm.bias": "ln.bias"}
    assert layers({"a": "x"}, "blocks", "h", 2) == {"blocks.0.a": At("h.0.x"), "blocks.1.a": At("h.1.x")}
    assert no_copies(ModelConfig()) == {}


def test_no_two_families_claim_the_same_model() -> None:
    types = [name for family in FAMILIES.values() for name in family.model_types]
    classes = [name for family in FAMILIES.values() for name in family.tasks]
    assert len(types) == len(set(types)) and len(classes) == len(set(classes))
    assert all(name == family.name for name, family in FAMILIES.items())
