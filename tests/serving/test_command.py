"""The command of a spec: what is quoted, what is secret, and what the real argument parser says to it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from console.errors import InvalidInput, NotFound
from console.serving.backends.local_cpu import binding
from console.serving.command import Command, command, shell
from tests.serving.subjects import spec


def test_the_local_command_is_eager_offline_and_complete() -> None:
    made = command(spec(max_num_seqs=8), "/w/runtimes/r")
    assert made.argv == (
        *("/w/runtimes/r/bin/vllm", "serve", "/data/models/smol", "--served-model-name", "smol"),
        *("--host", "127.0.0.1", "--port", "8001", "--dtype", "bfloat16", "--tensor-parallel-size", "1"),
        *("--max-model-len", "2048", "--max-num-seqs", "8", "--enforce-eager"),
        *("--disable-access-log-for-endpoints", "/health,/metrics"),
    )
    assert made.env == {
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
    }
    assert made.secret_env == ()


def test_part_of_a_gib_goes_into_the_flag_because_the_variable_takes_whole_numbers() -> None:
    made = command(spec(kv_space_gib=0.5), "/r")
    assert "VLLM_CPU_KVCACHE_SPACE" not in made.env
    assert made.argv[-2:] == ("--kv-cache-memory-bytes", str(2**29))


def test_what_a_person_adds_cannot_switch_reporting_on() -> None:
    made = command(spec(extra_env={"DO_NOT_TRACK": "0", "OMP_NUM_THREADS": "1"}), "/r")
    assert (made.env["DO_NOT_TRACK"], made.env["OMP_NUM_THREADS"]) == ("1", "1")


@pytest.mark.parametrize(
    ("ids", "ranks", "bound"),
    [
        ((0, 1), 2, "0|1"),
        (tuple(range(8)), 2, "0,1,2,3|4,5,6,7"),
        (tuple(range(7)), 3, "0,1,2|3,4|5,6"),
        ((4, 9, 11), 2, "4,9|11"),
    ],
)
def test_cores_are_divided_between_ranks(ids: tuple[int, ...], ranks: int, bound: str) -> None:
    assert binding(ids, ranks) == bound
    made = command(spec(tensor_parallel=ranks, core_ids=ids), "/r")
    assert made.env["VLLM_CPU_OMP_THREADS_BIND"] == bound


def test_one_rank_is_left_to_bind_itself_and_too_few_cores_are_said() -> None:
    assert "VLLM_CPU_OMP_THREADS_BIND" not in command(spec(), "/r").env
    with pytest.raises(InvalidInput, match="3 ranks"):
        binding((0, 1), 3)


def test_a_backend_that_is_not_there_is_named() -> None:
    with pytest.raises(NotFound, match="cloud"):
        command(spec(backend="cloud"), "/r")


ECHO = "import json,os,sys; print(json.dumps([sys.argv[1:], {k: os.environ.get(k) for k in ('A', 'VLLM_API_KEY')}]))"


@pytest.mark.parametrize("nasty", ["a b", "it's", '"$(id)"', "`id`", "模型", "a\nb", "--", "*", "\\", ""])
def test_the_copied_text_runs_the_same_words(nasty: str) -> None:
    made = Command((sys.executable, "-c", ECHO, nasty, "--flag", nasty), {"A": nasty}, ("VLLM_API_KEY",))
    text = shell(made)
    assert " \\\n  " in text
    ran = subprocess.run(
        ["sh", "-c", text], env={**os.environ, "VLLM_API_KEY": "k y"}, capture_output=True, text=True, check=True
    )
    assert json.loads(ran.stdout) == [[nasty, "--flag", nasty], {"A": nasty, "VLLM_API_KEY": "k y"}]


def test_the_copied_text_holds_no_key_and_stops_without_one() -> None:
    text = shell(command(spec(api_key=True), "/r"))
    assert 'VLLM_API_KEY="${VLLM_API_KEY:?}"' in text
    without = {name: value for name, value in os.environ.items() if name != "VLLM_API_KEY"}
    assert subprocess.run(["sh", "-c", text], env=without, capture_output=True, check=False).returncode != 0


def test_the_copied_text_is_readable() -> None:
    lines = shell(command(spec(), "/w/r")).split(" \\\n  ")
    assert lines[0] == "DO_NOT_TRACK=1"
    assert "/w/r/bin/vllm serve /data/models/smol" in lines
    assert "--served-model-name smol" in lines
    assert lines[-2:] == ["--enforce-eager", "--disable-access-log-for-endpoints /health,/metrics"]


PARSE = """
import json, sys
from vllm.entrypoints.launchers.cli_args import make_arg_parser
from vllm.utils.argparse_utils import FlexibleArgumentParser
parser = make_arg_parser(FlexibleArgumentParser())
parsed = parser.parse_args(sys.argv[1:])
print("PARSED", json.dumps({k: getattr(parsed, k) for k in (
    "served_model_name", "host", "port", "dtype", "tensor_parallel_size", "max_model_len", "max_num_seqs",
    "enforce_eager", "kv_cache_memory_bytes")}))
"""


@pytest.mark.real_vllm
def test_the_real_parser_takes_every_word(built: Path) -> None:
    runtime = str(next((built / "runtimes").glob("local-cpu-*")))
    made = command(spec(max_num_seqs=8, kv_space_gib=0.5, tensor_parallel=2), runtime)
    python = str(Path(runtime) / "bin" / "python")
    ran = subprocess.run(
        [python, "-c", PARSE, *made.argv[2:]], env={**os.environ, **made.env}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert json.loads(ran.stdout.split("PARSED ")[1]) == {
        "served_model_name": ["smol"],
        "host": "127.0.0.1",
        "port": 8001,
        "dtype": "bfloat16",
        "tensor_parallel_size": 2,
        "max_model_len": 2048,
        "max_num_seqs": 8,
        "enforce_eager": True,
        "kv_cache_memory_bytes": 2**29,
    }
