"""Commands for Ascend hosts: which words a release and a chip get, and that the release's own parser takes them."""

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.catalog import parsers
from console.serving import options
from console.serving.asked import Refusal, ServeSpec
from console.serving.backends import backend
from console.serving.command import command, shell
from tests.serving.subjects import MACHINE, TINY_MLA, spec

VENV, DOCKER = backend("ascend_venv"), backend("ascend_docker")


def npus(**changes: object) -> ServeSpec:
    plain = {
        "backend": "ascend_venv",
        "release": "0.23.0.post1",
        "chip": "910B4",
        "dtype": "auto",
        "device_ids": (0, 1),
    }
    return spec(**{**plain, "core_ids": (), "context": None, **changes})


def refused(asked: ServeSpec) -> dict[str, Refusal]:
    return {one.field: one for one in backend(asked.backend).refusals(asked, TINY_MLA, MACHINE)}


def test_what_nobody_chose_is_not_written() -> None:
    made = command(npus(), "/w/runtimes/r")
    assert made.argv[4:] == (
        *("/w/runtimes/r/bin/vllm", "serve", "/data/models/smol", "--served-model-name", "smol"),
        *("--host", "127.0.0.1", "--port", "8001"),
        *("--disable-access-log-for-endpoints", "/health,/metrics"),
    )
    assert made.env["ASCEND_RT_VISIBLE_DEVICES"] == "0,1"


@pytest.mark.parametrize(
    ("changes", "times"),
    [
        ({}, 1),
        ({"backend": "ascend_docker"}, 1),
        ({"release": "0.13.0"}, 0),
        ({"extra_args": ("--disable-access-log-for-endpoints", "/health")}, 1),
    ],
)
def test_what_is_asked_every_two_seconds_is_kept_out_of_the_log(changes: dict[str, object], times: int) -> None:
    """Where the release knows how, and nobody chose something else."""
    asked = npus(**changes)
    assert refused(asked) == {}
    assert command(asked, "/r").argv.count("--disable-access-log-for-endpoints") == times


def test_everything_that_can_be_chosen_is_written_once() -> None:
    asked = npus(
        tensor_parallel=2, data_parallel=2, expert_parallel=True, device_ids=(0, 1, 2, 3), context=16384,
        utilization=0.9, max_num_seqs=16, max_batched_tokens=4096, quantization="ascend",
        compilation={"cudagraph_mode": "FULL_DECODE_ONLY"},
        prefix_caching=False, chunked_prefill=True, async_scheduling=True, trust_remote_code=True,
        speculative={"method": "mtp", "num_speculative_tokens": 1}, reasoning_parser="deepseek_r1",
        tool_parser="deepseek_v3", tokenizer_mode="deepseek_v4", lora_modules=("a=/x y",),
        additional_config={"enable_flashcomm1": True}, extra_args=("--seed", "1024"),
    )  # fmt: skip
    assert refused(asked) == {}
    text = " ".join(command(asked, "/r").argv)
    for words in (
        "--tensor-parallel-size 2", "--data-parallel-size 2", "--enable-expert-parallel", "--max-model-len 16384",
        "--gpu-memory-utilization 0.9", "--max-num-seqs 16", "--max-num-batched-tokens 4096", "--quantization ascend",
        '--compilation-config {"cudagraph_mode": "FULL_DECODE_ONLY"}', "--no-enable-prefix-caching",
        "--enable-chunked-prefill", "--async-scheduling", "--trust-remote-code",
        '--speculative-config {"method": "mtp", "num_speculative_tokens": 1}', "--reasoning-parser deepseek_r1",
        "--enable-auto-tool-choice --tool-call-parser deepseek_v3", "--tokenizer-mode deepseek_v4",
        "--enable-lora --lora-modules a=/x y", '--additional-config {"enable_flashcomm1": true}', "--seed 1024",
    ):  # fmt: skip
        assert text.count(words) == 1, words


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"release": "0.9.1", "async_scheduling": True}, "async_scheduling", "0.9.1 does not know --async-scheduling"),
        ({"release": "0.7.3", "speculative": {"method": "ngram"}}, "speculative", "does not know --speculative-config"),
        ({"release": "0.7.3", "expert_parallel": True}, "expert_parallel", "does not know"),
        ({"release": "9.9.9"}, "release", "9.9.9 are not known"),
        ({"release": ""}, "release", "not known"),
        ({"chip": "910B"}, "chip", "first generation"),
        ({"chip": "H100"}, "chip", "no chip 'H100'"),
        ({"chip": "950", "release": "0.13.0"}, "release", "does not run on chips of the A5"),
        ({"chip": "310P3"}, "dtype", "float16"),
        ({"quantization": "awq"}, "quantization", "awq quantization is currently not supported in npu"),
        ({"quantization": "fp8"}, "quantization", "no arithmetic"),
        ({"quantization": "fp8", "release": "0.18.0"}, "quantization", "came with 0.23.0"),
        ({"reasoning_parser": "deepseek_r9"}, "reasoning_parser", "no parser 'deepseek_r9'"),
        ({"tool_parser": "nothing"}, "tool_parser", "no parser 'nothing'"),
        ({"dtype": "int3"}, "dtype", "does not take int3"),
        ({"additional_config": {"enable_mlapoo": True}}, "additional_config", "ignores it in silence"),
        ({"additional_config": {"eplb_config": {"x": 1}}}, "additional_config", "key x"),
        ({"additional_config": {"x": 1}, "release": "0.30.0rc2"}, "additional_config", "does not start with it"),
        ({"extra_args": ("--swap-space", "4")}, "extra_args", "swap-space"),
        ({"extra_args": ("--seed", "x")}, "extra_args", "invalid int"),
        ({"extra_args": ("/another/model",)}, "extra_args", "begin with an option"),
        ({"extra_args": ("--seed", "1", "/another/model")}, "extra_args", "unrecognized"),
        ({"extra_args": ("--disable-log-stats",)}, "extra_args", "metrics"),
        ({"extra_env": {"VLLM_USE_V1": "1"}}, "extra_env", "VLLM_USE_V1"),
        ({"extra_env": {"CUDA_VISIBLE_DEVICES": "0"}}, "extra_env", "not for NPUs"),
        ({"tensor_parallel": 4}, "device_ids", "takes 4 devices, more than the 2 there"),
        ({"device_ids": (0, 0)}, "device_ids", "once"),
        ({"utilization": 1.2}, "utilization", "between 0 and 1"),
        ({"chunked_prefill": False, "max_batched_tokens": 2048, "context": 8192}, "max_batched_tokens", "8192"),
        ({"speculative": {"num_speculative_tokens": 16}}, "speculative", "16"),
        ({"enforce_eager": True, "compilation": {"cudagraph_mode": "FULL"}}, "enforce_eager", "no effect"),
        ({"additional_config": {"enable_flashcomm1": True}}, "additional_config", "only one"),
        ({"image": "x"}, "image", "for a container"),
    ],
)
def test_what_a_release_or_a_chip_does_not_do_is_refused_with_the_reason(
    changes: dict[str, object], field: str, words: str
) -> None:
    found = refused(npus(**changes))
    assert field in found, found
    assert re.search(words, str(found[field].reason)), str(found[field].reason)


