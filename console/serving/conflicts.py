"""Settings of one server that do not go together, whatever the model: rules of vLLM and of the Ascend plugin."""

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise

from console.serving.asked import Refusal, ServeSpec
from console.text import say

MOST_SPECULATIVE = 15
GRAPH_MODES = ("PIECEWISE", "FULL", "FULL_DECODE_ONLY", "FULL_AND_PIECEWISE", "NONE")
"""Values of cudagraph_mode (vllm/config/compilation.py, 0.23.0; graph_mode.md of vllm-ascend)."""
DRAFTS = ("mtp", "ngram", "suffix", "eagle", "eagle3", "medusa", "draft_model", "dflash", "dspark")
"""Methods of speculative decoding (speculative_decoding.md of vllm-ascend 0.23.0.post1)."""
OTHER_DRAFTS = ("ngram_gpu", "mlp_speculator", "custom_class", "extract_hidden_states", "[ngram]")
"""Methods that vLLM knows beside them, and names that end in _mtp (vllm/config/speculative.py, 0.32.0)."""
NO_GRAPHS = (None, "NONE", 0, "0")


def conflicts(spec: ServeSpec, family: str | None) -> Iterator[Refusal]:
    """Each pair that does not go together. family: of the chip (A2, A3, 310P, A5), None if it is not known."""
    yield from _sizes(spec)
    yield from _graphs(spec)
    yield from _speculative(spec)
    yield from _plugin(spec)
    yield from _context_parallel(spec)
    yield from _number_formats(spec, family)
    if "--disable-log-stats" in spec.extra_args:
        why = say("--disable-log-stats silences the metrics: nothing can be watched or measured then.")
        yield Refusal("extra_args", why, say("Leave it out."))


def _sizes(spec: ServeSpec) -> Iterator[Refusal]:
    if spec.utilization is not None and not 0 < spec.utilization <= 1:
        why = say("The share of memory vLLM may use lies between 0 and 1.")
        yield Refusal("utilization", why, say("Use a value such as 0.9."))
    if spec.max_batched_tokens is not None and spec.max_batched_tokens < 1:
        yield Refusal("max_batched_tokens", say("At least one token is computed at a time."), say("Use 4096 or more."))
    elif spec.chunked_prefill is False and 0 < (spec.max_batched_tokens or 0) < (spec.context or 0):
        why = say(
            "Without chunked prefill a prompt is computed in one step: {batched} tokens at a time are too few for a "
            "context of {context}.",
            batched=spec.max_batched_tokens,
            context=spec.context,
        )
        yield Refusal("max_batched_tokens", why, say("Use at least {context}.", context=spec.context))
    wanted = ranks_here(spec)
    if spec.device_ids and len(set(spec.device_ids)) < wanted:
        why = say(
            "TP {tp} x PP {pp} x DP {dp} takes {wanted} devices, more than the {devices} there.",
            tp=spec.tensor_parallel,
            pp=spec.pipeline_parallel,
            dp=spec.data_parallel,
            wanted=wanted,
            devices=len(set(spec.device_ids)),
        )
        yield Refusal("device_ids", why, say("Use smaller sizes or more cards."))


