"""What the two ways to install on a host with NPUs share: how scripts are put together, driver, firmware, restart.

The scripts stand in scripts/ascend: for each step NAME.sh and NAME.verify.sh, and the shell words or programs they name
in their first line (`# uses: ...`). What the installers insist on is that of the CANN 9.1.0 guide "Installing the NPU
Driver and Firmware" and of docs/source/installation.md of vllm-ascend 0.23.0.post1.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from console.catalog.knowledge import Knowledge
from console.errors import InvalidInput
from console.plans import folders
from console.plans.needs import NOT_KNOWN, DriverState
from console.plans.resolve import Stack
from console.plans.step import Step
from console.plans.target import Target
from console.text import Text, say

SCRIPTS = Path(__file__).resolve().parent / "scripts" / "ascend"
COMPARE = SCRIPTS.parent / "local_cpu" / "compare.py"
ROOT_PREFIX = "/usr/local/Ascend"
LOCK_WAIT_S = 900
"""Seconds for which a package tool that another program keeps locked is waited for."""
RESTART = "restart_host"
"""The action around the script that restarts a host."""
NOT_THERE = 44
"""Exit code of the look at a runtime that is not there at all."""
QUESTION = say("Driver or firmware were changed, which takes effect after a restart of the host. Everything that runs "
               "there ends. Restart it now?")  # fmt: skip
DRIVER_TOOLS = {
    "apt": ("gcc", "make", "net-tools", "python3", "python3-dev", "python3-pip", "dkms"),
    "dnf": ("gcc", "make", "net-tools", "python3", "python3-devel", "python3-pip", "dkms"),
}
PLUGIN_TOOLS = {
    "apt": ("gcc", "g++", "cmake", "libnuma-dev", "wget", "git", "curl", "jq", "util-linux", "numactl", "procps"),
    "dnf": (
        "gcc",
        "gcc-c++",
        "cmake",
        "numactl-devel",
        "wget",
        "git",
        "curl",
        "jq",
        "util-linux",
        "numactl",
        "procps-ng",
    ),
}


class AsRoot(StrEnum):
    """How something is done as root on the host: it is root already, by sudo, or not at all."""

    ROOT = "root"
    SUDO = "sudo"
    NONE = "none"


class Source(StrEnum):
    """Where packages come from: a folder of the host (a bundle), or the package indexes the host reaches."""

    FOLDER = "folder"
    INDEX = "index"


@dataclass(frozen=True)
class Options:
    """How the plan is carried out on one host.

    work_folder   absolute path on the host; environments and notes of what was installed lie below it
    login         the user that logs in
    packages      folder with packages, wheels below `wheels` and image archives below `images`; "" = below work_folder
    """

    work_folder: str
    login: str = "root"
    as_root: AsRoot = AsRoot.ROOT
    source: Source = Source.FOLDER
    packages: str = ""

    def __post_init__(self) -> None:
        folders.check(self.work_folder)
        if self.packages and (not self.packages.startswith("/") or any(ord(mark) < 32 for mark in self.packages)):
            raise InvalidInput(
                say("The folder of packages must be an absolute path on one line: {folder}", folder=self.packages)
            )
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._@+-]*\$?", self.login):
            raise InvalidInput(say("{login} is no name of a user.", login=self.login))

    @property
    def package_folder(self) -> str:
        return self.packages or f"{self.work_folder}/packages"

    @property
    def venv(self) -> str:
        """Where the backend ascend_venv looks for vLLM."""
        return f"{self.work_folder}/runtimes/ascend-venv"

    @property
    def prefix(self) -> str:
        """Where CANN goes; "" stands for the folder Ascend in the home of the user."""
        return "" if self.as_root is AsRoot.NONE else ROOT_PREFIX


@dataclass(frozen=True)
class Case:
    """One host, the stack for it, and how to go about it."""

    target: Target
    stack: Stack
    options: Options
    known: Knowledge

    @property
    def family(self) -> str:
        chip = self.known.called(self.target.chip)
        return chip.family if chip else ""

    @property
    def tool(self) -> str:
        """apt or dnf."""
        system = self.known.systems.get(self.target.system)
        return "apt" if system is not None and system.tool == "apt" else "dnf"

    def step(
        self,
        name: str,
        title: Text,
        expected_s: float,
        timeout_s: float,
        *,
        script: str = "",
        action: str = "",
        rollback: Text | None = None,
        values: Mapping[str, str] = {},
        **more: str,
    ) -> Step:
        """The step whose scripts are called `script`, by default like the step; `values` and `more` go into them."""
        of, more = script or name, {**values, **more}
        return Step(
            name,
            title,
            self._script(of, more),
            self._script(f"{of}.verify", more),
            action=action,
            expected_s=expected_s,
            timeout_s=timeout_s,
            rollback=rollback,
        )

    def _script(self, name: str, more: Mapping[str, str]) -> str:
        return script(self.options, self.target.arch, name, more)


def script(options: Options, machine: str, name: str, more: Mapping[str, str]) -> str:
    """Quoted values, then what every script shares, then what this one uses, then its own words."""
    body = (SCRIPTS / f"{name}.sh").read_text("utf-8")
    used = re.match(r"# uses: (.*)\n", body)
    given = {**_shared(options), "machine": machine, **more}
    values = [f"{key}={shlex.quote(value)}" for key, value in given.items()]
    parts = [_part(each) for each in used[1].split()] if used else []
    own = body.removeprefix(used[0] if used else "")
    return "\n".join([*values, (SCRIPTS / "common.sh").read_text("utf-8"), *parts, own])


def _shared(options: Options) -> dict[str, str]:
    """What every script may name."""
    return {
        "work": options.work_folder,
        "packages": options.package_folder,
        "wheels": f"{options.package_folder}/wheels",
        "images": f"{options.package_folder}/images",
        "login": options.login,
        "as_root": options.as_root,
        "source": options.source,
        "prefix": options.prefix,
        "venv": options.venv,
    }


def _part(name: str) -> str:
    """Shell words by their file, or a shell function that runs a program with the Python of the environment."""
    words = SCRIPTS / f"{name}.sh"
    if words.exists():
        return words.read_text("utf-8")
    program = (COMPARE if name == "compare" else SCRIPTS / f"{name}.py").read_text("utf-8")
    end = f"PILOT_{name.upper()}"
    return f'{name}() {{ "$py" - "$@" <<\'{end}\'\n{program}{end}\n}}\n'


def system_step(case: Case, *, driver: bool, plugin: bool, python: str = "") -> Step:
    """Packages of the distribution, in one go."""
    named = (DRIVER_TOOLS[case.tool] if driver else ()) + (PLUGIN_TOOLS[case.tool] if plugin else ())
    return case.step(
        "system",
        say("Install packages of the system"),
        60,
        3600,
        tool=case.tool,
        names=" ".join(dict.fromkeys(named)),
        driver_tools="yes" if driver else "",
        python=python,
        lock_wait=str(LOCK_WAIT_S),
    )


def changes_driver(stack: Stack) -> bool:
    return stack.driver.state in (DriverState.INSTALL, DriverState.UPGRADE)


def file_of(stack: Stack, kind: str) -> str:
    """The file of driver or firmware that has to be installed; "" if there is none, or its name is not known."""
    names = [one.name for one in stack.packages if one.kind == kind and NOT_KNOWN not in one.name]
    return names[0] if names else ""


def version_in(file: str) -> str:
    """The version in the name of a package: Ascend-cann-toolkit_9.1.0_linux-aarch64.run -> 9.1.0."""
    return file.removesuffix(".run").split("_")[1] if "_" in file else ""


def driver_steps(case: Case) -> Iterator[Step]:
    """User, headers, driver and firmware in the order the vendor wants, then the restart."""
    stack = case.stack
    if changes_driver(stack):
        yield case.step("user", say("Make the user and the group HwHiAiUser"), 1, 60)
        yield case.step("headers", say("See that the headers of the kernel are there"), 1, 60)
        if stack.driver.state is DriverState.UPGRADE:
            yield from (_firmware(case), _driver(case))
        else:
            yield from (_driver(case), _firmware(case))
    elif case.target.firmware is None:
        yield _firmware(case)
    yield case.step(
        "restart",
        say("Restart the host, so that driver and firmware take effect"),
        240,
        1800,
        action=RESTART,
        wanted=stack.driver.least,
        question=json.dumps({"sentence": QUESTION.sentence, "values": {}}),
    )
    yield case.step("level-driver", say("Prove the driver: every NPU answers and is healthy"), 5, 300)


def _driver(case: Case) -> Step:
    file = file_of(case.stack, "driver")
    return case.step(
        "driver",
        say("Install the driver"),
        120,
        3600,
        rollback=say("Run /usr/local/Ascend/driver/script/uninstall.sh as root, then restart the host."),
        file=file,
        words="--full --install-for-all --quiet",
        version=version_in(file),
        wanted=version_in(file) or case.stack.driver.least,
    )


def _firmware(case: Case) -> Step:
    file = file_of(case.stack, "firmware")
    return case.step(
        "firmware",
        say("Install the firmware"),
        120,
        3600,
        rollback=say("Run /usr/local/Ascend/firmware/script/uninstall.sh as root, then restart the host."),
        file=file,
        words="--full --quiet",
        wanted=version_in(file),
    )


def packages_step(case: Case, names: list[str], *, python: str = "", image: str = "") -> Step:
    """All files are looked at before the first is used: wheels are held against `python`, and an archive of `image`
    must be there, where they come from a folder."""
    if case.options.source is not Source.FOLDER:
        python = image = ""
    values = {"files": "\n".join(names), "python": python, "image": image, "tag": image.rpartition(":")[2]}
    return case.step("packages", say("See that every package is there and whole"), 60, 3600, values=values)


def runtime_script(options: Options, backend: str) -> str:
    """A cheap, read-only look at what is installed for `backend`; its last line names it, or says what differs."""
    return script(options, "", "runtime.verify", {"backend": backend})
