"""Commands as people really paste them: broken over lines, wrapped, in files and sentences; nothing is lost."""

import json
import re

import pytest

from console.serving.explain import MOST_CHARACTERS, report, understand
from tests.serving.test_explain import PLAIN, findings, read, stated

OPTIONS = "-tp 2 --max-model-len 8192"


@pytest.mark.parametrize(
    "text",
    [
        f"timeout 60 vllm serve /m/x {OPTIONS}",
        f"uv run vllm serve /m/x {OPTIONS}",
        f"screen -dmS a vllm serve /m/x {OPTIONS}",
        f"tmux new -d -s a 'vllm serve /m/x {OPTIONS}'",
        f'ssh root@10.0.0.1 "vllm serve /m/x {OPTIONS}"',
        f"kubectl exec -it pod -- vllm serve /m/x {OPTIONS}",
        f"torchrun --nproc-per-node 2 -m vllm.entrypoints.openai.api_server --model /m/x {OPTIONS}",
        f"root  1234  0.1  python3 /usr/local/bin/vllm serve /m/x {OPTIONS}",
        f"- vllm serve /m/x {OPTIONS}",
        f"1. vllm serve /m/x {OPTIONS}\n2. curl localhost",
        f"for i in 0 1; do vllm serve /m/x {OPTIONS} & done",
        f"请看这个命令：vllm serve /m/x {OPTIONS}",
        f"<pre>vllm serve /m/x {OPTIONS}</pre>",
        f"<li><code>vllm serve /m/x</code> <b>{OPTIONS}</b><br/></li>",
        f"[Service]\nExecStart=/usr/local/bin/vllm serve /m/x {OPTIONS}\n",
        f"\x1b[32mvllm\x1b[0m serve /m/x {OPTIONS}",
        f"vllm serve /m/x\x00{OPTIONS}",
        f"#!/bin/bash\nset -e\nif true; then\n  vllm serve /m/x {OPTIONS}\nfi\n",
        "    from vllm import LLM\n    llm = LLM('/m/x', tensor_parallel_size=2, max_model_len=8192)",
        'containers:\n- args: [/m/x, -tp, "2", --max-model-len, "8192"]\n  command: [vllm, serve]\n  image: vllm:x\n',
    ],
)
def test_a_server_is_found_whatever_stands_around_it(text: str) -> None:
    found = read(text)
    assert stated(found) == PLAIN, report(found, "en")
    assert found.findings == ()


@pytest.mark.parametrize("text", ["pkill -f 'vllm serve /m/x'", "ps aux | grep 'vllm serve '", "echo vllm serve /m/x"])
def test_who_only_speaks_of_a_server_starts_none(text: str) -> None:
    assert read(text).kind == ""


@pytest.mark.parametrize(
    ("text", "token", "said"),
    [
        ("vllm serve /m/x\n  -tp 2\n  --max-model-len 8192", "-tp", "line of its own.*backslash"),
        ("vllm serve /m/x \\\n\n  -tp 2 \\\n  --max-model-len 8192", "-tp", "line of its own.*backslash"),
        ("vllm serve /m/x \\\n # two cards\n  -tp 2 --max-model-len 8192", "-tp", "line of its own.*backslash"),
        ("vllm serve /m/x，-tp 2，--max-model-len 8192。", "，", "mark for a word"),
        ("帮我看看：vllm serve /m/x -tp 2 --max-model-len 8192，谢谢！", "谢谢", "belongs to no option"),
        ("vllm serve /m/x -tp = 2 --max-model-len 8192", "-tp =", "no blanks.*-tp=2"),
        ("vllm\u00a0serve /m/x -tp 2 --max-model-len 8192", "vllm\u00a0serve", "not those of a keyboard"),
        ("Vllm Serve /m/x -tp 2 --max-model-len 8192", "Vllm Serve", "Write vllm serve"),
        ("vllm server /m/x -tp 2 --max-model-len 8192", "vllm server", "no command called server"),
        ("--model /m/x -tp 2 --max-model-len 8192", "--model", "command itself is missing"),
        ("export A = 1\nvllm serve /m/x -tp 2 --max-model-len 8192", "A = 1", "export A=1"),
        ("vllm serve /m/x -tp 2 --max-model-len 8192 --additional-config '[1]'", "--additional-config", "in braces"),
        ("vllm serve /m/x -tp 2 --max-model-len 8192 --PORT 1", "--PORT", "--port may be meant"),
    ],
)
def test_what_a_shell_would_not_forgive_is_told_and_still_understood(text: str, token: str, said: str) -> None:
    found = read(text)
    wrong = findings(found)
    assert {**stated(found), "model_folder": "/m/x"} == PLAIN, report(found, "en")
    assert token.replace("\u00a0", " ") in wrong or token in wrong, wrong
    assert re.search(said, str(wrong), re.DOTALL), wrong


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (f"vllm serve /m/x --max-model-len 4096 {OPTIONS}", ["--max-model-len", "4096"]),
        (f"vllm serve /m/x --tensor-parallel-size 8 {OPTIONS}", ["--tensor-parallel-size", "8"]),
        (f"vllm serve --model /m/y --model /m/x {OPTIONS}", ["--model", "/m/y"]),
    ],
)
def test_of_what_is_given_twice_the_last_one_counts_and_the_first_is_named(text: str, first: list[str]) -> None:
    found = read(text)
    assert stated(found) == PLAIN, report(found, "en")
    assert [one.token for one in found.ignored] == first
    assert "given again later" in str(found.ignored[0].why)


