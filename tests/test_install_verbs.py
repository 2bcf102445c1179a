"""`pilot install` from a terminal: what it refuses, what it shows, what it writes."""

import json
import subprocess
from pathlib import Path

import pytest

from console.__main__ import main
from console.jobs import history
from tests.jobs.conftest import data
from tests.jobs.npus import Make, make

__all__ = ["data", "make"]


def test_show_try_and_export(
    make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    host = make("driver-missing")
    file = tmp_path / "install it.sh"
    assert main(["install", host.name, "--route", "venv", "--stack", "0.23.0", "--runbook", str(file)]) == 0
    for shell in ("sh", "bash"):
        assert subprocess.run([shell, "-n", str(file)], capture_output=True, check=False).stderr == b""
    assert "step 7 restart 'Restart the host, so that driver and firmware take effect' restarts" in file.read_text()
    assert "# To take it back: Run /usr/local/Ascend/driver/script/uninstall.sh" in file.read_text()
    capsys.readouterr()
    assert main(["install", host.name, "--dry-run", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)[host.name]
    assert {row["state"] for row in rows} <= {"satisfied", "waiting"}
    assert next(row for row in rows if row["step"] == "driver")["said"] == "Driver: none, wanted 25.5.1"
    assert main(["install", host.name, "--dry-run"]) == 0
    assert "Driver: none, wanted 25.5.1" in capsys.readouterr().out
    assert main(["install", host.name, "--route", "venv", "--stack", "0.7.3", "--dry-run"]) == 2
    capsys.readouterr()
    assert main(["install", host.name, "--stack", "9.9.9", "--dry-run"]) == 2
    assert "0.23.0.post1, 0.23.0," in capsys.readouterr().err
    assert main(["install", host.name, "--packages", "here"]) == 2
    assert main(["install", host.name, "--remove", "--runbook", "-"]) == 0
    assert main(["install", host.name, "--runbook", str(tmp_path / "no" / "folder.sh")]) == 1
    assert history.jobs() == []
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    capsys.readouterr()
    assert main(["install", host.name, "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "驱动：无，需要 25.5.1" in shown
    assert "wanted" not in shown
    assert main(["install", host.name, "--route", "venv", "--stack", "0.23.0", "--runbook", "-"]) == 0
    assert "step 5 driver '安装驱动'" in capsys.readouterr().out


def test_a_host_that_was_never_asked_says_so(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "local", "--dry-run"]) == 2
    assert "never asked about itself" in capsys.readouterr().err
    assert main(["install", "nobody", "--dry-run"]) == 2
