"""The packages that lie on a rehearsal host, and the engine they install there."""

import argparse
import contextlib
import io
import json
import re
import sys
from pathlib import Path

import pytest

from console.catalog import parsers
from console.hosts.inventory import Host
from scripts import read_stacks
from tests.hosts.conftest import data
from tests.hosts.rehearsed import host, make, possible, run
from tests.running import ROOT, free_port

sys.path.insert(0, str(ROOT / "scripts" / "fake"))
import make_wheels  # type: ignore[import-not-found]
from pretend import engine, engine_flags  # type: ignore[import-not-found]

__all__ = ["data", "host", "make", "possible"]

INSTALL = """
set -e
export REHEARSAL_PACE=0; cd ~/ascend-pilot/packages
sh Ascend-cann-toolkit_9.1.0_linux-aarch64.run --full --quiet
. /usr/local/Ascend/cann/set_env.sh
sh Ascend-cann-910b-ops_9.1.0_linux-aarch64.run --install --quiet
sh Ascend-cann-nnal_9.1.0_linux-aarch64.run --install --quiet
python3 -m venv ~/env
PIP_CONFIG_FILE=/dev/null ~/env/bin/python -m pip install -q --no-deps --no-index --find-links wheels wheels/*.whl 2>&1
~/env/bin/python -m pip list --format freeze
"""
USE = """
mkdir -p ~/model; echo '{}' >~/model/config.json
serve() { timeout 60 ~/env/bin/vllm serve ~/model "$@" 2>&1 | tail -n 1; }
serve --port PORT
. /usr/local/Ascend/cann/set_env.sh; . /usr/local/Ascend/nnal/atb/set_env.sh
~/env/bin/python -c 'import torch, vllm_ascend; print(torch.npu.device_count(), torch.npu.get_device_name(0))'
serve --async_engine
serve --dtype fp3
serve --gpu-memory-utilization 1.0
serve --tensor-parallel-size 4
ASCEND_RT_VISIBLE_DEVICES=1 ~/env/bin/vllm serve ~/model --port PORT --gpu-memory-utilization 0.8 -tp 1 >log 2>&1 &
engine=$!
until curl -sf http://127.0.0.1:PORT/health; do sleep 0.1; kill -0 $engine || { cat log; exit 9; }; done
ASCEND_RT_VISIBLE_DEVICES=1 serve --gpu-memory-utilization 0.8
kill -INT $engine; wait $engine; echo code=$?; cat log
"""


def pins(scenario: str) -> dict[str, str]:
    told = json.loads(read_stacks.FILE.read_text("utf-8"))
    return dict(told[scenario][0]["wheels"])


def test_what_is_carried_over_is_what_the_console_would_install() -> None:
    """Else run scripts/read_stacks.py."""
    assert json.loads(read_stacks.FILE.read_text("utf-8")) == read_stacks.every()


@pytest.mark.needs("sshd", "unshare", "nsenter", "curl", "bash")
def test_real_pip_installs_them_and_the_engine_is_as_strict_as_its_release(host: Host) -> None:
    listed = dict(re.findall(r"^([\w-]+)==([\w.+]+)$", run(host, INSTALL), re.MULTILINE))
    wanted = pins("two-healthy-910b4")
    wanted["vllm"] += "+empty"
    assert {name.replace("_", "-"): version for name, version in listed.items()}.items() >= wanted.items()
    said = run(host, USE.replace("PORT", str(free_port()))).splitlines()
    assert said[0].startswith("RuntimeError: Failed to load the backend extension: torch_npu.")
    assert said[1] == "2 Ascend910B4"
    assert said[2] == "vllm: error: unrecognized arguments: --async-engine"
    assert said[3].startswith("vllm serve: error: argument --dtype: invalid choice: 'fp3'")
    assert re.match(r"ValueError: Free memory on device \((29\.\d\d)/29\.20 GiB\) on startup is less than", said[4])
    assert said[5] == "ValueError: World size (4) is larger than the number of available NPUs (2) in this node."
    assert re.match(r"ValueError: Free memory on device \(5\.\d\d/29\.20 GiB\)", said[6])
    assert said[7] == "code=0"
    assert said[8].startswith("Rehearsal: this is a stand-in for vLLM 0.23.0 with vllm-ascend 0.23.0")
    assert any(line.startswith("Rehearsal: the pretended engine answers in the place of ") for line in said)
    assert "--gpu-memory-utilization 0.8" in next(line for line in said if "is not told" in line)


def test_elsewhere_the_packages_refuse_to_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = make_wheels.write(tmp_path, "triton-ascend", "3.2.2")
    monkeypatch.syspath_prepend(str(wheel))
    with pytest.raises(ImportError, match="works on a rehearsal host only"):
        __import__("triton_ascend")


@pytest.mark.parametrize("release", parsers.releases())
@pytest.mark.parametrize(
    "words",
    [
        ["m", "--max-model-len", "16k", "--tensor_parallel_size=2", "--trust-remote-code"],
        ["m", "--max-model-len", "many"],
        ["m", "--kv-cache-dtype", "fp9"],
        ["m", "--gpu-memory-util", "0.9"],
        ["m", "--served-model-name", "a", "b", "--no-enable-prefix-caching"],
        ["m", "--async-scheduling", "--enforce-eager"],
        ["m", "--additional-config", '{"a": 1}', "-tp", "2", "-x"],
    ],
)
def test_the_stand_in_and_the_catalog_read_a_command_alike(release: str, words: list[str]) -> None:
    read = engine_flags.data_of("vllm", parsers.plugin(release).vllm)
    try:
        parsers.argument_parser(release).parse_args(parsers.dashed(words))
        accepted = True
    except ValueError:
        accepted = False
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.suppress(SystemExit):
        engine_flags.parse(read, ["serve", *words])
    assert accepted == (": error: " not in said.getvalue())


def test_keys_of_json_options_may_be_written_with_a_dot() -> None:
    read = engine_flags.data_of("vllm", "0.23.0")
    asked = engine_flags.parse(read, ["serve", "m", "--compilation_config.mode", "3"])
    assert isinstance(asked, argparse.Namespace)
    assert asked.compilation_config == {"mode": "3"}


def test_what_carries_over_to_another_engine() -> None:
    read = engine_flags.data_of("vllm", "0.23.0")
    words = ["/m", "--served-model-name=q", "--port", "8", "-tp", "2", "--max-model-len", "4k", "--enforce-eager",
             "--additional-config", '{"a": 1}', "--api-key", "secret", "--no-enable-prefix-caching"]  # fmt: skip
    kept, left = engine.carried(words, engine_flags.names(read), (*engine.TAKES, *engine.PRETENDED[:1]))
    assert kept == ["--served-model-name", "q", "--port", "8", "--enforce-eager", "--api-key", "secret"]
    assert left == ["-tp", "2", "--additional-config", '{"a": 1}', "--no-enable-prefix-caching"]
