"""`vllm` inside a simulated container: the host's real one where one is installed, else the pretended server."""

import json
import os
import sys

from pretend import place

TAKES = {
    "--served-model-name", "--host", "--port", "--tensor-parallel-size", "-tp", "--pipeline-parallel-size", "-pp",
    "--max-model-len", "--max-num-seqs", "--api-key",
}  # fmt: skip
"""Options that the pretended server understands; it has no use for the others."""


def main(name: str, words: list[str]) -> int:
    program = place.real(name)
    if program:
        return place.become(name, words)
    if words[:1] == ["serve"]:
        kept, passed = understood(words[1:])
        if passed:
            print(f"Simulated container: the pretended engine passes over {' '.join(passed)}", flush=True)
        words = ["serve", *kept]
    print("Simulated container: no vLLM is installed on this host, so the engine is pretended.", flush=True)
    os.execv(sys.executable, [sys.executable, f"{place.FAKE}/vllm_server.py", *words])
    return 126


def understood(words: list[str]) -> tuple[list[str], list[str]]:
    """The words for the pretended server, and those that are left out, each option with its value."""
    kept: list[str] = []
    passed: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        option, sign, value = word.partition("=")
        values = [value] if sign else []
        if word.startswith("-"):
            while not sign and rest and not _is_option(rest[0]):
                values.append(rest.pop(0))
            target = kept if option in TAKES and len(values) == 1 else passed
            target += [option, *values]
        else:
            (kept if not kept else passed).append(word)
    return kept, passed


def _is_option(word: str) -> bool:
    """A negative number or JSON is a value."""
    try:
        json.loads(word)
    except ValueError:
        return word.startswith("-")
    return False
