"""The same client and the same question against the real engine, started with our own command.

The runtime and the two small models are those that the end-to-end tests built (tests/e2e/conftest.py).
"""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from console.errors import EngineError
from console.serving.client import EngineClient
from console.serving.command import command
from console.serving.readiness import prove, warm_up
from console.serving.reply import timing
from tests.serving.subjects import spec

pytestmark = pytest.mark.real_vllm
LONGEST_S = 600
MODELS: dict[str, str] = {}


@pytest.fixture(scope="module", autouse=True)
def real(built: Path) -> None:
    """Where the runtime and the models are."""
    MODELS["folder"] = str(built / "models")
    MODELS["runtime"] = str(next((built / "runtimes").glob("local-cpu-*")))


@contextmanager
def serving(log: Path, folder: str, **changes: object) -> Iterator[EngineClient]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    model = str(Path(MODELS["folder"]) / folder)
    made = command(spec(model_folder=model, port=port, **changes), MODELS["runtime"])
    env = {**os.environ, **made.env, "VLLM_API_KEY": "only-for-this-test"}
    with log.open("w") as out:
        process = subprocess.Popen(made.argv, env=env, stdout=out, stderr=out, start_new_session=True)
    try:
        with EngineClient(f"http://127.0.0.1:{port}", "only-for-this-test") as client:
            _wait_for(client, process, log)
            yield client
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _wait_for(client: EngineClient, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + LONGEST_S
    while True:
        assert process.poll() is None, log.read_text()[-3000:]
        try:
            return client.health()
        except EngineError:
            assert time.monotonic() < deadline, log.read_text()[-3000:]
            time.sleep(0.5)


def test_a_small_model_is_sane_and_is_measured(tmp_path: Path) -> None:
    with serving(tmp_path / "log", "SmolLM2-135M-Instruct", kv_space_gib=0.5) as client:
        assert client.models() == ["smol"]
        warm_up(client, "smol")
        verdict = prove(client, "smol", noise=False)
        assert verdict.sane, verdict
        assert "Paris" in verdict.answer
        stream = client.chat_stream("smol", [{"role": "user", "content": "Tell me a story."}], max_tokens=40, seed=1)
        words = "".join(chunk.text for chunk in stream)
        assert stream.reply.output_tokens == 40
        assert stream.reply.finish_reason == "length"
        assert words == stream.reply.text
        assert (timing(stream.reply).tokens_per_s or 0) > 0
        stopped = client.chat_stream("smol", [{"role": "user", "content": "Tell me a story."}], max_tokens=2000)
        next(stopped)
        stopped.close()
        assert 1 <= (stopped.reply.output_tokens or 0) < 2000
        with pytest.raises(EngineError, match="cannot be greater than max_model_len=2048"):
            list(client.chat_stream("smol", [{"role": "user", "content": "x"}], max_tokens=100_000))
        with pytest.raises(EngineError, match="does not exist"):
            list(client.chat_stream("other", [{"role": "user", "content": "x"}]))
        assert "vllm:time_to_first_token_seconds_count" in client.metrics()
    assert "only-for-this-test" not in (tmp_path / "log").read_text()


def test_a_model_of_random_weights_on_two_ranks_speaks_and_is_called_noise(tmp_path: Path) -> None:
    with serving(tmp_path / "log", "tiny-deepseek-random", tensor_parallel=2, context=1024) as client:
        verdict = prove(client, "smol", noise=True)
        assert verdict.sane, verdict
        assert "random weights" in str(verdict.label)
        assert not prove(client, "smol", noise=False).sane
