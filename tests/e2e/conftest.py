"""Where the end-to-end tests find a real runtime: built once in each run, then shared.

A virtual environment knows its own path and cannot be moved, so it lives at one fixed place: `$PILOT_TEST_CACHE`,
else a folder named by the pins below the user's cache folder. The first test of test_pilot.py empties that place and
builds it through the browser; it is the data folder of that test. Every later test has a data folder of its own, with
links to the `runtimes` and the models there: the programs in bin/ go on by their true path, and the installation
finds every step satisfied. A test that is run alone takes what an earlier run left, or builds it first.
"""

import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.plans.local_cpu import LocalCpuTarget, plan, runtime_folder, verify_script
from console.plans.runbook import runbook
from tests.browser import browser, page
from tests.running import RunningConsole

__all__ = ["browser", "page"]


def place() -> Path:
    """Where the runtime of these pins is kept."""
    named = os.environ.get("PILOT_TEST_CACHE")
    pins = Path(runtime_folder(LocalCpuTarget("/", machine=platform.machine()))).name
    return Path(named) if named else Path.home() / ".cache" / "ascend-pilot-tests" / pins


def emptied() -> Path:
    """The same, with nothing in it."""
    shutil.rmtree(place(), ignore_errors=True)
    place().mkdir(parents=True)
    return place()


def whole(folder: Path) -> bool:
    """Whether everything that the plan installs is there."""
    target = LocalCpuTarget(str(folder), machine=platform.machine())
    checks = [verify_script(target), *(step.verify for step in plan(target) if step.name.startswith("model-"))]
    return all(
        subprocess.run(["sh", "-c", script], capture_output=True, check=False).returncode == 0 for script in checks
    )


@pytest.fixture(scope="session")
def built() -> Path:
    """A folder with the real runtime and the models."""
    if not whole(place()):
        folder = emptied()
        script = runbook(plan(LocalCpuTarget(str(folder), machine=platform.machine())))
        subprocess.run(["sh", "-c", script], check=True, cwd=folder)
    return place()


@pytest.fixture(scope="module")
def console(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningConsole]:
    """A console that serves, over the real runtime, with nothing started yet."""
    folder = tmp_path_factory.mktemp("linked") / "data"
    (folder / "models").mkdir(parents=True)
    (folder / "runtimes").symlink_to(built / "runtimes")
    for model in (built / "models").iterdir():
        (folder / "models" / model.name).symlink_to(model)
    one = RunningConsole(folder)
    one.start()
    yield one
    one.close()