def ranks_here(spec: ServeSpec) -> int:
    """Devices it takes on this node; others may have a part of the copies, or of the stages."""
    copies = _number(spec, "--data-parallel-size-local", "-dpl", default=spec.data_parallel)
    if "--data-parallel-rank" in spec.extra_args:
        copies = 1
    return copies * -(-spec.tensor_parallel * spec.pipeline_parallel // max(1, _number(spec, "--nnodes")))


def _graphs(spec: ServeSpec) -> Iterator[Refusal]:
    mode = spec.compilation.get("cudagraph_mode")
    if isinstance(mode, str) and mode.upper() not in GRAPH_MODES:
        why = say("vLLM has no graph mode {mode}.", mode=mode)
        yield Refusal("compilation", why, say("Choose one of: {names}.", names=", ".join(GRAPH_MODES)))
    if spec.enforce_eager and mode not in NO_GRAPHS:
        why = say("--enforce-eager captures no graphs, so the graph mode {mode} has no effect.", mode=str(mode))
        yield Refusal("enforce_eager", why, say("Choose one of the two."))
    captures = not spec.enforce_eager and not ("cudagraph_mode" in spec.compilation and mode in NO_GRAPHS)
    if captures and spec.extra_env.get("ASCEND_LAUNCH_BLOCKING") == "1":
        why = say("ASCEND_LAUNCH_BLOCKING=1 does not go with captured graphs.")
        yield Refusal("extra_env", why, say("Leave it out, or add --enforce-eager."))


def _speculative(spec: ServeSpec) -> Iterator[Refusal]:
    method = spec.speculative.get("method")
    if method is not None and method not in (*DRAFTS, *OTHER_DRAFTS) and not str(method).endswith("_mtp"):
        why = say("vLLM has no method of speculative decoding called {method}.", method=str(method))
        yield Refusal("speculative", why, say("Choose one of: {names}.", names=", ".join(DRAFTS)))
    tokens = spec.speculative.get("num_speculative_tokens")
    if tokens is not None and type(tokens) is not int:
        why = say("num_speculative_tokens takes a whole number, and {value} is none.", value=json.dumps(tokens))
        yield Refusal("speculative", why, say("Use 1 to {most}.", most=MOST_SPECULATIVE))
    elif tokens is not None and not 1 <= tokens <= MOST_SPECULATIVE:
        why = say("{tokens} speculative tokens cannot be checked in one step on an NPU.", tokens=tokens)
        yield Refusal("speculative", why, say("Use 1 to {most}.", most=MOST_SPECULATIVE))
    draft = spec.speculative.get("draft_tensor_parallel_size")
    if isinstance(draft, int) and draft not in (1, spec.tensor_parallel):
        why = say("The draft model is spread over 1 card or over as many as the model itself.")
        yield Refusal("speculative", why, say("Use 1 or {ranks}.", ranks=spec.tensor_parallel))


def _plugin(spec: ServeSpec) -> Iterator[Refusal]:
    config = spec.additional_config
    if config.get("enable_flashcomm1") is True and spec.tensor_parallel < 2:
        why = say("FlashComm1 divides sequences between tensor-parallel ranks, and there is only one.")
        yield Refusal("additional_config", why, say("Leave enable_flashcomm1 out, or use tensor parallel 2 or more."))
    chunks = config.get("profiling_chunk_config")
    if isinstance(chunks, Mapping) and chunks.get("enabled") is True and spec.pipeline_parallel < 2:
        why = say("profiling_chunk_config is for pipeline parallel over 1; the engine stops with it otherwise.")
        yield Refusal("additional_config", why, say("Leave it out."))
    plugins = spec.extra_env.get("VLLM_PLUGINS")
    if plugins is not None and "ascend" not in [one.strip() for one in plugins.split(",")]:
        why = say("VLLM_PLUGINS names the plugins that may be loaded, and ascend is not among them.")
        yield Refusal("extra_env", why, say("Add ascend, or leave the variable out."))
    if "CPU_AFFINITY_CONF" in spec.extra_env and config.get("enable_cpu_binding") is not False:
        why = say("CPU_AFFINITY_CONF and the binding of the plugin both choose CPU cores.")
        yield Refusal("extra_env", why, say("Leave it out, or set enable_cpu_binding to false in additional-config."))


def _context_parallel(spec: ServeSpec) -> Iterator[Refusal]:
    prefill = _number(spec, "--prefill-context-parallel-size", "-pcp")
    decode = _number(spec, "--decode-context-parallel-size", "-dcp")
    if prefill > 1 and (spec.pipeline_parallel > 1 or spec.data_parallel > 1):
        why = say("--prefill-context-parallel-size does not go with pipeline or data parallel.")
        yield Refusal("extra_args", why, say("Leave one of them out."))
    if decode > 1 and spec.tensor_parallel % decode:
        why = say(
            "--decode-context-parallel-size {size} does not divide tensor parallel {ranks}.",
            size=decode,
            ranks=spec.tensor_parallel,
        )
        yield Refusal("extra_args", why)


def _number(spec: ServeSpec, *names: str, default: int = 1) -> int:
    for word, value in pairwise(spec.extra_args):
        if word in names and value.isdecimal():
            return int(value)
    return default


def _number_formats(spec: ServeSpec, family: str | None) -> Iterator[Refusal]:
    if family == "310P" and spec.dtype not in ("float16", "half"):
        why = say("The 310P computes float16 only.")
        yield Refusal("dtype", why, say("Use {format}.", format="float16"))
    for word, value in pairwise(spec.extra_args):
        if (
            word == "--kv-cache-dtype"
            and value.startswith(("fp8", "nvfp4", "turboquant"))
            and family in ("A2", "A3", "310P")
        ):
            why = say(
                "{family} chips have no FP8 arithmetic, so --kv-cache-dtype cannot be {value}.",
                family=family,
                value=value,
            )
            yield Refusal("extra_args", why, say("Leave it out. An int8 KV cache comes with C8 weights."))
