"""Values that are of the right form and that an option cannot take are findings, wherever they stand in a paste."""

import re
from dataclasses import replace

import pytest

from console.serving import ascend
from tests.serving.test_ascend_backends import npus
from tests.serving.test_explain import findings, read, stated


@pytest.mark.parametrize(
    ("words", "token", "said"),
    [
        ("--gpu-memory-utilization 1.5", "--gpu-memory-utilization", "does not take 1.5"),
        ("--gpu-memory-utilization nan", "--gpu-memory-utilization", "does not take nan"),
        ("--port 99999", "--port", "from 1 to 65535"),
        ("--max-model-len 0", "--max-model-len", "-1, or 1 or more"),
        ("--max-num-seqs -4", "--max-num-seqs", "1 or more"),
        ("-tp 0", "-tp", "1 or more"),
        ("--block-size 0", "--block-size", "1 or more"),
        ("--node-rank=-1", "--node-rank=-1", "0 or more"),
        ("--seed 1e5", "--seed", "whole number"),
        ('--compilation-config \'{"cudagraph_mode": "FAST"}\'', "--compilation-config", "no graph mode FAST"),
        ('--speculative-config \'{"method": "magic"}\'', "--speculative-config", "called magic.*mtp"),
        ('--speculative-config \'{"num_speculative_tokens": "3"}\'', "--speculative-config", "whole number"),
        ('--additional-config \'{"enable_cpu_binding": "false"}\'', "enable_cpu_binding", "true or false"),
        ("--additional-config '{\"eplb_config\": true}'", "eplb_config", "group in braces"),
        (
            '--additional-config \'{"eplb_config": {"num_redundant_experts": "2"}}\'',
            "eplb_config.num_redundant_experts",
            "whole number",
        ),
    ],
)
def test_what_an_option_cannot_take_is_explained(words: str, token: str, said: str) -> None:
    wrong = findings(read(f"vllm serve /m/x {words}"))
    assert token in wrong, wrong
    assert re.search(said, wrong[token], re.DOTALL), wrong[token]


def test_a_port_that_is_none_is_not_published() -> None:
    found = read("docker run -p 99999:8000 vllm-ascend:v0.23.0 vllm serve /m/x")
    assert "from 1 to 65535" in findings(found)["-p 99999:8000"]
    assert "port" not in stated(found)


def test_a_number_at_its_limit_is_taken() -> None:
    for words in ("--port 65535", "--gpu-memory-utilization 1", "--max-model-len -1", "--max-model-len auto", "-tp 1"):
        assert read(f"vllm serve /m/x {words}").findings == (), words


def test_stages_beyond_the_layers_say_how_many_there_can_be() -> None:
    wrong = findings(read("vllm serve Qwen/Qwen3-8B -pp 1000000000"))
    assert "Use at most 36" in wrong["-pp"]


def test_nobody_is_told_how_many_cards_there_are() -> None:
    wrong = findings(read("vllm serve Qwen/Qwen3-8B -tp 1000000000"))
    assert "divided" in wrong["-tp"]
    assert "devices" not in str(wrong)


@pytest.mark.parametrize("words", [("--block-size", "0"), ("--block-size=0",), ("--num-gpu-blocks-override", "-3")])
def test_other_options_of_a_form_have_the_same_limits(words: tuple[str, ...]) -> None:
    good = npus(extra_args=("--block-size", "128"))
    assert not [one for one in ascend.refusals(good) if one.field == "extra_args"]
    (refused,) = [one for one in ascend.refusals(replace(good, extra_args=words)) if one.field == "extra_args"]
    assert "1 or more" in str(refused.instead)
