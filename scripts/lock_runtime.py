"""Make the hashed package lists of the local CPU runtime, one per machine type, from console/catalog/local_cpu.yaml.

Needs `uv` and an index that can be reached. The lists name no index: whoever installs uses the index of the host.
    python scripts/lock_runtime.py [--check]
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from packaging.markers import Marker
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

CATALOG = Path(__file__).resolve().parent.parent / "console" / "catalog"


@dataclass(frozen=True)
class Wheel:
    name: str
    sha256: str
    size: int
    tags: frozenset[Tag]


@dataclass(frozen=True)
class Pin:
    name: str
    version: str
    marker: str
    wheels: tuple[Wheel, ...]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true", help="compare with the lists that are there, change nothing")
    check = arguments.parse_args().check
    catalog = yaml.safe_load((CATALOG / "local_cpu.yaml").read_text("utf-8"))
    pins = resolve(catalog)
    stale = False
    for machine in catalog["engine"]["machines"]:
        target = CATALOG / f"runtime-local-cpu-{machine}.lock.txt"
        text = render(pins, machine, catalog["engine"])
        if check:
            stale |= not target.exists() or target.read_text("utf-8") != text
        else:
            target.write_text(text, "utf-8")
            print(f"{target.name}: {text.count('==')} packages, {len(text) // 1024} KiB")
    return int(stale)


def resolve(catalog: dict[str, Any]) -> list[Pin]:
    """Every package the engine declares, without torch and what is left out, for all machines and Pythons at once."""
    uv = shutil.which("uv") or sys.exit("uv was not found; install it first (pip install uv).")
    engine = catalog["engine"]
    wanted = [f"{engine['distribution']}=={engine['version']}", *(e["name"] for e in catalog["extra"])]
    never = ["torch", *(left["name"] for left in catalog["left_out"])]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "pyproject.toml").write_text(project(engine), "utf-8")
        (folder / "wanted.txt").write_text("\n".join([*wanted, *catalog["torch"]["needs"]]), "utf-8")
        (folder / "never.txt").write_text("\n".join(f'{name} ; sys_platform == "never"' for name in never), "utf-8")
        command = [uv, "pip", "compile", "wanted.txt", "--override", "never.txt", "--universal", "--quiet"]
        command += ["--python-version", engine["pythons"][0], "--format", "pylock.toml", "-o", "pylock.toml"]
        subprocess.run(command, cwd=folder, check=True)
        return pins_of(tomllib.loads((folder / "pylock.toml").read_text("utf-8")))


def project(engine: dict[str, Any]) -> str:
    """A project file that tells uv which environments the lists are for."""
    cpython = "sys_platform == 'linux' and platform_python_implementation == 'CPython' and platform_machine == "
    environments = ", ".join(f"\"{cpython}'{machine}'\"" for machine in engine["machines"])
    pythons = f">={engine['pythons'][0]}"
    return (
        f'[project]\nname = "runtime"\nversion = "0"\nrequires-python = "{pythons}"\n'
        f"[tool.uv]\nenvironments = [{environments}]\n"
    )


def pins_of(lock: dict[str, Any]) -> list[Pin]:
    return [
        Pin(
            package["name"],
            package["version"],
            package.get("marker", ""),
            tuple(
                Wheel(
                    filename := wheel["url"].rsplit("/", 1)[-1].replace("%2B", "+"),
                    wheel["hashes"]["sha256"],
                    wheel["size"],
                    parse_wheel_filename(filename)[3],
                )
                for wheel in package.get("wheels", [])
            ),
        )
        for package in lock["packages"]
    ]


def render(pins: list[Pin], machine: str, engine: dict[str, Any]) -> str:
    """The list for one machine type in pip's format: `name==version [; marker] --hash=...`, wheels only."""
    pythons = engine["pythons"]
    tags = {python: frozenset(tags_of(machine, python, engine["glibc"])) for python in pythons}
    lines = [f"# Made by scripts/lock_runtime.py for {machine}, Python {pythons[0]} to {pythons[-1]}. Do not edit."]
    for pin in pins:
        used_by = [python for python in pythons if applies(pin.marker, machine, python)]
        if not used_by:
            continue
        wheels = {wheel.sha256: wheel for python in used_by for wheel in fitting(pin, tags[python])}
        lines.append(f"{pin.name}=={pin.version}{marker(used_by, pythons)} \\")
        lines += [f"    --hash=sha256:{digest} \\" for digest in sorted(wheels)]
        lines[-1] = lines[-1].removesuffix(" \\")
    return "\n".join(lines) + "\n"


def applies(text: str, machine: str, python: str) -> bool:
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.9",
        "platform_machine": machine,
        "sys_platform": "linux",
        "platform_system": "Linux",
        "os_name": "posix",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
    }
    return not text or Marker(text).evaluate(environment)


def marker(used_by: list[str], pythons: list[str]) -> str:
    """The shortest marker for a run of Python versions at one end of the range."""
    if used_by == pythons:
        return ""
    if used_by == pythons[: len(used_by)]:
        return f' ; python_version < "{pythons[len(used_by)]}"'
    if used_by == pythons[-len(used_by) :]:
        return f' ; python_version >= "{used_by[0]}"'
    raise ValueError(f"A package is wanted for Python {used_by} only; the marker for that is not written yet.")


def fitting(pin: Pin, tags: frozenset[Tag]) -> list[Wheel]:
    """The wheels an installer could choose; none at all means the list does not hold for this Python."""
    found = [wheel for wheel in pin.wheels if wheel.tags & tags]
    return found or sys.exit(f"{pin.name} {pin.version} has no wheel that fits {sorted(map(str, tags))[0]}.")


def tags_of(machine: str, python: str, glibc: str) -> Iterator[Tag]:
    """What an installer accepts on `machine` with a C library of version `glibc` ("2.31")."""
    major, minor = (int(part) for part in python.split("."))
    newest = int(glibc.split(".")[1])
    platforms = [f"manylinux_2_{age}_{machine}" for age in range(newest, 4, -1)]
    platforms += [f"{old}_{machine}" for old in ("manylinux2014", "manylinux2010", "manylinux1", "linux")]
    yield from cpython_tags((major, minor), abis=[f"cp{major}{minor}"], platforms=platforms)
    yield from compatible_tags((major, minor), interpreter=f"cp{major}{minor}", platforms=platforms)


if __name__ == "__main__":
    raise SystemExit(main())
