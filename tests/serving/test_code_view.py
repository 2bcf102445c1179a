"""A request as curl and as Python, both run for real."""

import ast
import importlib.util
import json
import os
import shlex
import subprocess
import sys

import pytest

from console.serving.code_view import curl, python
from console.serving.request import ChatRequest
from tests.serving.pretended import pretended

NASTY = 'it\'s "quoted" $HOME `id` \\n !x\n法国 {braces} %s \'\'\' """ @file'
REQUEST = ChatRequest(
    "smol",
    [{"role": "system", "content": NASTY}, {"role": "user", "content": "count to 7"}],
    temperature=0.2,
    top_p=0.9,
    max_tokens=64,
    seed=7,
    stop=("###", "'"),
)


def test_the_body_leaves_out_what_was_not_chosen() -> None:
    assert ChatRequest("m", []).body() == {
        "model": "m",
        "messages": [],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_curl_carries_exactly_the_request() -> None:
    words = shlex.split(curl(REQUEST, "http://127.0.0.1:8000/").replace(" \\\n  ", " "))
    assert "http://127.0.0.1:8000/v1/chat/completions" in words
    assert json.loads(words[words.index("--data-binary") + 1]) == REQUEST.body()


def test_curl_really_asks_a_server() -> None:
    with pretended() as url:
        command = curl(REQUEST, url)
        ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=True)
    deltas = [json.loads(line[6:]) for line in ran.stdout.splitlines() if line.startswith("data: {")]
    said = "".join(event["choices"][0]["delta"].get("content") or "" for event in deltas if event["choices"])
    assert said == "1 2 3 4 5 6 7"


def test_the_program_carries_exactly_the_request() -> None:
    tree = ast.parse(python(REQUEST, "http://127.0.0.1:8000"))
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Call) and "create" in ast.dump(node.func))
    assert {word.arg: ast.literal_eval(word.value) for word in call.keywords} == REQUEST.body()


@pytest.mark.skipif(importlib.util.find_spec("openai") is None, reason="the package openai is not installed")
def test_the_program_really_asks_a_server() -> None:
    clean = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    with pretended() as url:
        program = python(REQUEST, url)
        ran = subprocess.run(
            [sys.executable, "-c", program], env=clean, capture_output=True, text=True, timeout=120, check=False
        )
    assert (ran.stdout, ran.stderr) == ("1 2 3 4 5 6 7\n", "")


def test_a_key_is_only_ever_a_placeholder() -> None:
    assert "Authorization" not in curl(REQUEST, "http://h:1")
    assert "-H 'Authorization: Bearer YOUR_API_KEY'" in curl(REQUEST, "http://h:1", with_key=True)
    assert "api_key='YOUR_API_KEY'" in python(REQUEST, "http://h:1", with_key=True)
