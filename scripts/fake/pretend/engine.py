"""`vllm` on a rehearsal host: it refuses what its release refuses, then an engine on the CPU or a pretended one serves.

Which release that is, the installed packages or the image of the container say. The first lines of its log say what it
is, which engine answers, and with which model.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from pretend import boxes, docker_ports, engine_flags, engine_limits, npu_python, place

TAKES = ("--served-model-name", "--host", "--port", "--max-num-seqs", "--api-key", "--disable-access-log-for-endpoints")
"""Options that carry over to another engine with another model."""
CPU_WORDS = ("--enforce-eager", "--disable-access-log-for-endpoints", "/health,/metrics")
"""Compiled, the CPU build answers with garbage; and what is asked every two seconds is no news."""
PRETENDED = ("--enforce-eager", "--tensor-parallel-size", "--pipeline-parallel-size")
"""Options that only the pretended engine takes besides, for it computes nothing."""
CPU = "/opt/rehearsal-cpu"
"""Where the console shows its own runtimes and models to the hosts it rehearses."""
CPU_LONGEST, PRETENDED_LONGEST = 2048, 2**20
IMAGE = "REHEARSAL_IMAGE"


def main(name: str, words: list[str]) -> int:
    """As the program of a container: the tag of its image names the release."""
    found = re.search(r":v(\d[\w.]*)", os.environ.get(IMAGE, ""))
    plugin = found[1] if found else ""
    return run(words, vllm=str(of_plugin(plugin).get("vllm", "")), plugin=plugin)


def of_plugin(release: str) -> place.Data:
    """What was read of a release of vllm-ascend; a post-release that was not read is as the release it mends."""
    read = engine_flags.data_of("vllm-ascend", release)
    return read or engine_flags.data_of("vllm-ascend", release.partition(".post")[0]) or {}


def run(words: list[str], *, vllm: str, plugin: str) -> int:
    """`vllm WORDS...` of these two releases; returns only if nothing was started."""
    release = vllm.partition("+")[0]
    read = engine_flags.data_of("vllm", release)
    if read is None:
        print(f"Rehearsal: {vllm or plugin or 'this image'} is no release of vLLM that can be played.", file=sys.stderr)
        return 1
    asked = engine_flags.parse(read, words)
    if asked.subparser != "serve":
        print("Rehearsal: the stand-in for vllm knows `serve` and `--version` only.", file=sys.stderr)
        return 2
    log(f"Rehearsal: this is a stand-in for vLLM {release} with vllm-ascend {plugin or 'missing'}, on simulated cards.")
    if not plugin:
        return ended(engine_limits.NO_DEVICE)
    if complaint := engine_limits.complaint(asked, of_plugin(plugin)):
        return ended(complaint)
    log("INFO [__init__.py:44] Available plugins for group vllm.platform_plugins: - ascend -> vllm_ascend:register")
    log("INFO [__init__.py:217] Platform plugin ascend is activated")
    os.environ["FAKE_VLLM_VERSION"] = vllm
    os.environ["REHEARSAL_HBM_MB"] = str(engine_limits.claim_mb(asked))
    if npu_python.VISIBLE not in os.environ and not npu_python.is_boxed():
        os.environ[npu_python.VISIBLE] = ",".join(map(str, range(engine_limits.used(asked))))
    return start(asked, engine_flags.names(read), words[1:])


def start(asked: argparse.Namespace, names: dict[str, str], words: list[str]) -> int:
    """Become the engine that answers, told what carries over."""
    model = engine_limits.model(asked)
    name = (asked.served_model_name or [model])[0]
    cpu = None if asked.load_format == "dummy" else cpu_engine()
    if cpu:
        python, small = cpu
        kept, left = carried(words, names, TAKES)
        log(f"Rehearsal: a real vLLM on the CPU answers, with the small model {small.name} in the place of {model}.")
        kept = with_length(kept, asked, CPU_LONGEST)
        command = [python, "-m", "vllm.entrypoints.cli.main", "serve", str(small), *kept, *CPU_WORDS]
        os.environ |= {"HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_PLUGINS": ""}
        for word in ("PYTHONPATH", "LD_LIBRARY_PATH"):
            os.environ.pop(word, None)
    else:
        kept, left = carried(words, names, (*TAKES, *PRETENDED))
        log(f"Rehearsal: the pretended engine answers in the place of {model}; it computes nothing.")
        kept = with_length(kept, asked, PRETENDED_LONGEST)
        command = [sys.executable, f"{place.FAKE}/vllm_server.py", "serve", model, *kept]
    for at, word in enumerate(command):
        if word == "--host":
            command[at + 1] = docker_ports.address(command[at + 1], str(asked.port), os.environ.get(boxes.HEARD))
    if "--served-model-name" not in kept:
        command += ["--served-model-name", name]
    if left:
        log(f"Rehearsal: that release accepts these, and the engine that answers is not told: {' '.join(left)}")
    os.execv(command[0], command)
    return 126


def cpu_engine() -> tuple[str, Path] | None:
    """Python of a CPU runtime that works here, and the folder of a small model; None, with the reason, without them."""
    pythons = [one / "bin" / "python" for one in sorted(Path(CPU, "runtimes").glob("local-cpu-*"))]
    models = sorted(one.parent for one in Path(CPU, "models").glob("*/config.json"))
    models.sort(key=lambda one: "smollm" not in one.name.lower())
    if not pythons or not models:
        missing = "runtime" if not pythons else "small model"
        log(f"Rehearsal: this console has no {missing} for its CPU; install it, and a real vLLM answers here.")
        return None
    for python in pythons:
        words = [str(python), "-c", "import importlib.metadata as m; m.version('vllm')"]
        with contextlib.suppress(OSError):
            if subprocess.run(words, capture_output=True, check=False).returncode == 0:
                return str(python), models[0]
    log("Rehearsal: the console's runtime for its CPU does not run on this host.")
    return None


def carried(words: list[str], names: dict[str, str], takes: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The words that carry over under their full names, and those that do not, each option with its value."""
    kept: list[str] = []
    left: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        option, sign, value = word.partition("=")
        values = [value] if sign else []
        if not is_option(word):
            continue  # the model
        while not sign and rest and not is_option(rest[0]) and not (is_flag(option) and values == []):
            values.append(rest.pop(0))
        full = names.get(option.replace("_", "-") if option.startswith("--") else option, option)
        if full in takes:
            kept += [full, *values[:1]]
        elif full != "--max-model-len":
            left += [option, *values]
    return kept, left


def is_flag(option: str) -> bool:
    return option.replace("_", "-") == "--enforce-eager"


def with_length(kept: list[str], asked: argparse.Namespace, longest: int) -> list[str]:
    """The context that was asked for, as a number; a small model and a small machine have a small one."""
    if not asked.max_model_len or asked.max_model_len < 1:
        return kept
    return [*kept, "--max-model-len", str(min(longest, asked.max_model_len))]


def is_option(word: str) -> bool:
    """A negative number or JSON is a value."""
    try:
        json.loads(word)
    except ValueError:
        return word.startswith("-")
    return False


def ended(complaint: str) -> int:
    log(f"ERROR [core.py:866] EngineCore failed to start.\n{complaint}")
    return 1


def log(words: str) -> None:
    print(words, flush=True)
