"""Recognises our own command for the CPU in a paste: settings that stand in its environment, and what it always has."""

from typing import Any

from console.serving.explain_parts import Pasted
from console.serving.spec import GIB

ALWAYS = ("--disable-access-log-for-endpoints", "/health,/metrics")


def local_fields(fields: dict[str, Any], pasted: Pasted) -> dict[str, Any]:
    """`fields` as the backend local_cpu has them: space for the KV cache, CPU cores, nothing that it always does."""
    made = {key: value for key, value in fields.items() if key not in ("enforce_eager", "extra_args")}
    rest = list(fields.get("extra_args", ()))
    for words in (list(ALWAYS),):
        if words[0] in rest:
            at = rest.index(words[0])
            del rest[at : at + 2]
    if "--kv-cache-memory-bytes" in rest:
        at = rest.index("--kv-cache-memory-bytes")
        if rest[at + 1].isdecimal():
            made["kv_space_gib"] = int(rest[at + 1]) / GIB
        del rest[at : at + 2]
    space, _ = pasted.env.get("VLLM_CPU_KVCACHE_SPACE", ("", ""))
    if space.isdecimal():
        made["kv_space_gib"] = int(space)
    cores, _ = pasted.env.get("VLLM_CPU_OMP_THREADS_BIND", ("", ""))
    numbers = cores.replace("|", ",").split(",")
    if cores and all(one.isdecimal() for one in numbers):
        made["core_ids"] = tuple(map(int, numbers))
    return {**made, **({"extra_args": tuple(rest)} if rest else {})}
