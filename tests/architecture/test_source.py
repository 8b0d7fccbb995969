from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import torch
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "glassformer"
FILES = sorted(SOURCE.rglob("*.py"))
TRACKED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split("\n")


def test_the_layers_are_written_by_us() -> None:
    ready_made = re.compile(r"nn\.(Transformer|MultiheadAttention)|import .*(TransformerEncoder|MultiheadAttention)")
    for path in FILES:
        if path.name != "peers.py":  # there torch's own stands beside ours, to be timed
            assert not ready_made.search(path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_is_short_and_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    assert len(text.splitlines()) <= 320
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = node.body[0].lineno if node.name == "__init__" else node.lineno
            assert (node.end_lineno or 0) - first < 60, f"{node.name} is long"


def test_a_test_stands_where_its_source_stands() -> None:
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        place = path.relative_to(ROOT / "tests")
        if place.parts[0] in ("parity", "properties", "faults", "architecture", "browser"):
            continue
        name = place.name.removeprefix("test_")
        source = SOURCE / place.with_name(name)
        package = SOURCE / place.parent / "__init__.py"
        assert source.exists() or (package.exists() and name == f"{place.parent.name}.py"), place


def test_nothing_machine_bound_or_produced_is_in_the_repository() -> None:
    # The words are put together here so that this file does not hold them itself.
    machine = [f"/{'work'}/", f"/{'root'}/", "pypi" + ".org", "files.python" + "hosted", "registry.npm" + "js"]
    for name in TRACKED:
        path = ROOT / name
        if not name or not path.is_file() or path.suffix in (".png", ".svg", ".safetensors"):
            continue
        text = path.read_text(encoding="utf-8")
        assert not [word for word in machine if word in text], name
        assert not re.search(r"^(<{7}|>{7}) ", text, re.MULTILINE), name  # a merge that was not finished
        assert not re.search(r"\bS[0-4]\b", text) or name == "tests/architecture/test_source.py", name


def test_a_cpu_build_of_torch_brings_no_cuda_packages() -> None:
    if torch.version.cuda is not None:
        pytest.skip("torch is a CUDA build")
    names = {(found.metadata["Name"] or "").lower() for found in metadata.distributions()}
    assert not [name for name in names if name.startswith("nvidia-") or name == "triton"]


def test_the_tested_versions_install_on_the_oldest_python_that_is_promised() -> None:
    pins = re.findall(r"^([\w-]+)==(.+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    here = {name: metadata.metadata(name) for name, _ in pins if _is_installed(name)}
    assert len(here) > len(pins) // 2
    strict = {
        f"{name}=={each['Version']}": each["Requires-Python"]
        for name, each in here.items()
        if each["Requires-Python"] and "3.11.0" not in SpecifierSet(each["Requires-Python"])
    }
    assert strict == {}


def _is_installed(name: str) -> bool:
    try:
        return bool(metadata.version(name))
    except metadata.PackageNotFoundError:
        return False


def test_what_all_tasks_share_imports_no_task() -> None:
    """`tasks/__init__.py` alone knows them, in its table."""
    folders = "|".join(path.parent.name for path in (SOURCE / "tasks").glob("*/kind.py"))
    task = re.compile(rf"glassformer\.tasks\.({folders})\b")
    importing = {path.name for path in (SOURCE / "tasks").glob("*.py") if task.search(path.read_text(encoding="utf-8"))}
    assert importing == {"__init__.py"}


def test_importing_and_asking_for_help_do_not_load_torch() -> None:
    code = """
import sys
import tomllib
import glassformer
from glassformer.cli.app import main
try:
    main(["count", "--help"])
except SystemExit as stop:
    assert stop.code == 0, stop.code
assert "torch" not in sys.modules and "numpy" not in sys.modules
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


WRITERS = {  # every other file is written by glassformer/files.py, whole or not at all
    "files.py": "the one write",
    "data/stored_texts.py": "texts as they are read, in a folder that gets its name when it is whole",
    "data/transfer.py": "as much as arrives, in a part that no reader takes for data; checked, then renamed",
    "data/unpacking.py": "a piece at a time, under another name; renamed when all of the archive is read",
    "data/slices.py": "a line at a time, under another name; renamed when it is whole",
    "hub/weights.py": "one tensor at a time, in a folder that gets its name when it is whole",
    "training/checkpoint.py": "tensors, by safetensors, in a folder that gets its name when it is whole",
    "bench/pretrained.py": "tensors, by safetensors, in a temporary folder",
    "runs/folder.py": "a log grows by a line; a half-written last line is known and dropped",
    "tasks/evaluation_log.py": "a log grows by a line",
}


def test_files_are_written_in_one_place() -> None:
    found = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _writes(node):
                found.add(str(path.relative_to(SOURCE)))
    assert found == set(WRITERS)


def _writes(call: ast.Call) -> bool:
    """A file opened to be written, a method of a path that writes, or safetensors' own function."""
    match call.func:
        case ast.Attribute(attr="open") | ast.Name(id="open"):
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            modes = [str(each.value) for each in given if isinstance(each, ast.Constant)]
            return any(re.fullmatch(r"[wxa][bt]?\+?", mode) for mode in modes)
        case ast.Attribute(attr="write_bytes" | "write_text" | "save_file") | ast.Name(id="save_file"):
            return True
    return False


def test_every_file_of_the_package_is_in_the_wheel() -> None:
    """Sentences, results, recipes, templates: what is no Python is shipped only if pyproject.toml names it."""
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-data"]
    shipped = {path for pattern in known["glassformer"] for path in SOURCE.glob(pattern)}
    tracked = {ROOT / name for name in TRACKED if name.startswith("src/glassformer/") and not name.endswith(".py")}
    assert tracked and not tracked - shipped


HTML = re.compile(
    r"</?(a|b|div|dd|details|dl|dt|figure|h\d|li|ol|p|pre|section|span|summary|svg|table|td|th|tr|ul)[ >]"
)
MARKUP = {  # all other HTML stands in templates, which escape what is put into them: an f-string escapes nothing
    "show/figure.py": "rules for the SVG that matplotlib writes",
    "textbook/front.py": "links around the boxes of an SVG",
    "textbook/markdown.py": "Markdown has no anchors of its own",
    "textbook/prose.py": "rules for the HTML that the reader of Markdown writes",
}


def test_html_stands_in_templates() -> None:
    found = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                fixed = (str(part.value) for part in node.values if isinstance(part, ast.Constant))
                found |= {str(path.relative_to(SOURCE))} if HTML.search("".join(fixed)) else set()
    assert found == set(MARKUP)
