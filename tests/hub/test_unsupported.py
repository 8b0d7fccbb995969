"""What people point at that is not a model here: the message says what it is, and what to do instead."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import glassformer as gf
from foreign_folder import changed
from glassformer.cli.app import main
from glassformer.errors import FileError
from glassformer.hub.store import store
from glassformer.words import LANGUAGES


def gguf(folder: Path) -> Path:
    (folder / "llama-7b.Q4_K_M.gguf").write_bytes(b"GGUF\x03\0\0\0" + bytes(16))
    return folder / "llama-7b.Q4_K_M.gguf"


def gguf_folder(folder: Path) -> Path:
    return gguf(folder).parent


def adapter(folder: Path) -> Path:
    told = {"base_model_name_or_path": "meta-llama/Llama-2-7b-hf", "peft_type": "LORA"}
    (folder / "adapter_config.json").write_text(json.dumps(told))
    (folder / "adapter_model.safetensors").write_bytes(b"")
    return folder


def pickled(name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(b"\x80\x04.")
        return folder

    return make


def pickled_file(folder: Path) -> Path:
    return pickled("model.pt")(folder) / "model.pt"


def diffusers(folder: Path) -> Path:
    (folder / "model_index.json").write_text(json.dumps({"_class_name": "StableDiffusionPipeline"}))
    return folder


def weights_alone(folder: Path) -> Path:
    (folder / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    return folder


def weights_file(folder: Path) -> Path:
    return weights_alone(folder) / "model.safetensors"


def hub_name(folder: Path) -> str:
    return "openai-community/gpt2"


def hub_address(folder: Path) -> str:
    return "https://huggingface.co/openai-community/gpt2"


STRANGERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "gguf": (gguf, r"is a GGUF file, .* llama\.cpp.*; take the folder with config\.json and \*\.safetensors"),
    "a folder of gguf": (gguf_folder, r"llama-7b\.Q4_K_M\.gguf is a GGUF file"),
    "an adapter": (adapter, r"is an adapter \(LORA\) for 'meta-llama/Llama-2-7b-hf', not a model.*merge_and_unload"),
    "a pickle": (pickled("pytorch_model.bin"), r"pytorch_model\.bin is a pickle.*save_pretrained"),
    "a checkpoint of torch": (pickled("checkpoint.pth"), r"checkpoint\.pth is a pickle.*save_pretrained"),
    "a file of torch": (pickled_file, r"model\.pt is a pickle.*save_pretrained"),
    "weights of tensorflow": (pickled("tf_model.h5"), r"tf_model\.h5 holds weights of TensorFlow.*from_tf"),
    "weights of flax": (pickled("flax_model.msgpack"), r"flax_model\.msgpack holds weights of Flax.*from_flax"),
    "onnx": (pickled("model.onnx"), r"model\.onnx is an ONNX graph"),
    "diffusers": (diffusers, r"pipeline of diffusers \(StableDiffusionPipeline\), which makes images"),
    "weights without a configuration": (weights_alone, r"has weights but no config\.json"),
    "a file of weights": (weights_file, r"model\.safetensors .*name the folder"),
    "a name on the hub": (hub_name, r"'openai-community/gpt2' is not a folder here.*hf download openai-community/gpt2"),
    "an address": (hub_address, r"hf download openai-community/gpt2 --local-dir gpt2"),
}
USES: dict[str, Callable[[Any, Path], Any]] = {
    "load": lambda model, out: gf.load(model),
    "count": lambda model, out: gf.count(model),
    "import": lambda model, out: store(model, out),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("case", STRANGERS)
def test_it_is_called_by_its_name(case: str, use: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make, message = STRANGERS[case]
    with pytest.raises(FileError, match=message) as caught:
        USES[use](make(tmp_path), tmp_path / "out")
    for lang in LANGUAGES:
        assert "\n" not in caught.value.in_language(lang)
    assert not (tmp_path / "out").exists()


def test_quantised_weights_are_called_so(tmp_path: Path) -> None:
    folder = changed("llama", tmp_path, quantization_config={"quant_method": "gptq", "bits": 4})
    with pytest.raises(FileError, match=r"are quantised \(gptq, 4\).*the same model in float16 or bfloat16"):
        gf.load(folder)


def test_a_name_that_could_be_a_folder_of_ours_is_no_name_of_the_hub(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    for name in (tmp_path / "runs" / "ko-en", tmp_path, "mine", "a/b/c"):
        with pytest.raises(FileError, match=r"is not a run: it has no config\.toml"):
            gf.load(name)


def test_at_the_prompt_it_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["generate", str(gguf(tmp_path)), "Hello"], ["trace", str(gguf(tmp_path)), "Hello"]):
        with pytest.raises(SystemExit) as stop:
            main([*words, "--lang", "ko"])
        complaint = capsys.readouterr()
        assert stop.value.code == 1 and complaint.out == ""
        assert complaint.err.count("\n") == 1 and "GGUF 파일" in complaint.err
