"""The page's scripts as one: every module is in it once, and what it cannot read is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from glassformer.explorer.bundle import beside, bundle, wrapped
from glassformer.explorer.export import STATIC


def test_every_module_of_the_page_is_in_it_once() -> None:
    script = bundle(STATIC, "main.js")
    modules = {path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.js")} - {"main.js"}
    found = re.findall(r'^modules\["(.*)"\] =', script, re.MULTILINE)
    assert sorted(found) == sorted(modules)
    assert set(re.findall(r'need\("(.*)"\)', script)) == modules
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)


def test_names_of_modules() -> None:
    assert beside("views/lens.js", "../dom.js") == "dom.js"
    assert beside("main.js", "./views/index.js") == "views/index.js"
    assert beside("lab/tree.js", "./slider.js") == "lab/slider.js"


def test_a_module_becomes_a_function() -> None:
    source = """import one from "./one.js";
import { two, three as four } from "../b.js";
export const five = 5;
export async function six() {}
const seven = 7;
export { seven };
export default { one };
"""
    assert wrapped("a/own.js", source) == (
        'modules["a/own.js"] = (own) => {\n'
        "Object.assign(own, { six });\n"
        'const { default: one } = need("a/one.js");\n'
        'const { two, three: four } = need("b.js");\n'
        "const five = 5;\nasync function six() {}\nconst seven = 7;\nown.default = { one };\n"
        "Object.assign(own, { five, seven });\n};\n"
    )


@pytest.mark.parametrize("line", ['import * as all from "./x.js";', "export let x = 1;", "const x = '</script>';"])
def test_what_it_cannot_read_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "main.js").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"main\.js"):
        bundle(tmp_path, "main.js")
