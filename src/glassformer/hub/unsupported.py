"""Things that people try to open but cannot: a GGUF file, an adapter, a name on the hub … Each has its own error."""

from __future__ import annotations

import re
from pathlib import Path

from glassformer.errors import FileError
from glassformer.hub.foreign import read_foreign
from glassformer.hub.sentence import body_of

HUB = re.compile(r"(?:https?:/{1,2}(?:www\.)?huggingface\.co/)?([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)/?")
PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
KNOWN = (".gguf", *PICKLED, ".h5", ".msgpack", ".onnx")


def refuse_stranger(given: str | Path) -> None:
    """Raise an error for what is known to be unsupported; do nothing for anything else, existing or not."""
    path = Path(given)
    try:
        if path.is_dir():
            _refuse_folder(path)
        elif path.is_file():
            _refuse_file(path)
        else:
            _refuse_name(str(given))
    except OSError:  # a name that is too long, a folder without permission: opening it will raise
        return


def _refuse_file(path: Path) -> None:
    match path.suffix:
        case ".safetensors":
            raise FileError("stranger_weights", path=path, folder=path.parent)
        case ".gguf":
            raise FileError("stranger_gguf", path=path)
        case ".h5":
            raise FileError("stranger_tensorflow", path=path)
        case ".msgpack":
            raise FileError("stranger_flax", path=path)
        case ".onnx":
            raise FileError("stranger_onnx", path=path)
        case ending if ending in PICKLED:
            raise FileError("hub_pickled", path=path)


def _refuse_folder(path: Path) -> None:
    """Folders with a config.json (Hugging Face) or a config.toml (ours) are checked elsewhere."""
    if (path / "config.json").is_file() or (path / "config.toml").exists():
        return
    body = body_of(path)
    if body is not None:
        raise FileError("stranger_body", path=path, body=body)
    if (path / "adapter_config.json").is_file():
        adapter = read_foreign(path / "adapter_config.json")
        kind, base = (adapter.table.get(key) for key in ("peft_type", "base_model_name_or_path"))
        raise FileError("stranger_adapter", path=path, kind=str(kind or "PEFT"), base=str(base or "?"))
    if (path / "model_index.json").is_file():
        name = read_foreign(path / "model_index.json").table.get("_class_name")
        raise FileError("stranger_diffusers", path=path, name=str(name or "?"))
    files = sorted(each for each in path.iterdir() if each.is_file())
    if any(each.suffix == ".safetensors" for each in files):
        raise FileError("stranger_no_config", path=path)
    for each in files:
        if each.suffix in KNOWN:
            _refuse_file(each)


def _refuse_name(given: str) -> None:
    """Refuse org/name if there is no folder org."""
    found = HUB.fullmatch(given)
    if found and not Path(given).parent.exists():
        name = found[1]
        raise FileError("stranger_hub", given=given, name=name, folder=name.partition("/")[2])
