"""Recognises our own command for the CPU in a paste: settings that stand in its environment, and what it always has."""

from typing import Any

from console.serving.explain_parts import Pasted
from console.serving.options import QUIET
from console.serving.spec import GIB


def without_quiet(fields: dict[str, Any]) -> dict[str, Any]:
    """`fields` less what every command of ours has that keeps the log quiet."""
    rest = list(fields.get("extra_args", ()))
    at = next((at for at in range(len(rest)) if tuple(rest[at : at + 2]) == QUIET), None)
    if at is None:
        return fields
    del rest[at : at + 2]
    others = {key: value for key, value in fields.items() if key != "extra_args"}
    return {**others, **({"extra_args": tuple(rest)} if rest else {})}


def local_fields(fields: dict[str, Any], pasted: Pasted) -> dict[str, Any]:
    """`fields` as the backend local_cpu has them: space for the KV cache, CPU cores, and always eager."""
    made = {key: value for key, value in fields.items() if key not in ("enforce_eager", "extra_args")}
    rest = list(fields.get("extra_args", ()))
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
