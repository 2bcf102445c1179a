"""`pilot models` from a terminal: what it finds, judges, refuses and shows beforehand."""

import json
from pathlib import Path

import pytest

from console.__main__ import main
from console.jobs import history
from tests.jobs.conftest import data
from tests.serving.test_traps import eight_bits, hub_cache
from tests.serving.test_weights import folder

__all__ = ["data", "folder"]


def test_scan_and_what_it_saw_last(data: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "scan", "local", "--last"]) == 1
    assert "never searched" in capsys.readouterr().err
    assert main(["models", "scan", "local", "--below", str(folder.parent), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["folder"] for one in told["models"]] == [str(folder)]
    assert told["models"][0]["stored"] == {"BF16": 12}
    (folder / "model.safetensors").unlink()
    assert main(["models", "scan", "local", "--last"]) == 0
    assert f"{folder}\n    LlamaForCausalLM" in capsys.readouterr().out


def test_check_says_what_was_seen_and_what_to_do(data: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "check", "local", str(folder)]) == 0
    eight_bits(folder)
    hub_cache(folder)
    assert main(["models", "check", "local", str(folder), "--json"]) == 0
    capsys.readouterr()
    assert main(["models", "check", "local", str(folder), "--chip", "910B4", "--container", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [(one["trap"], one["error"]) for one in told["findings"]] == [("quantization", True), ("links", True)]
    assert main(["models", "check", "local", str(folder), "--chip", "910B4"]) == 1
    assert "W8A8" in capsys.readouterr().out
    assert main(["models", "check", "local", str(folder), "--chip", "H100"]) == 2
    assert main(["models", "check", "local", "/nowhere"]) == 1
    assert main(["models", "check", "nobody", "/nowhere"]) == 1


def test_fetch_shows_its_steps_and_refuses_names(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["models", "fetch", "Qwen/Qwen3-8B", "local"]
    assert main([*words, "--hub", "huggingface", "--endpoint", "https://hf-mirror.com", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "# Ask https://hf-mirror.com for the files of Qwen/Qwen3-8B" in told
    assert "sha1sum" in told
    assert main(["models", "fetch", "Qwen3-8B", "local"]) == 2
    assert "OWNER/NAME" in capsys.readouterr().err
    assert main([*words, "--endpoint", "ftp://x"]) == 2
    assert main([*words, "--into", "models"]) == 2
    assert main(["models", "push", "/nowhere", "local"]) == 2
    assert "There is no folder /nowhere" in capsys.readouterr().err
    assert history.jobs() == []
