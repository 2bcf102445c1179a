"""The request of the playground as something to paste: a curl command, and a program with OpenAI's Python client."""

import json
import pprint
import shlex

from console.serving.request import ChatRequest

KEY = "YOUR_API_KEY"
"""Stands where a key belongs; the real one is never shown."""


def curl(request: ChatRequest, base_url: str, *, with_key: bool = False) -> str:
    """A command for a POSIX shell."""
    body = json.dumps(request.body(), ensure_ascii=False, indent=2)
    words = ["curl --no-buffer --noproxy '*' " + shlex.quote(base_url.rstrip("/") + "/v1/chat/completions")]
    words += ["-H 'Content-Type: application/json'"]
    words += [f"-H 'Authorization: Bearer {KEY}'"] if with_key else []
    return " \\\n  ".join([*words, "--data-binary " + shlex.quote(body)])


def python(request: ChatRequest, base_url: str, *, with_key: bool = False) -> str:
    """A program for Python with the package `openai`; it prints the answer as it comes."""
    key = KEY if with_key else "none needed"
    arguments = "".join(f"    {name}={_literal(value)},\n" for name, value in request.body().items())
    return (
        "from openai import OpenAI\n\n"
        f"client = OpenAI(base_url={base_url.rstrip('/') + '/v1'!r}, api_key={key!r})\n"
        f"stream = client.chat.completions.create(\n{arguments})\n"
        "for chunk in stream:\n"
        "    if chunk.choices:\n"
        '        print(chunk.choices[0].delta.content or "", end="", flush=True)\n'
        "print()\n"
    )


def _literal(value: object) -> str:
    return pprint.pformat(value, width=100, sort_dicts=False).replace("\n", "\n    ")
