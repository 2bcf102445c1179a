"""What every test of a plan starts from: an empty work folder of its own."""

import sys
from pathlib import Path

import pytest

from console.plans.local_cpu import LocalCpuTarget
from tests.plans.shells import MACHINE


@pytest.fixture
def target(tmp_path: Path) -> LocalCpuTarget:
    return LocalCpuTarget(str(tmp_path / "work"), sys.executable, MACHINE)
