"""What this machine has: packages, devices, memory, fonts, data. Nothing is changed."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from glassformer import fonts
from glassformer.errors import Phrase
from glassformer.words import language, say

PACKAGES = (
    *("torch", "numpy", "jaxtyping", "rich", "typer", "tokenizers", "sentencepiece", "safetensors", "sacrebleu"),
    *("matplotlib", "markdown-it-py", "latex2mathml", "jinja2", "starlette", "uvicorn"),
)
EXTRAS = {  # of pyproject.toml, with their packages; words/ says what each is for
    "images": ("pillow", "scikit-learn"),
    "prices": ("bokeh_sampledata",),
    "parquet": ("pyarrow",),
    "tensorboard": ("tensorboard",),
    "moses": ("sacremoses",),
    "onnx": ("onnx", "onnxruntime", "onnxscript"),
    "ko-fonts": ("koreanize-matplotlib",),
    "ctranslate2": ("ctranslate2",),
    "docs": ("mkdocs-material", "mkdocstrings"),
}


@dataclass(frozen=True)
class Finding:
    """One thing that was checked, what was found, and whether it is all right."""

    kind: str  # key of its name in words/doctor
    name: str = ""  # of a package
    value: str = ""  # what was found, if it needs no sentence
    key: str = ""  # else: the key of the sentence
    values: dict[str, Any] = field(default_factory=dict)
    ok: bool = True
    optional: bool = False

    def thing(self, lang: str | None = None) -> str:
        return self.name or say(f"doctor.{self.kind}", lang)

    def text(self, lang: str | None = None) -> str:
        return self.value or Phrase(f"doctor.{self.key}", tuple(self.values.items())).say(lang or language())

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "name": self.name or self.kind,
            "found": self.text(),
            "ok": self.ok,
            "optional": self.optional,
        }


def examine() -> list[Finding]:
    """Everything that matters for Glassformer, in one list."""
    return [
        Finding("python", value=f"{platform.python_version()} · {platform.platform()}"),
        *(_package(name) for name in PACKAGES),
        *(_extra(name, packages) for name, packages in EXTRAS.items()),
        *_wheels(),
        _cpu(),
        *_memory(),
        _accelerator(),
        _font(),
        _data(),
    ]


def _package(name: str) -> Finding:
    try:
        return Finding("package", name=name, value=metadata.version(name))
    except metadata.PackageNotFoundError:
        return Finding("package", name=name, key="missing", values={"package": name}, ok=False)


def _extra(extra: str, packages: tuple[str, ...]) -> Finding:
    """Whether an optional extra is installed, what it is for, and how to get it."""
    purpose = Phrase(f"doctor.extras.{extra}")
    found = {name: _version(name) for name in packages}
    missing = [name for name, version in found.items() if not version]
    if missing:
        values = {"packages": ", ".join(missing), "extra": extra, "purpose": purpose}
        return Finding("extra", name=f"[{extra}]", key="extra_missing", values=values, ok=False, optional=True)
    values = {"packages": ", ".join(f"{name} {version}" for name, version in found.items()), "purpose": purpose}
    return Finding("extra", name=f"[{extra}]", key="extra_found", values=values)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _wheels() -> list[Finding]:
    """A CPU build of torch with CUDA packages beside it: several gigabytes for nothing."""
    import torch

    if torch.version.cuda is not None:
        return []
    names = {(found.metadata["Name"] or "").lower() for found in metadata.distributions()}
    useless = sorted(name for name in names if name.startswith("nvidia-") or name == "triton")
    if not useless:
        return []
    return [Finding("package", name="torch", key="wheel_mixed", values={"packages": ", ".join(useless)}, ok=False)]


def _cpu() -> Finding:
    import torch

    cores = {"threads": torch.get_num_threads(), "cores": os.cpu_count() or 1}
    return Finding("device", name="CPU", key="cores", values=cores)


def _memory() -> list[Finding]:
    """Free memory; empty if the system does not say."""
    from glassformer.models.build import free_memory

    free = free_memory()
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # no sysconf, no such name, no answer
        return []
    if free is None:
        return []
    values = {"available": f"{free / 2**30:.1f}", "total": f"{total / 2**30:.1f}"}
    return [Finding("memory", key="memory_value", values=values)]


def _accelerator() -> Finding:
    import torch

    if not torch.cuda.is_available():
        return Finding("device", name="CUDA", key="cuda_none", ok=False, optional=True)
    card = torch.cuda.get_device_properties(0)
    values = {"name": card.name, "memory": f"{card.total_memory / 2**30:.0f}"}
    return Finding("device", name="CUDA", key="cuda", values=values)


def _font() -> Finding:
    """Any font that covers Hangul, as fontconfig knows them; else that of the extra `ko-fonts`."""
    try:
        listed = subprocess.run(["fc-list", ":lang=ko", "family"], capture_output=True, text=True, timeout=10).stdout
    except (OSError, subprocess.TimeoutExpired):
        listed = ""
    families = sorted({line.strip() for line in listed.splitlines() if line.strip()})
    if not families and fonts.of_package():
        return Finding("font", value=f"{Path(fonts.of_package()[0]).stem} (ko-fonts)")
    if not families:
        return Finding("font", key="font_missing", ok=False, optional=True)
    return Finding("font", value=families[0])


def _data() -> Finding:
    path = os.environ.get("GLASSFORMER_DATA", "")
    if not path:
        return Finding("data", key="data_missing", ok=False, optional=True)
    if not Path(path).is_dir():
        return Finding("data", key="data_absent", values={"path": path}, ok=False)
    return Finding("data", value=path)
