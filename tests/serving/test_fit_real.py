"""The calculator's bytes per token against the cache that real vLLM makes on the CPU, its space pinned and not pinned.

Nothing is tuned: the engine prints how many tokens its cache holds, and the calculator has to have said so before.
"""

import dataclasses
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from console.serving.command import command
from console.serving.fit_folder import shape_of_folder
from console.serving.folder import LocalFolder
from console.serving.measured import Measured, read_log
from console.serving.shape import kv_bytes_per_token
from tests.running import free_port
from tests.serving.subjects import GIB, spec

pytestmark = pytest.mark.real_vllm
LONGEST_S = 600
SMOL, TINY = "SmolLM2-135M-Instruct", "tiny-deepseek-random"
BITS = {"bfloat16": 16, "float32": 32}
OURS_TOO_HIGH_BY = 0.05
"""The largest share by which the two may differ; the engine rounds down to whole blocks."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """kv_gib of each rank; None = not pinned, then vLLM takes `share` of the node's memory minus what it holds."""

    model: str
    kv_gib: float | None
    dtype: str = "bfloat16"
    ranks: int = 1
    share: float = 0.12


SETTINGS = [
    Setting(SMOL, 1),
    Setting(SMOL, 0.5, dtype="float32"),
    Setting(SMOL, None),
    Setting(TINY, 1),
    Setting(TINY, 0.25, ranks=2),
    Setting(TINY, None, dtype="float32"),
]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_cache_is_as_large_as_was_said_before(setting: Setting, built: Path, tmp_path: Path) -> None:
    seen = started(setting, built, tmp_path / "log")
    assert seen.kv_tokens
    assert seen.kv_bytes
    pinned = setting.kv_gib
    space = pinned * GIB if pinned is not None else seen.kv_bytes
    if pinned is not None:
        assert seen.kv_bytes == pytest.approx(space, rel=0.01)
    else:
        assert seen.total
        assert seen.kv_bytes < seen.total * setting.share
    folder = built / "models" / setting.model
    shape, _ = shape_of_folder(str(folder), LocalFolder(folder))
    each = kv_bytes_per_token(shape, shape.config.layers, setting.ranks, BITS[setting.dtype])
    error = (space / each - seen.kv_tokens) / seen.kv_tokens
    print(f"{setting}: computed {space / each:.0f}, measured {seen.kv_tokens}, error {error:+.2%}")
    assert abs(error) < OURS_TOO_HIGH_BY


def started(setting: Setting, built: Path, log: Path) -> Measured:
    """Run our own command until the engine has said how large its cache is."""
    (runtime,) = (built / "runtimes").glob("local-cpu-*")
    asked = spec(
        model_folder=str(built / "models" / setting.model),
        port=free_port(),
        dtype=setting.dtype,
        context=1024,
        kv_space_gib=setting.kv_gib or 1,
        tensor_parallel=setting.ranks,
        core_ids=tuple(sorted(os.sched_getaffinity(0))),
    )
    made = command(asked, str(runtime))
    argv, env = list(made.argv), {**os.environ, **made.env}
    if setting.kv_gib is None:
        del env["VLLM_CPU_KVCACHE_SPACE"]
        argv += ["--gpu-memory-utilization", str(setting.share)]
    return _read(argv, env, log)


def _read(argv: list[str], env: Mapping[str, str], log: Path) -> Measured:
    with log.open("w") as out:
        process = subprocess.Popen(argv, env=env, stdout=out, stderr=out, start_new_session=True)
    deadline = time.monotonic() + LONGEST_S
    try:
        while not re.search("KV cache size: .*tokens", log.read_text(errors="replace")):
            assert process.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < deadline, log.read_text()[-3000:]
            time.sleep(0.2)
        seen = read_log(log.read_text(errors="replace"))
    finally:
        _end(process.pid)
        process.wait()
    assert seen is not None
    return seen


def _end(group: int) -> None:
    """The whole session: an engine that is still starting does not hear its server's end."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
