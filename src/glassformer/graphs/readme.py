"""The README of an exported folder: what is in it, and a few lines of Python that run it, from text to text."""

from __future__ import annotations

from typing import Any

import numpy as np

from glassformer.graphs.forms import BATCH
from glassformer.hub.generation import read_generation
from glassformer.loading import Loaded
from glassformer.tasks.prompted_objects.task import PromptedObjects
from glassformer.text import Words
from glassformer.words import say

README_FILES = {"en": "README.md", "ko": "README.ko.md"}
EXAMPLES = {"ko": "우리는 자주 웃는다"}  # by the language of the source
EXAMPLE = "we often laugh"
CENTRE = np.array([0.5, 0.5, 0.1, 0.1])  # the box that the example of a point prompt points into

HEAD = """\
import json
from pathlib import Path
import numpy as np
import onnxruntime as ort
{imports}
said = json.loads(Path("graphs.json").read_text(encoding="utf-8"))
"""
WRITER = """\
decoder = ort.InferenceSession("decoder.onnx")
ids = said["begin"] + {encoded}
cache = {{name: np.zeros((1, heads, 0, width), np.float32) for name, (heads, width) in said["cache"].items()}}
new, answer = ids, []
while len(answer) < 20:
    real = np.ones((1, len(ids) + len(answer)), bool)
    logits, *kept = decoder.run(None, {{"tokens": np.array([new]), "real": real, **cache}})
    logits[0, -1, said["forbidden"]] = -np.inf
    new, cache = [int(logits[0, -1].argmax())], dict(zip(cache, kept))
    if new[0] in said["ends"]:
        break
    answer += new
print({decode}(ids + answer){strip})
"""
TRANSLATOR = """\
encoder, decoder = ort.InferenceSession("encoder.onnx"), ort.InferenceSession("decoder.onnx")
source = np.array([said["begin"] + {encoded} + said["end"]])
given = {{"source": source, "source_real": np.ones(source.shape, bool)}}
memory = dict(zip((output.name for output in encoder.get_outputs()), encoder.run(None, given)))
cache = {{name: np.zeros((1, heads, 0, width), np.float32) for name, (heads, width) in said["cache"].items()}}
new, answer = said["start"], said["start"][1:]
while len(answer) < {most}:
    tokens = {{"tokens": np.array([new]), "source_real": given["source_real"]}}
    logits, *kept = decoder.run(None, {{**tokens, **memory, **cache}})
    logits[0, -1, said["forbidden"]] = -np.inf
    new, cache = [int(logits[0, -1].argmax())], dict(zip(cache, kept))
    if new[0] in said["ends"]:
        break
    answer += new
print({target}(answer){strip})
"""
READ = """\
model = ort.InferenceSession("model.onnx")
ids = {encoded}
tokens = np.array([said["begin"] + ids + said["end"]])
given = {{"tokens": tokens, "real": np.ones(tokens.shape, bool){segments}}}
"""
CLASSIFIER = """\
(logits,) = model.run(None, given)
answer = said["labels"][{best}]
print(answer)
"""
EACH = """\
(logits,) = model.run(None, given)
answer = [said["labels"][i] for i in logits[0].argmax(-1)]
print(answer)
"""
FILLER = """\
(logits,) = model.run(None, given)
gap = tokens[0].tolist().index(said["mask"])
answer = [int(i) for i in logits[0, gap].argsort()[::-1][:5]]
print([{decode}([i]) for i in answer])
"""
STREAM = """\
stream = model.run(None, given)[0]
answer = stream[0].mean(0)
print(answer)
"""
PICTURE = """\
image = Image.open("picture.png").convert("{mode}")
image = image.resize({sides}, Image.Resampling.{resample})
{crop}pixels = np.asarray(image, np.float32).reshape({size}, {size}, -1).transpose(2, 0, 1)[None] / 255
model = ort.InferenceSession("model.onnx")
"""
CROP = """\
left, top = ((side - {size}) // 2 for side in image.size)
image = image.crop((left, top, left + {size}, top + {size}))
"""
VECTOR = """\
(answer,) = model.run(None, {"pixels": pixels})
print(answer)
"""
RECOGNISER = """\
(logits,) = model.run(None, {"pixels": pixels})
answer = said["labels"][int(logits[0].argmax())]
print(answer)
"""
OBJECTS = """\
logits, boxes = model.run(None, {"pixels": pixels})
answer = [(int(i), box) for i, box in zip(logits[0].argmax(-1), boxes[0]) if i < logits.shape[-1] - 1]
print(answer)
"""
PROMPTED = """\
prompt = np.array([{tokens}])  # {read}
logits, boxes = model.run(None, {{"pixels": pixels, "prompt": prompt}})
answer = int(logits[0, -1, :-1].argmax()), boxes[0, -1]
print(answer)
"""
FORECAST = """\
name, scale = next(iter(said["scales"].items()))
past = 2 + np.sin(np.arange({context}) / 4)
levels = (np.log(past) if scale["log"] else past) - scale["mean"]
model = ort.InferenceSession("model.onnx")
(future,) = model.run(None, {{"past": (levels / scale["deviation"])[None].astype(np.float32)}})
levels = future[0] * scale["deviation"] + scale["mean"]
answer = np.exp(levels) if scale["log"] else levels
print(name, answer)
"""
NUMBERS = """\
model = ort.InferenceSession("model.onnx")
inputs = said["graphs"]["model"]["inputs"].items()
given = {{name: np.zeros([1 if axis == "{batch}" else axis for axis in axes], np.float32) for name, axes in inputs}}
answer = model.run(None, given)
print(answer)
"""


