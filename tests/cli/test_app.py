from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import warm
from glassformer.version import __version__
from glassformer.words import say
from marks import first_is_fast
from typed import typed

ROOT = Path(__file__).parents[2]
HANGUL = re.compile(r"[가-힣]")
COMMANDS = ("count", "plan", "presets", "trace", "bench", "doctor")
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "GLASSFORMER_"))}
ENVIRONMENT |= {"LANG": "C.UTF-8", "COLUMNS": "80"}
COLD = [sys.executable, "-m", "glassformer"]  # with all its imports


run = typed()


def started(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The real command, in a process of its own."""
    command = [*COLD, *arguments]
    environment = ENVIRONMENT | environment
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, encoding="utf-8")


def only_line(err: str) -> str:
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err.rstrip("\n")


# --- the command itself ---


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"{__version__}\n", "")


@pytest.mark.slow
def test_help_names_every_command_in_both_languages() -> None:
    english, korean = started("--help"), started("--help", "--lang", "ko")
    for done in (english, korean):
        assert (done.returncode, done.stderr) == (0, "")
        for command in COMMANDS:
            assert re.search(rf"│ {command} ", done.stdout)
    assert "Usage: glassformer" in english.stdout
    assert not HANGUL.search(english.stdout)
    assert "사용법: glassformer" in korean.stdout
    for title in ("옵션", "학습하기"):
        assert f"─ {title} ─" in korean.stdout
    for text in ("Options", "Commands", "Usage", "Show this message"):
        assert text not in korean.stdout


@pytest.mark.many
@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_is_korean_and_whole(command: str) -> None:
    done = started(command, "--help", "--lang", "ko")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"사용법: glassformer {command}" in done.stdout
    assert "…" not in done.stdout, "a word was cut"
    described = [line for line in done.stdout.splitlines() if re.match(r"│ \*?\s*(--\w|[A-Z])", line)]
    assert described
    assert [line for line in described if not HANGUL.search(line)] == []


@pytest.mark.slow
def test_brackets_in_a_help_text_are_shown() -> None:
    assert "[model]" in started("count", "--help").stdout


@pytest.mark.slow
def test_without_arguments_the_help_is_shown() -> None:
    done = started()
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: glassformer" in done.stdout


@pytest.mark.many
@pytest.mark.parametrize(
    ("environment", "korean"),
    [
        ({"LANG": "ko_KR.UTF-8"}, True),
        ({"GLASSFORMER_LANG": "ko"}, True),
        ({"GLASSFORMER_LANG": "en", "LANG": "ko_KR.UTF-8"}, False),
        ({}, False),
    ],
)
def test_the_locale_chooses_the_language(environment: dict[str, str], korean: bool) -> None:
    done = started("cuont", **environment)
    assert done.returncode == 2
    assert bool(HANGUL.search(only_line(done.stderr))) is korean


@pytest.mark.slow
def test_the_language_may_stand_anywhere() -> None:
    lines = {
        started(*words).stderr for words in (("--lang", "ko", "cuont"), ("--lang=ko", "cuont"), ("cuont", "--lang=ko"))
    }
    assert lines == {"cuont: 없는 명령입니다. 혹시 이것인가요: count (glassformer --help)\n"}


# --- torch is not loaded before it is needed ---


@pytest.mark.parametrize(
    "code",
    [
        "import glassformer",
        "import glassformer; dir(glassformer); glassformer.__all__",
        "import glassformer; glassformer.ModelConfig",
        "from glassformer.cli.app import main; main(['--help'])",
        "from glassformer.cli.app import main; main(['trace', '--help'])",
        "from glassformer.cli.app import main; main(['--version'])",
        "from glassformer.cli.app import main; main(['cuont'])",
    ],
)
def test_torch_is_not_imported(code: str) -> None:
    ending = (
        "import sys, atexit; atexit.register(lambda: print('LOADED', sorted({'torch', 'numpy'} & set(sys.modules))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{ending}; {code}"], capture_output=True, text=True, env=ENVIRONMENT, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "LOADED []"


# --- wrong use: exit code 2, one line, in either language ---


WRONG_USE = [
    (("cuont", "gpt2"), "cuont: no such command; did you mean count? (glassformer --help)"),
    (("zzz",), "zzz: no such command; there are: bench, "),
    (("count",), "MODEL is missing; see glassformer count --help"),
    (("trace", "gpt2"), "TEXT is missing; see glassformer trace --help"),
    ((), "COMMAND is missing; see glassformer --help"),
    (("count", "gpt2", "--lyers", "3"), "--lyers: no such option; did you mean --layers? (glassformer count --help)"),
    (
        ("count", "gpt2", "--zzz"),
        "--zzz: no such option; there are: --autocast, --batch, --beams, --causal, --debug",
    ),
    (("count", "gpt2", "--layers", "x"), "--layers x is not valid; use a whole number"),
    (("count", "gpt2", "--layers=1.5"), "--layers 1.5 is not valid; use a whole number"),
    (("count", "gpt2", "--layers", "0"), "--layers=0 is out of range; use 1 to 10000"),
    (("count", "gpt2", "--layers", "-1"), "--layers=-1 is out of range; use 1 to 10000"),
    (("trace", "gpt2", "a", "--layers=10001"), "--layers=10001 is out of range; use 1 to 10000"),
    (("count", "gpt2", "--layers", "9" * 40), "--layers=a number of over 15 digits is out of range; use 1 to 10000"),
    (("count", "gpt2", "--layers"), "--layers … is missing; see glassformer count --help"),
    (("count", "gpt2", "--json=1"), "--json=1: no such option; did you mean --json? (glassformer count --help)"),
    (
        ("count", "gpt2", "bert-base"),
        "count takes no further argument bert-base; write glassformer count MODEL (its options: --help)",
    ),
    (
        ("trace", "paper-base", "나는", "학교에", "간다 (오늘)"),
        'trace takes no further argument 학교에 간다 (오늘); write glassformer trace MODEL "TEXT" (its options',
    ),
    (("presets", "x"), "presets takes no further argument x; write glassformer presets (its options: --help)"),
    (("count", "gpt2", "--set", "d_ff"), "--set d_ff: write key=value, such as --set d_ff=1024"),
]


@pytest.mark.many
@pytest.mark.parametrize(("arguments", "line"), WRONG_USE, ids=[" ".join(words) for words, _ in WRONG_USE])
def test_wrong_use_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for lang in ("en", "ko"):
        code, out, err = run(capsys, "--lang", lang, *arguments)
        assert (code, out) == (2, "")
        said = only_line(err)
        if lang == "en":
            assert said.startswith(line)
        else:
            assert HANGUL.search(said)
            assert not re.search(r"no such|missing|will not do|did you mean|there are|write |out of range", said)


@pytest.mark.parametrize("given", ["fr", "KO", "", "korean"])
def test_a_language_that_is_not_spoken(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("presets", f"--lang={given}"), ("--lang", given, "presets")):
        code, out, err = run(capsys, *words)
        assert (code, out, only_line(err)) == (2, "", f"--lang {given or chr(34) * 2}: use ko or en")


def test_a_language_that_is_not_spoken_is_refused_in_the_language_of_the_locale() -> None:
    done = started("presets", "--lang", "fr", LANG="ko_KR.UTF-8")
    assert (done.returncode, done.stderr) == (2, "--lang fr: ko 또는 en을 쓰세요\n")


# --- the lines that the documents show ---


def documented() -> list[tuple[str, str, str, int]]:
    """Language, command, answer and exit code of every row of docs/*/errors.md."""
    row = re.compile(r"^\| `glassformer (?P<command>[^`]+)` \| (?P<answer>.+) \| (?P<code>\d) \|$", re.MULTILINE)
    pages = {lang: (ROOT / "docs" / lang / "errors.md").read_text(encoding="utf-8") for lang in ("en", "ko")}
    found = [(lang, *match.groups()) for lang, page in pages.items() for match in row.finditer(page)]
    return [(lang, command, answer, int(code)) for lang, command, answer, code in found]


@pytest.mark.many
@pytest.mark.parametrize(("lang", "command", "answer", "code"), documented())
def test_the_documents_show_what_is_said(
    lang: str, command: str, answer: str, code: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", lang)
    given = run(capsys, *shlex.split(command))
    assert given == (code, "", f"{answer}\n")


def test_both_languages_show_the_same_commands() -> None:
    english, korean = ([row[1] for row in documented() if row[0] == lang] for lang in ("en", "ko"))
    assert english == korean
    assert len(english) > 10


# --- one line, whatever happens ---


def test_debug_shows_the_traceback_and_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, plain = run(capsys, "count", "gpt2", "--set", "d_modl=3")
    assert (code, out, only_line(plain)) == (1, "", "d_modl: no such key; did you mean d_model?")
    code, out, debug = run(capsys, "count", "gpt2", "--set", "d_modl=3", "--debug")
    assert (code, out) == (1, "")
    assert debug.startswith("Traceback (most recent call last):")
    assert "ConfigError" in debug
    assert debug.endswith(plain)


def test_debug_keeps_the_exit_code_of_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "cuont", "--debug")
    assert (code, out) == (2, "")
    assert "Traceback" in err


def test_nothing_that_a_terminal_would_obey_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "count", "\x1b[2J\a\r\n\u2028x.toml")
    assert (code, out) == (1, "")
    assert only_line(err).isprintable()
    assert "\\x1b[2J\\x07 x.toml: no such file" in err


def test_a_name_that_is_no_unicode() -> None:
    command = [*warm.command(), "count", b"\xff\xfe.toml"]
    done = subprocess.run(command, capture_output=True, env=ENVIRONMENT, timeout=60)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"\\udcff\\udcfe.toml: no such file")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.slow
def test_a_closed_pipe_is_no_error() -> None:
    reader = subprocess.Popen(["head", "-1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    done = subprocess.run(
        [*COLD, "presets"],
        stdout=reader.stdin,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        timeout=60,
    )
    out, _ = reader.communicate(timeout=60)
    assert out.count("\n") == 1
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_pipe_that_closes_in_the_middle_is_no_error() -> None:
    command = [*warm.command(), "trace", "mini-classifier", "w " * 400, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(1) == b"{"  # it writes far more than a pipe holds, so it waits for us
        process.stdout.close()
        err = process.stderr.read()
        assert (process.wait(timeout=60), err) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    "arguments", first_is_fast([("--version",), ("count", "gpt2"), ("count", "gpt2", "--json")]), ids=" ".join
)
def test_a_full_disk_is_one_line(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*(COLD if arguments == ("--version",) else warm.command()), *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
            timeout=60,
        )
    assert done.returncode == 1
    assert only_line(done.stderr).startswith("stdout cannot be written: No space left on device; ")


@pytest.mark.slow
def test_a_closed_output_is_no_error() -> None:
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m glassformer --help >&-"], stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lang", "line"),
    [
        ("en", "stopped by you; nothing was left half done"),
        pytest.param("ko", "사용자가 중단했습니다. 만들다 만 것은 남아 있지 않습니다", marks=pytest.mark.slow),
    ],
    ids=["en", "ko"],
)
def test_ctrl_c_is_one_line_and_exit_code_1(lang: str, line: str) -> None:
    command = [
        *(COLD if lang == "en" else warm.command()),
        "trace",
        "mini-classifier",
        "w " * 400,
        "--json",
        "--lang",
        lang,
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == "{"  # it is running, and waits until somebody reads the rest
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, only_line(err)) == (1, line)


def test_an_output_that_knows_no_hangul_is_no_error() -> None:
    command = [*warm.command(), "count", "mini-classifier", "--lang", "ko"]
    environment = ENVIRONMENT | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "976,704" in done.stdout


def test_what_nobody_expected_is_one_line_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from glassformer.models import presets

    monkeypatch.setitem(presets.PRESETS, "broken", lambda: 1 // 0)
    for lang, beginning in (
        ("en", "something went wrong that should not have: "),
        ("ko", "예상하지 못한 오류가 났습니다: "),
    ):
        code, out, err = run(capsys, "count", "broken", "--lang", lang)
        assert (code, out) == (1, "")
        assert only_line(err).startswith(beginning + "ZeroDivisionError: ")
        assert "--debug" in err


def test_a_panic_of_a_library_is_one_line_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real one, of the library of tokenizers: a panic is no Exception."""
    from tokenizers import Regex, pre_tokenizers

    from glassformer.models import presets

    split = pre_tokenizers.Split(Regex("(a+)+$"), "isolated")
    monkeypatch.setitem(presets.PRESETS, "broken", lambda: split.pre_tokenize_str("a" * 40 + "!"))
    code, out, err = run(capsys, "count", "broken", "--lang", "en")
    assert (code, out) == (1, "")
    assert only_line(err).startswith("something went wrong that should not have: PanicException: Onig")


# --- habits ---

EVERY = (
    *(
        "models",
        "count",
        "plan",
        "presets",
        "trace",
        "recipes",
        "train",
        "sweep",
        "data",
        "translate",
        "generate",
        "classify",
    ),
    *("fill", "recognise", "forecast", "embed", "evaluate", "compare", "bench", "doctor", "lessons", "lesson"),
    *("claims", "report", "import", "export"),
)


@pytest.mark.parametrize("arguments", [(), *((name,) for name in EVERY)], ids=" ".join)
def test_minus_h_is_help_everywhere(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    found = run(capsys, *arguments, "-h")
    assert found == run(capsys, *arguments, "--help") and found[0] == 0


def test_minus_big_v_is_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "-V") == (0, f"{__version__}\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_help_has_groups_with_every_command_once(lang: str) -> None:
    found = started("--help", "--lang", lang).stdout
    titles = [say(f"help.groups.{group}", lang) for group in ("look", "train", "use", "check", "learn", "exchange")]
    places = [found.index(f"─ {title} ─") for title in titles]
    assert places == sorted(places)
    for name in EVERY:
        assert len(re.findall(rf"^│ {name} ", found, re.MULTILINE)) == 1
    flat = " ".join(found.replace("│", " ").split())
    for key in ("install_completion", "show_completion"):
        assert say(f"help.{key}", lang) in flat


TOLD = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # typer then takes the shell from the command line


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_completion(shell: str) -> None:
    """The script, and what it asks for: the commands that begin so."""
    assert "_GLASSFORMER_COMPLETE" in started("--show-completion", shell, **TOLD).stdout
    asked = {"_GLASSFORMER_COMPLETE": f"complete_{shell}", "COMP_WORDS": "glassformer tra", "COMP_CWORD": "1"}
    asked |= {"_TYPER_COMPLETE_ARGS": "glassformer tra", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    found = set(re.findall(r"\b(?:count|trace|train|translate)\b", started(**asked).stdout))
    assert found - {"count"} == {"trace", "train", "translate"}


@pytest.mark.slow
def test_completion_is_installed_where_the_shell_looks(tmp_path: Path) -> None:
    done = started("--lang", "ko", "--install-completion", "bash", HOME=str(tmp_path), **TOLD)
    assert done.stdout.startswith("bash 자동 완성을 설치했습니다: ")
    assert "glassformer" in (tmp_path / ".bashrc").read_text(encoding="utf-8")
