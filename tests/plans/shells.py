"""Running the scripts of a plan as a host would."""

import os
import subprocess
from pathlib import Path

from console.plans.local_cpu import LocalCpuTarget, plan
from console.plans.step import Step

MACHINE = os.uname().machine
OTHER = {"x86_64": "aarch64", "aarch64": "x86_64"}
SETTINGS_OF_PIP = ("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT", "PILOT_ANSWER")


def run(script: str, folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """The way a host runs it: a file, by sh, in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cmd.sh").write_text(script, "utf-8")
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS_OF_PIP}
    return subprocess.run(
        ["sh", "cmd.sh"],
        cwd=folder,
        env={**kept, "PIP_CONFIG_FILE": os.devnull, **environment},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def step(target: LocalCpuTarget, name: str) -> Step:
    return next(each for each in plan(target) if each.name == name)