def readme(loaded: Loaded, table: dict[str, Any], readable: bool, lang: str) -> str:
    """The whole page."""
    graphs = table["graphs"]
    needed = {
        "cache": bool(table["cache"]),
        "real": any("real" in name for each in graphs.values() for name in each["inputs"]),
    }
    told = [say(f"onnx.{key}", lang) for key in ("real", "cache", "described") if needed.get(key, True)]
    parts = [
        f"# {say('onnx.title', lang)}",
        say("onnx.about", lang, task=loaded.task),
        "\n".join(_graph_line(name, graph, lang) for name, graph in graphs.items()),
        "\n".join(told),
        say("onnx.run", lang),
        f"```python\n{code(loaded, table, readable)}```",
    ]
    return "\n\n".join(parts) + "\n"


def _graph_line(name: str, graph: dict[str, Any], lang: str) -> str:
    inputs = ", ".join(f"`{each}` ({' × '.join(map(str, axes))})" for each, axes in graph["inputs"].items())
    outputs = ", ".join(f"`{each}`" for each in graph["outputs"])
    return say("onnx.graph", lang, name=f"{name}.onnx", inputs=inputs, outputs=outputs)


def code(loaded: Loaded, table: dict[str, Any], readable: bool) -> str:
    """The lines of Python; `readable`: the tokenizers are tokenizer.json, so nothing of ours is needed."""
    if loaded.config.model.input.kind == "image":
        return HEAD.format(imports="from PIL import Image\n") + _picture(loaded, table)
    if loaded.task == "forecasting":
        return HEAD.format(imports="") + FORECAST.format(context=loaded.config.model.input.options["context"])
    if loaded.tokenizers is None:
        return HEAD.format(imports="") + NUMBERS.format(batch=BATCH)
    return (
        HEAD.format(imports=_tokenizer_import(loaded, readable))
        + _openers(loaded, readable)
        + _text(loaded, table, readable)
    )


