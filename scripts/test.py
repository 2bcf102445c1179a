"""Run every check of the project: `python3 scripts/test.py [arguments for pytest]`.

Makes .test-venv, brings Debian packages where it may, then runs ruff, mypy and pytest: first the fast tests on two
processes, then those that drive browsers and servers, two files at a time, then those that start engines: one after the
other the real ones, and beside them, in a network of their own where root may have one, the pretended ones, for both
take the same ports. The last line sums up all.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

if sys.version_info < (3, 11):  # noqa: UP036  (whoever starts it may have an older one)
    sys.exit("The tests need Python 3.11 or newer.")

from own_network import possible
from tell import Stop
from venv_folder import MIB, Environment, Progress, make

ROOT = Path(__file__).resolve().parent.parent
TESTS = Environment(
    folder=ROOT / ".test-venv",
    lock=ROOT / "requirements-test.lock.txt",
    needs=1000 * MIB,
    imports="pytest, xdist, hypothesis, playwright.sync_api, streamlit, sqlalchemy, plotly, paramiko, yaml",
)
PROGRAMS = {
    "chromium": "chromium",
    "sshd": "openssh-server",
    "ssh": "openssh-client",
    "sudo": "sudo",
    "csh": "csh",
    "haproxy": "haproxy",
}
"""Program -> the Debian package that brings it."""
FONTS = {"NotoSansCJK-Regular.ttc": "fonts-noto-cjk"}
"""Font file -> the Debian package that brings it; without it Chinese is boxes on screenshots."""
MISSING = "PILOT_TEST_MISSING"
"""JSON of program or font -> why it is not there; tests/conftest.py skips with that reason."""
ALONE = "engine or real_vllm"
"""They use the ports an engine takes first, or the whole machine."""
REAL, PRETENDED = "pytest, real engines", "pytest, pretended engines"
NO_TESTS = 5


@dataclass
class Outcome:
    """What all parts together came to."""

    failed_parts: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def part(
        self, name: str, command: Sequence[str | Path], environment: dict[str, str], out: TextIO | None = None
    ) -> int:
        """Run one command; with `out` all it says goes there."""
        print(f"\n== {name}", file=out, flush=True)
        start = time.monotonic()
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False, stdout=out, stderr=out).returncode
        self.seconds[name] = time.monotonic() - start
        if code not in (0, NO_TESTS if name.startswith("pytest") else 0):
            self.failed_parts.append(f"{name} (exit code {code})")
        return code

    def count(self, report: Path) -> None:
        """Add what a pytest wrote to `report`; a test that failed and whose teardown broke too is one failure."""
        failing, skipping, seen = set(), {}, set()
        for case in ElementTree.parse(report).iter("testcase"):
            name = f"{case.get('classname')}::{case.get('name')}"
            seen.add(name)
            if case.find("failure") is not None or case.find("error") is not None:
                failing.add(name)
            elif (skip := case.find("skipped")) is not None:
                skipping[name] = skip.get("message") or "no reason given"
        self.failed += len(failing)
        self.skipped += len(skipping.keys() - failing)
        self.passed += len(seen - failing - skipping.keys())
        self.reasons.update(reason for name, reason in skipping.items() if name not in failing)

    def good(self) -> bool:
        return not self.failed_parts and not self.failed and self.passed > 0

    def show(self) -> None:
        print("\n== Time")
        for name, seconds in self.seconds.items():
            print(f"{seconds:8.1f} s  {name}")
        if self.reasons:
            print("\n== Skipped")
        for reason, number in self.reasons.most_common():
            print(f"{number:8}    {reason}")
        for part in self.failed_parts:
            print(f"\nFAILED: {part}")
        if not self.passed:
            print("\nFAILED: no test passed")
        print(f"\n{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)


def main(arguments: list[str]) -> int:
    outcome = Outcome()
    start = time.monotonic()
    try:
        if not TESTS.complete():
            make(TESTS, None, Progress())
    except Stop as stop:
        print(stop, file=sys.stderr)
        return 1
    outcome.seconds["environment"] = time.monotonic() - start
    start = time.monotonic()
    environment = {**os.environ, MISSING: json.dumps(bring_packages())}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else each of some thousand processes compiles all it imports
    outcome.seconds["Debian packages"] = time.monotonic() - start

    python = TESTS.python
    outcome.part("ruff check", [python, "-m", "ruff", "check"], environment)
    outcome.part("ruff format", [python, "-m", "ruff", "format", "--check"], environment)
    outcome.part("mypy", [python, "-m", "mypy"], environment)
    for name, options in (
        ("pytest, fast", ["-n", "2", "-m", f"not (e2e or {ALONE})"]),
        ("pytest, two files at a time", ["-n", "2", "--dist", "loadfile", "-m", f"e2e and not ({ALONE})"]),
    ):
        outcome.part(name, _pytest(name, *options, *arguments), environment)
    engines(outcome, arguments, environment)
    for report in TESTS.folder.glob("report-*.xml"):
        outcome.count(report)
    outcome.show()
    return 0 if outcome.good() else 1


def engines(outcome: Outcome, arguments: list[str], environment: dict[str, str]) -> None:
    """Both parts at once where the pretended engines can have a network of their own; they need no other."""
    real = _pytest(REAL, "-m", "real_vllm", *arguments)
    pretended = _pytest(PRETENDED, "-m", "engine and not real_vllm", *arguments)
    if not possible():
        outcome.part(REAL, real, environment)
        outcome.part(PRETENDED, pretended, environment)
        return
    beside, said = Outcome(), TESTS.folder / "pretended.log"
    apart = [sys.executable, ROOT / "scripts" / "own_network.py", *pretended]
    with said.open("w") as out:
        other = threading.Thread(target=beside.part, args=(PRETENDED, apart, environment, out))
        other.start()
        outcome.part(REAL, real, environment)
        other.join()
    print(said.read_text(errors="replace"), flush=True)
    outcome.seconds |= beside.seconds
    outcome.failed_parts += beside.failed_parts


def _pytest(name: str, *words: str) -> list[str | Path]:
    """The command of one part; an older report of it is gone."""
    report = TESTS.folder / f"report-{name.replace(', ', '-').replace(' ', '-')}.xml"
    report.unlink(missing_ok=True)
    return [TESTS.python, "-m", "pytest", f"--junit-xml={report}", "--durations=15", *words]


def bring_packages() -> dict[str, str]:
    """Install what is missing where this user may; what is missing still, with the reason."""
    lacking = _lacking()
    if not lacking:
        return {}
    packages = sorted(set(lacking.values()))
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        way = "sudo apt-get install " + " ".join(packages) if shutil.which("apt-get") else "this system has no apt-get"
        return {name: f"{name} is not installed ({way})" for name in lacking}
    print(f"Installing Debian packages: {' '.join(packages)}", flush=True)
    said = _apt("update") + _apt("install", "-y", "--no-install-recommends", *packages)
    return {name: f"{name} is not installed, and apt-get could not: {said[-200:].strip()}" for name in _lacking()}


def _lacking() -> dict[str, str]:
    path = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
    lacking = {program: package for program, package in PROGRAMS.items() if not shutil.which(program, path=path)}
    fonts = Path("/usr/share/fonts")
    return lacking | {file: package for file, package in FONTS.items() if not any(fonts.rglob(file))}


def _apt(*words: str) -> str:
    """What apt-get complained about. Nothing it installs is started: the tests start their own servers."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    done = subprocess.run(
        ["apt-get", "-q", *words], env=quiet, capture_output=True, text=True, errors="replace", check=False
    )
    return done.stderr if done.returncode else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
