"""The page's scripts as one, for a page that is a file: a file cannot import another.

Each module becomes a function that is called when it is first needed, and fills the object of what it exports. Its
functions are there before it begins, so that modules may need each other, as they may where a browser imports them.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

IMPORT = re.compile(r'^import\s+(?:(\w+)|\{([^}]*)\})\s+from\s+"(\.{1,2}/[^"]+)";\n', re.MULTILINE)
FUNCTION = re.compile(r"^export ((?:async )?function (\w+))", re.MULTILINE)
VALUE = re.compile(r"^export ((?:const|class) (\w+))", re.MULTILINE)
LIST = re.compile(r"^export \{([^}]*)\};\n", re.MULTILINE)
DEFAULT = re.compile(r"^export default ", re.MULTILINE)
LEFT = re.compile(r"^(?:import|export)\b.*|</script|<!--", re.MULTILINE | re.IGNORECASE)

BEGIN = """const modules = {};
const made = {};
function need(name) {
  if (!made[name]) modules[name]((made[name] = {}));
  return made[name];
}
"""


def bundle(folder: Path, first: str) -> str:
    """The module `first` and all that it needs, as the text of one script of type module."""
    found: dict[str, str] = {}
    waiting = [first]
    while waiting:
        name = waiting.pop()
        if name not in found:
            source = (folder / name).read_text(encoding="utf-8")
            found[name] = source
            waiting += [beside(name, match[3]) for match in IMPORT.finditer(source)]
    others = (wrapped(name, source) for name, source in found.items() if name != first)
    return "".join([BEGIN, *others, f"{{\n{_body(first, found[first])}}}\n"])


def beside(name: str, relative: str) -> str:
    """The name of a module as another module writes it: "../dom.js" in views/lens.js is dom.js."""
    parts: list[str] = []
    for part in [*PurePosixPath(name).parent.parts, *PurePosixPath(relative).parts]:
        parts = parts[:-1] if part == ".." else parts if part == "." else [*parts, part]
    return "/".join(parts)


def wrapped(name: str, source: str) -> str:
    """A module as a function; `own` is what it exports."""
    functions = [match[2] for match in FUNCTION.finditer(source)]
    values = [match[2] for match in VALUE.finditer(source)]
    values += [each.strip() for match in LIST.finditer(source) for each in match[1].split(",") if each.strip()]
    begin, end = (f"Object.assign(own, {{ {', '.join(names)} }});\n" for names in (functions, values))
    return f'modules["{name}"] = (own) => {{\n{begin}{_body(name, source)}{end}}};\n'


def _body(name: str, source: str) -> str:
    def fetched(match: re.Match[str]) -> str:
        wanted = f"default: {match[1]}" if match[1] else match[2].replace(" as ", ": ")
        return f'const {{ {" ".join(wanted.split())} }} = need("{beside(name, match[3])}");\n'

    body = LIST.sub("", VALUE.sub(r"\1", FUNCTION.sub(r"\1", IMPORT.sub(fetched, source))))
    body = DEFAULT.sub("own.default = ", body)
    left = LEFT.search(body)
    assert left is None, f"{name}: {left and left[0]}"
    return body
