"""What every test may rely on: missing programs skip with their reason, and hypothesis knows no clock."""

import json
import os
import shutil
import signal

import hypothesis
import pytest

MISSING = "PILOT_TEST_MISSING"
"""Set by scripts/test.py: JSON of program or font file -> why it could not be installed."""

# A deadline per example would judge the machine, not the code.
hypothesis.settings.register_profile("console", deadline=None)
hypothesis.settings.load_profile("console")


# A shell that starts the tests in the background makes them, and all they start, deaf to Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for program in mark.args:
            if reason := why_missing(program):
                pytest.skip(reason)
    if item.get_closest_marker("needs_root") and os.geteuid() != 0:
        pytest.skip("needs root")


def why_missing(program: str) -> str:
    """Empty if `program` can be run."""
    known: dict[str, str] = json.loads(os.environ.get(MISSING, "{}"))
    if program in known:
        return known[program]
    path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/usr/local/sbin"
    return "" if shutil.which(program, path=path) else f"{program} is not installed"