def test_a_group_that_is_given_twice_is_not_put_together_and_its_parts_are() -> None:
    twice = """vllm serve /m/x --additional-config '{"enable_kv_nz": true}' --additional-config '{"refresh": true}'"""
    assert stated(read(twice))["additional_config"] == {"refresh": True}
    parts = "vllm serve /m/x --compilation-config.cudagraph_mode FULL --compilation-config.level 3"
    assert stated(read(parts))["compilation"] == {"cudagraph_mode": "FULL", "level": 3}


def test_a_variable_that_is_set_twice_is_named_without_its_value() -> None:
    found = read(f"export HF_TOKEN=hf_secret1\nexport HF_TOKEN=hf_secret2\nvllm serve /m/x {OPTIONS}")
    assert "HF_TOKEN" in [one.token for one in found.ignored]
    assert "hf_secret" not in json.dumps(report(found, "en"))
    for words in ("--api-key secret1 --api-key secret2", "--api-key=secret1 --api-key=secret2"):
        assert "secret1" not in json.dumps(report(read(f"vllm serve /m/x {words}"), "en"))


def test_a_folder_of_windows_is_told() -> None:
    assert "folder of Windows" in findings(read("vllm serve C:\\models\\x"))["C:\\models\\x"]


COMPOSE = """services:
  web: {image: nginx}
  vllm:
    image: quay.io/ascend/vllm-ascend:v0.18.0
    shm_size: 16g
    privileged: true
    restart: always
    ports: ["8006:8000"]
    volumes: ["/data/models:/models", "/usr/local/Ascend/driver:/usr/local/Ascend/driver"]
    environment: {HCCL_BUFFSIZE: 512, ASCEND_RT_VISIBLE_DEVICES: "0,1"}
    command: >
      vllm serve /models/Qwen3-8B
      --tensor-parallel-size 2
      --max-model-len $${LEN}
"""


def test_a_file_of_compose_is_read_as_the_container_it_describes() -> None:
    found = understand(COMPOSE, "", "910B4")
    assert found.kind == "docker"
    assert {name: found.fields[name] for name in ("model_folder", "port", "shm_gib", "device_ids", "release")} == {
        "model_folder": "/data/models/Qwen3-8B", "port": 8006, "shm_gib": 16, "device_ids": (0, 1), "release": "0.18.0",
    }  # fmt: skip
    assert found.fields["tensor_parallel"] == 2
    assert found.fields["extra_env"] == {"HCCL_BUFFSIZE": "512"}
    assert "not in this text" in findings(found)["--max-model-len"]
    assert "restart:" in [one.token for one in found.ignored]


def test_a_container_of_kubernetes_names_its_release() -> None:
    text = """
    - image: quay.io/ascend/vllm-ascend:v0.18.0
      env: [{name: HCCL_BUFFSIZE, value: "512"}]
      args: ["vllm serve /m/x -tp 2"]
      command: [bash, -c]
    """
    found = understand(text, "", "910B4")
    assert (found.fields["release"], found.fields["tensor_parallel"]) == ("0.18.0", 2)
    assert found.fields["extra_env"] == {"HCCL_BUFFSIZE": "512"}


@pytest.mark.parametrize(
    "text", ["command: [", "args:\n  - &a [*a]", "command: vllm\n\t- x", "services:\n  a:\n    command:"]
)
def test_broken_yaml_starts_no_server_and_breaks_nothing(text: str) -> None:
    assert read(text).findings == ()


@pytest.mark.parametrize("unit", ["a", "{ ", "LLM(", "'", "vllm serve /m/x\n", "--o 1 ", "\x00\x07", "- a: ", "“"])
def test_a_text_that_is_far_too_long_is_read_as_far_as_a_command_reaches(unit: str) -> None:
    found = read(unit * (1_000_000 // len(unit)))
    json.dumps(report(found, "zh"))
    assert f"only the first {MOST_CHARACTERS:,}" in findings(found)["…"]