def _picture(loaded: Loaded, table: dict[str, Any]) -> str:
    options, size = loaded.config.task.options, int(loaded.config.model.input.options["size"])
    whole = int(options.get("enlarge", size))
    by_shortest = f"[int({whole} * side / min(image.size)) for side in image.size]"
    lines = PICTURE.format(
        mode="L" if len(table["pixels"]["image_mean"]) == 1 else "RGB",
        sides=by_shortest if options.get("shortest") else f"({whole}, {whole})",
        resample=str(options.get("resample", "bilinear")).upper(),
        crop=CROP.format(size=size) if options.get("shortest") or whole != size else "",
        size=size,
    )
    if loaded.task == "prompted_objects":
        prompt = next(iter(PromptedObjects.make(loaded.config).kinds.values()))
        tokens = prompt.tokens(0, CENTRE, np.random.default_rng(0))
        return lines + PROMPTED.format(tokens=list(tokens), read=prompt.read(tokens))
    form = VECTOR if loaded.task == "features" else OBJECTS if loaded.task == "object_queries" else RECOGNISER
    return lines + form


def _tokenizer_import(loaded: Loaded, readable: bool) -> str:
    lines = "from tokenizers import Tokenizer\n" if readable else "from glassformer.text import Vocabularies\n"
    if loaded.config.data.prepare != "none":
        lines += "from glassformer.data.moses import prepared_side\n"
    return lines


def _openers(loaded: Loaded, readable: bool) -> str:
    """The tokenizer of each side under its name."""
    if not readable:
        return 'sides = Vocabularies.open(".")\n'
    if loaded.vocabularies.joint:
        return 'tokenizer = Tokenizer.from_file("tokenizer.json")\n'
    files = (f'Tokenizer.from_file("tokenizer.{side}/tokenizer.json")' for side in ("source", "target"))
    return f"tokenizer, target = {', '.join(files)}\n"


def _text(loaded: Loaded, table: dict[str, Any], readable: bool) -> str:
    joint = loaded.vocabularies.joint
    decode = "tokenizer.decode" if readable else "sides.source.decode"
    target = ("tokenizer.decode" if joint else "target.decode") if readable else "sides.target.decode"
    encoded = _encoded(loaded, readable)
    words = readable and isinstance(loaded.vocabularies.target, Words)
    strip = ".lstrip()" if words else ""  # a word holds the blank before it; the first of a text has none here
    match loaded.task:
        case "language_model":
            return WRITER.format(encoded=encoded, decode=decode, strip=strip)
        case "translation":
            return TRANSLATOR.format(encoded=encoded, target=target, most=_longest(loaded, table), strip=strip)
    if loaded.task == "masked_language_model":
        encoded = f'{encoded} + [said["mask"]]'
    segments = ', "segments": np.zeros_like(tokens)' if "segments" in table["graphs"]["model"]["inputs"] else ""
    read = READ.format(encoded=encoded, segments=segments)
    if loaded.task == "masked_language_model":
        return read + FILLER.format(decode=decode)
    if loaded.task == "features":
        return read + STREAM
    if loaded.config.model.head.options.get("pool") == "each":
        return read + EACH
    single = loaded.config.model.head.options.get("classes") == 1
    return read + CLASSIFIER.format(best="int(logits[0, 0] > 0)" if single else "int(logits[0].argmax())")


def _longest(loaded: Loaded, table: dict[str, Any]) -> str:
    """How many tokens a translation may get, as an expression; a forced end takes one of them."""
    wanted, limit = read_generation(loaded.foreign).longest(1), table["longest"]
    most = str(limit)
    if wanted is None:
        most = "source.size + 50" if limit is None else f"min(source.size + 50, {limit})"
    return most if table["last"] is None else f"{most} - 1"


def _encoded(loaded: Loaded, readable: bool) -> str:
    """The expression for the ids of the example."""
    data = loaded.config.data
    text = f'"{EXAMPLE if loaded.foreign is not None else EXAMPLES.get(data.source_language, EXAMPLE)}"'
    if data.prepare != "none":
        text = f'prepared_side("{data.prepare}", "{data.source_language}")({text})'
    return f"tokenizer.encode({text}, add_special_tokens=False).ids" if readable else f"sides.source.encode({text})"
