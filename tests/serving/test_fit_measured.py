"""Reading what engines print of their memory, in the words of several releases, and the error of the estimate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.catalog.quantizations import scheme
from console.serving.layout import Layout
from console.serving.measured import Difference, Measured, differences, read_log
from console.serving.room import Sum, Wish
from tests.serving.fitting import GIB, SMALL, model

TWO_RANKS = """\
(EngineCore_DP0 pid=1) INFO 12-01 10:00:00 [core.py:77] non-default args: {'gpu_memory_utilization': 0.89, 'port': 1}
(Worker_TP0 pid=2) INFO 12-01 10:00:09 [model_runner_v1.py:2373] Loading model weights took 15.9000 GB
(Worker_TP1 pid=3) INFO 12-01 10:00:09 [model_runner_v1.py:2373] Loading model weights took 16.1000 GB
(Worker_TP0 pid=2) INFO 12-01 10:00:20 [worker.py:300] Available KV cache memory: 7.00 GiB
(Worker_TP1 pid=3) INFO 12-01 10:00:20 [worker.py:300] Available KV cache memory: 6.90 GiB
(EngineCore_DP0 pid=1) INFO 12-01 10:00:21 [kv_cache_utils.py:1087] GPU KV cache size: 57,344 tokens
(EngineCore_DP0 pid=1) INFO [kv_cache_utils.py:1091] Maximum concurrency for 8,192 tokens per request: 7.00x
(Worker_TP0 pid=2) INFO 12-01 10:00:40 [model_runner_v1.py:2600] Graph capturing finished in 13 secs, took 0.27 GiB
"""


def test_of_several_ranks_the_tightest_counts() -> None:
    seen = read_log(TWO_RANKS)
    assert seen is not None
    assert (seen.kv_tokens, seen.tokens_per_request, seen.concurrency) == (57344, 8192, 7.0)
    assert seen.kv_bytes == round(6.9 * GIB)
    assert seen.weights == round(16.1 * GIB)
    assert seen.graphs == round(0.27 * GIB)
    assert seen.utilization == 0.89


@pytest.mark.parametrize(
    ("line", "figure", "value"),
    [
        ("INFO GPU KV cache size: 178,880 tokens", "kv_tokens", 178880),
        ("CPU KV cache size: 23,296 tokens, maximum concurrency for 2,048 tokens: 11.38x", "kv_tokens", 23296),
        ("INFO NPU KV cache size: 1 tokens", "kv_tokens", 1),
        ("CPU KV cache size: 9 tokens, maximum concurrency for 2,048 tokens per request: 11.38x", "concurrency", 11.38),
        ("Available KV cache memory: -1.33GB", "kv_bytes", round(-1.33 * GIB)),
        ("Available memory: 27917287424, total memory: 65464696832", "kv_bytes", 27917287424),
        ("Available memory: 27917287424, total memory: 65464696832", "total", 65464696832),
        ("Auto set (2.68/17.34) GiB for KV cache on node 0, with 3.47 GiB requested", "kv_bytes", round(2.68 * GIB)),
        ("Explicitly set (1.0/17.34) GiB for KV cache on node 0.", "kv_bytes", GIB),
        ("Explicitly set (1.0/17.34) GiB for KV cache on node 0.", "total", round(17.34 * GIB)),
        ("Model loading took 14.2474 GiB and 558.868858 seconds", "weights", round(14.2474 * GIB)),
        ("Model loading took 14.2474 GiB memory and 558.8 seconds", "weights", round(14.2474 * GIB)),
        ("(NPU 0; 60.97 GiB total capacity; 58.92 GiB already allocated;", "total", round(60.97 * GIB)),
        (
            "ValueError: Free memory on device (8.0/64.0 GiB) on startup is less than desired GPU memory utilization "
            "(0.9, 57.6 GiB).",
            "free_at_start",
            8 * GIB,
        ),
        ("total_gpu_memory (23.58GiB) x gpu_memory_utilization (0.99) = 23.35GiB", "total", round(23.58 * GIB)),
    ],
)  # fmt: skip
def test_the_words_of_each_release(line: str, figure: str, value: float) -> None:
    seen = read_log(f"before\n{line}\nafter")
    assert seen is not None
    assert getattr(seen, figure) == value


@pytest.mark.parametrize("log", ["", "Application startup complete", "gpu_memory_utilization=0.9"])
def test_a_log_that_says_nothing_of_memory(log: str) -> None:
    assert read_log(log) is None


@given(st.text())
def test_any_text_can_be_read(log: str) -> None:
    read_log(log)


def test_what_was_seen_is_kept_and_read_again() -> None:
    seen = read_log(TWO_RANKS)
    assert seen is not None
    assert Measured.from_json(seen.to_json()) == seen
    assert Measured.from_json({"kv_tokens": "many", "strange": 1, "weights": None, "total": True}) == Measured()


def test_the_error_of_the_estimate() -> None:
    seen = read_log(TWO_RANKS)
    assert seen is not None
    estimate = Sum(model("Qwen3-32B"), SMALL, Wish(2, "w8a8", tp=2), scheme("w8a8"), Layout(tp=2))
    found = {one.figure: one for one in differences(estimate, seen)}
    assert set(found) == {"weights", "kv_bytes", "kv_tokens"}
    assert abs(found["weights"].error) < 0.01
    assert abs(found["kv_bytes"].error) < 0.05
    assert abs(found["kv_tokens"].error) < 0.05


def test_what_neither_weights_nor_cache_took_is_the_reserve() -> None:
    seen = Measured(total=32 * GIB, utilization=0.5, weights=8 * GIB, kv_bytes=6 * GIB)
    assert seen.reserve == 2 * GIB
    assert Measured(total=32 * GIB, weights=8 * GIB).reserve is None
    estimate = Sum(model("Qwen3-32B"), SMALL, Wish(2, "w8a8", measured_reserve=seen.reserve), scheme("w8a8"), Layout(2))
    assert estimate.room(1, 1).reserve == 2 * GIB


def test_the_sign_of_an_error() -> None:
    assert Difference("kv_tokens", 110, 100).error == pytest.approx(0.1)
    assert Difference("kv_bytes", -2, -1).error == pytest.approx(-1)
    assert Difference("kv_tokens", 1, 0).error == float("inf")
