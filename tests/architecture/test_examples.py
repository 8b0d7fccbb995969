"""What a cluster's owner starts from: the files are what Slurm and Kubernetes read, and their commands are ours."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from glassformer.cli.commands import whole_command
from glassformer.cli.options import overrides
from glassformer.config.recipe import TrainConfig
from glassformer.loading import open_recipe
from glassformer.ranks import Ranks

EXAMPLES = Path(__file__).parents[2] / "examples"
SLURM, JOB = EXAMPLES / "slurm.sh", EXAMPLES / "pytorchjob.yaml"


def slurm_command() -> list[str]:
    """The words after `glassformer` of the command that every node runs."""
    text = SLURM.read_text(encoding="utf-8").replace("\\\n", " ")
    (line,) = re.findall(r"-m glassformer (.*) &$", text, re.MULTILINE)
    return shlex.split(line)


def documents() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(JOB.read_text(encoding="utf-8")))


def container() -> dict[str, Any]:
    job = documents()[1]
    (found,) = job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    return dict(found)


def kubernetes_command() -> list[str]:
    arguments = container()["args"]
    assert container()["command"] == ["torchrun"] and arguments[:2] == ["-m", "glassformer"]
    return list(arguments[2:])


def guide_commands() -> list[list[str]]:
    """The trainings of the guide, which shows the same ones in both languages."""
    pages = [(EXAMPLES.parent / "docs" / lang / "scaling.md").read_text(encoding="utf-8") for lang in ("en", "ko")]
    english, korean = (
        re.findall(r"^(?:torchrun .*-m )?glassformer (train [^#\n]*)", page, re.MULTILINE) for page in pages
    )
    assert [line.strip() for line in english] == [line.strip() for line in korean]
    return [shlex.split(line) for line in english]


def parsed(words: list[str]) -> tuple[dict[str, Any], TrainConfig]:
    """The options of a training, read by the command line itself, and what its keys make of the recipe."""
    name, *rest = words
    given = whole_command().commands[name].make_context(name, rest).params
    changes = overrides(list(given["set_"] or ()))
    return given, open_recipe(given["recipe"], changes).train


@pytest.mark.parametrize("words", [slurm_command(), kubernetes_command()], ids=["slurm", "kubernetes"])
def test_the_command_is_one_of_ours(words: list[str]) -> None:
    given, here = parsed(words)
    assert (given["recipe"], given["resume"]) == ("wmt14-big", True)
    paper = open_recipe("wmt14-big").train
    assert here.batch_tokens * 32 * given["steps"] == paper.batch_tokens * paper.steps  # as many tokens in the end


def test_the_trainings_of_the_guide_are_ours_and_take_the_steps_that_it_says() -> None:
    found = [parsed(words) for words in guide_commands()]
    assert [given["recipe"] for given, _ in found].count("wmt14-base") == len(found) - 3
    sizes = [here.batch_tokens for given, here in found if given["recipe"] == "wmt14-big"]
    assert sizes == [25_000 // 8] * 3


# --- Slurm ---

STUBS = {
    "scontrol": 'if [ "$1" = show ]; then echo node1; echo node2; else echo "$@" >> "$SAID"; fi',
    # one node, this one: the options are srun's, the rest is run
    "srun": 'while [[ $1 == --* ]]; do shift; done; exec "$@"',
    "torchrun": 'echo "$@" > "$GIVEN"; trap \'echo told >> "$SAID"; exit "$AFTER"\' TERM; touch "$READY"\n'
    'if [ "$SECONDS_TO_RUN" = 0 ]; then exit "$AFTER"; fi; for _ in $(seq 600); do sleep 0.05; done',
}


@pytest.fixture
def cluster(tmp_path: Path) -> dict[str, str]:
    """The environment of a job, on a machine whose Slurm is three short scripts: no cluster is at hand."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in STUBS.items():
        (programs / name).write_text(f"#!/bin/bash\n{text}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    given = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "node[1-2]", "SLURM_NNODES": "2", "SLURM_CPUS_PER_TASK": "64"}
    paths = {"SAID": tmp_path / "said", "GIVEN": tmp_path / "given", "READY": tmp_path / "ready", "TMPDIR": tmp_path}
    names = {name: str(path) for name, path in paths.items()}
    return {**os.environ, **given, **names, "PATH": f"{programs}:{os.environ['PATH']}"}


def said(cluster: dict[str, str]) -> list[str]:
    path = Path(cluster["SAID"])
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def started(cluster: dict[str, str], after: int) -> Iterator[subprocess.Popen[bytes]]:
    """The job, once torchrun has started; ended whatever happens."""
    job = subprocess.Popen(["bash", SLURM], env={**cluster, "AFTER": str(after), "SECONDS_TO_RUN": "30"})
    try:
        for _ in range(200):
            if Path(cluster["READY"]).exists():
                break
            time.sleep(0.05)
        yield job
    finally:
        job.kill()
        job.wait()


def test_the_script_is_read_by_a_shell() -> None:
    subprocess.run(["bash", "-n", SLURM], check=True)


def test_the_options_are_those_of_sbatch() -> None:
    """As sbatch(1) of Slurm 22.05 names them; they stand before the first command, where Slurm reads them."""
    known = "job-name nodes ntasks-per-node gpus-per-node cpus-per-task mem time requeue open-mode output signal"
    lines = SLURM.read_text(encoding="utf-8").splitlines()
    options = [line.split(maxsplit=1)[1] for line in lines if line.startswith("#SBATCH")]
    assert {option.removeprefix("--").partition("=")[0] for option in options} == set(known.split())
    first = next(at for at, line in enumerate(lines) if line and not line.startswith("#"))
    assert all(not line.startswith("#SBATCH") for line in lines[first:])
    assert "--ntasks-per-node=1" in options  # one torchrun on each node
    assert re.fullmatch(r"--signal=B:TERM@\d+", next(option for option in options if "signal" in option))


@pytest.mark.parametrize("code", [0, 3])
def test_a_job_that_ends_by_itself_is_not_queued_again(cluster: dict[str, str], code: int) -> None:
    done = subprocess.run(["bash", SLURM], env={**cluster, "AFTER": str(code), "SECONDS_TO_RUN": "0"}, timeout=30)
    assert (done.returncode, said(cluster)) == (code, [])
    given = Path(cluster["GIVEN"]).read_text(encoding="utf-8")
    assert "--nnodes=2 --nproc-per-node=8" in given and "--rdzv-endpoint=node1:29400 --rdzv-id=7.0 -m" in given


@pytest.mark.parametrize(("after", "heard"), [(1, ["told", "requeue 7"]), (0, ["told"])], ids=["saved", "finished"])
def test_when_time_is_up_the_ranks_are_told_once_and_the_job_is_queued_again(
    cluster: dict[str, str], after: int, heard: list[str]
) -> None:
    for job in started(cluster, after):
        job.send_signal(signal.SIGTERM)
        assert job.wait(timeout=30) == after
    assert said(cluster) == heard


# --- Kubernetes ---

TEXT, WHOLE = {"type": "string"}, {"type": "integer", "minimum": 1}


def only(required: list[str], **properties: Any) -> dict[str, Any]:
    """An object with these fields and no others."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


MOUNT = only(["name", "mountPath"], name=TEXT, mountPath=TEXT)
CONTAINER = only(
    ["name", "image", "command", "args"],
    name={"const": "pytorch"},
    image=TEXT,
    command={"type": "array", "items": TEXT},
    args={"type": "array", "items": TEXT},
    env={"type": "array", "items": only(["name", "value"], name=TEXT, value=TEXT)},
    resources=only(["limits"], limits={"type": "object"}),
    volumeMounts={"type": "array", "items": MOUNT},
)
CLAIM, MEMORY = only(["claimName"], claimName=TEXT), only(["medium"], medium={"const": "Memory"})
POD = only(
    ["containers"],
    terminationGracePeriodSeconds=WHOLE,
    containers={"type": "array", "items": CONTAINER, "minItems": 1},
    volumes={"type": "array", "items": only(["name"], name=TEXT, persistentVolumeClaim=CLAIM, emptyDir=MEMORY)},
)
REPLICAS = only(
    ["replicas", "restartPolicy", "template"],
    replicas=WHOLE,
    restartPolicy={"enum": ["Always", "OnFailure", "Never", "ExitCode"]},
    template=only(["spec"], spec=POD),
)
SPEC = only(
    ["pytorchReplicaSpecs"],
    nprocPerNode=TEXT,
    elasticPolicy=only(
        ["minReplicas", "maxReplicas"],
        rdzvBackend={"enum": ["c10d", "etcd", "etcd-v2"]},
        minReplicas=WHOLE,
        maxReplicas=WHOLE,
        maxRestarts=WHOLE,
    ),
    runPolicy=only([], cleanPodPolicy={"enum": ["All", "Running", "None"]}, backoffLimit=WHOLE),
    pytorchReplicaSpecs=only(["Worker"], Worker=REPLICAS),
)
NAMED = only(["name"], name=TEXT)
PYTORCH_JOB = only(
    ["apiVersion", "kind", "metadata", "spec"],
    apiVersion={"const": "kubeflow.org/v1"},
    kind={"const": "PyTorchJob"},
    metadata=NAMED,
    spec=SPEC,
)


def test_the_job_has_the_fields_of_the_operator() -> None:
    """Names and types as the training operator's own PyTorchJob v1 has them, and no field that it does not know."""
    claim, job = documents()
    assert list(Draft202012Validator(PYTORCH_JOB).iter_errors(job)) == []
    assert (claim["apiVersion"], claim["kind"]) == ("v1", "PersistentVolumeClaim")
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    misspelt = {**job, "spec": {**job["spec"], "elasticPolicies": {}}}
    assert not Draft202012Validator(PYTORCH_JOB).is_valid(misspelt)


def test_runs_and_data_outlive_the_pods() -> None:
    """Both lie on the volume that is claimed, and a pod that fails is started again and goes on."""
    claim, job = documents()
    pod = job["spec"]["pytorchReplicaSpecs"]["Worker"]
    volumes = {each["name"]: each for each in pod["template"]["spec"]["volumes"]}
    mounts = {each["mountPath"]: volumes[each["name"]] for each in container()["volumeMounts"]}
    assert mounts["/volume"]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    out = kubernetes_command()[kubernetes_command().index("--out") + 1]
    data = {each["name"]: each["value"] for each in container()["env"]}["GLASSFORMER_DATA"]
    assert out.startswith("/volume/") and data.startswith("/volume/")
    elastic = job["spec"]["elasticPolicy"]
    assert elastic["minReplicas"] <= pod["replicas"] <= elastic["maxReplicas"]
    devices = int(job["spec"]["nprocPerNode"])
    for nodes in range(elastic["minReplicas"], elastic["maxReplicas"] + 1):  # each may begin the run, or go on with it
        Ranks(world=nodes * devices).share_of(pod["replicas"] * devices)
    assert pod["restartPolicy"] == "OnFailure"
    assert container()["resources"]["limits"]["nvidia.com/gpu"] == int(job["spec"]["nprocPerNode"])