def test_an_api_key_is_taken_from_the_environment_of_docker() -> None:
    made = command(npus(backend="ascend_docker", api_key=True), "/r")
    assert made.argv[made.argv.index("VLLM_API_KEY") - 1] == "--env"
    assert 'VLLM_API_KEY="${VLLM_API_KEY:?}"' in shell(made)


@pytest.mark.parametrize(
    ("chip", "release", "image", "devices"),
    [
        ("910B4", "0.23.0.post1", "v0.23.0.post1", ["/dev/davinci0", "/dev/davinci1"]),
        ("Ascend910", "0.23.0.post1", "v0.23.0.post1-a3", ["/dev/davinci0", "/dev/davinci1"]),
        ("950", "0.23.0.post1", "v0.23.0.post1-a5", ["/dev/ummu", "/dev/uburma"]),
        ("310P3", "0.18.0", "v0.18.0-310p", ["/dev/davinci0"]),
    ],
)
def test_a_container_gets_the_image_and_the_devices_of_its_chip(
    chip: str, release: str, image: str, devices: list[str]
) -> None:
    argv = command(npus(backend="ascend_docker", chip=chip, release=release), "/r").argv
    assert argv[:5] == ("docker", "run", "--rm", "--name", "pilot-smol-8001")
    assert any(word.endswith(f"vllm-ascend:{image}") for word in argv)
    for device in (*devices, "/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"):
        assert argv[argv.index(device) - 1] == "--device"
    assert "/data/models/smol:/data/models/smol:ro" in argv
    assert "/usr/local/Ascend/driver/lib64/:/usr/local/Ascend/driver/lib64/" in argv
    assert argv[argv.index("--publish") + 1] == "127.0.0.1:8001:8001"
    assert argv[argv.index("--host") + 1] == "0.0.0.0"
    assert ("--pid" in argv) == (chip == "950")


def test_a_container_on_the_network_of_the_host_publishes_nothing() -> None:
    argv = command(npus(backend="ascend_docker", network="host"), "/r").argv
    assert "--publish" not in argv
    assert argv[argv.index("--network") + 1] == "host"
    assert argv[argv.index("--host") + 1] == "127.0.0.1"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"device_ids": ()}, "device_ids"),
        ({"chip": "A3", "device_ids": (0,)}, "device_ids"),
        ({"mounts": ("/a",)}, "mounts"),
        ({"image": "a b"}, "image"),
        ({"network": "bridge2"}, "network"),
        ({"shm_gib": 0}, "shm_gib"),
        ({"model_folder": "/a:b"}, "model_folder"),
    ],
)
def test_what_docker_cannot_do_is_refused(changes: dict[str, object], field: str) -> None:
    assert field in refused(npus(backend="ascend_docker", **changes))


SOME_RELEASES = st.sampled_from(parsers.releases())
SPECS = st.builds(
    npus,
    backend=st.sampled_from(["ascend_venv", "ascend_docker"]),
    release=SOME_RELEASES,
    chip=st.sampled_from(["910B4", "A3", "310P3", "950", "910B"]),
    dtype=st.sampled_from(["auto", "bfloat16", "float16", "float32", "int3"]),
    tensor_parallel=st.integers(1, 4),
    data_parallel=st.integers(1, 2),
    expert_parallel=st.booleans(),
    device_ids=st.sampled_from([(), (0, 1), tuple(range(8))]),
    utilization=st.none() | st.floats(),
    max_batched_tokens=st.none() | st.integers(-1, 9999),
    quantization=st.sampled_from(["", "ascend", "fp8", "awq"]),
    enforce_eager=st.booleans(),
    compilation=st.sampled_from([{}, {"cudagraph_mode": "FULL"}]),
    prefix_caching=st.none() | st.booleans(),
    chunked_prefill=st.none() | st.booleans(),
    async_scheduling=st.none() | st.booleans(),
    speculative=st.sampled_from([{}, {"method": "mtp", "num_speculative_tokens": 2}]),
    reasoning_parser=st.sampled_from(["", "deepseek_r1", "qwen3", "none"]),
    tool_parser=st.sampled_from(["", "hermes", "deepseek_v4"]),
    tokenizer_mode=st.sampled_from(["", "deepseek_v32"]),
    trust_remote_code=st.booleans(),
    lora_modules=st.sampled_from([(), ("a=/b", "c=/d e")]),
    additional_config=st.sampled_from([{}, {"enable_cpu_binding": False}, {"nothing": 1}]),
    extra_args=st.lists(st.sampled_from(["--seed", "7", "--swap-space", "--headless", "x", "-1", "--"])).map(tuple),
)


@given(SPECS)
@settings(max_examples=60, deadline=None)
def test_every_spec_is_refused_with_a_reason_or_its_command_parses(asked: ServeSpec) -> None:
    found = backend(asked.backend).refusals(asked, TINY_MLA, MACHINE)
    assert all(str(one.reason).endswith(".") and hasattr(asked, one.field) for one in found)
    if found:
        return
    argv = command(asked, "/r").argv
    words = parsers.dashed(argv[argv.index("serve") + 1 :])
    parsed = parsers.argument_parser(asked.release).parse_args(words)
    assert parsed.model_tag == asked.model_folder
    assert (parsed.tensor_parallel_size or 1) == asked.tensor_parallel
    assert options.parse_error(asked) is None


@pytest.mark.parametrize("one", [VENV, DOCKER], ids=lambda one: str(one.name))
def test_the_shown_text_hands_every_word_to_the_engine(one: object, tmp_path: Path) -> None:
    """A program of the name of the engine writes down what it gets, through bash and, for the container, a docker."""
    nasty = '/模型/it\'s a $(folder) "x"'
    said = tmp_path / "said"
    for name in ("vllm", "docker"):
        script = tmp_path / "bin" / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {said}\n")
        script.chmod(0o755)
    asked = npus(backend=one.name, model_folder=nasty, extra_env={"A": nasty})  # type: ignore[attr-defined]
    made = command(asked, str(tmp_path))
    bash = shutil.which("bash")
    assert bash
    path = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    subprocess.run([bash, "-c", shell(made)], env=path, check=True, capture_output=True)
    words = made.argv[5:] if asked.backend == "ascend_venv" else made.argv[1:]
    assert said.read_text().splitlines() == list(words)


def test_a_stored_spec_of_before_compares_equal_to_the_same_one_of_today() -> None:
    old = spec().to_json()
    assert "release" not in old
    assert ServeSpec.from_json(old) == spec()
    new = npus(additional_config={"a": {"b": [1, None]}}, lora_modules=("a=b",), utilization=1)
    assert ServeSpec.from_json(new.to_json()) == new
    assert replace(new, extra_args=("--x",)).to_json()["extra_args"] == ["--x"]
