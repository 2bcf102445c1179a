"""What each setting of a server is called where people read it: the form, a table, a sentence."""

from collections.abc import Mapping

from console.text import Text, say, verbatim

LABELS: Mapping[str, Text] = {
    "backend": say("How vLLM runs"),
    "model_folder": say("Model"),
    "served_name": say("Served name"),
    "host": say("Who can reach it"),
    "port": say("Port"),
    "tensor_parallel": say("Tensor parallel"),
    "pipeline_parallel": say("Pipeline parallel"),
    "data_parallel": say("Data parallel"),
    "expert_parallel": say("Expert parallel"),
    "dtype": say("Number format"),
    "context": say("Context in tokens"),
    "kv_space_gib": say("KV cache (GiB for each tensor-parallel process)"),
    "max_num_seqs": say("Requests at the same time"),
    "max_batched_tokens": say("Tokens in one step"),
    "core_ids": say("CPU cores"),
    "api_key": say("Ask clients for an API key"),
    "extra_env": say("Environment"),
    "release": say("Release of vLLM-Ascend"),
    "chip": say("Chip"),
    "device_ids": say("Cards"),
    "utilization": say("Share of the memory"),
    "quantization": say("Quantization"),
    "enforce_eager": say("Without captured graphs (eager)"),
    "compilation": say("Captured graphs"),
    "prefix_caching": say("Prefix caching"),
    "chunked_prefill": say("Chunked prefill"),
    "async_scheduling": say("Async scheduling"),
    "speculative": say("Speculative decoding"),
    "reasoning_parser": say("Parser of thoughts"),
    "tool_parser": say("Parser of tool calls"),
    "tokenizer_mode": say("Tokenizer mode"),
    "trust_remote_code": say("Run code that comes with the weights"),
    "lora_modules": say("LoRA adapters"),
    "additional_config": say("Settings of the Ascend plugin"),
    "extra_args": say("Other options, as on a command line"),
    "image": say("Image"),
    "mounts": say("More folders"),
    "shm_gib": say("Shared memory (GiB)"),
    "network": say("Network"),
}
"""Field of ServeSpec -> its name for people."""


def label(name: str) -> Text:
    """The name of a field; a word that is none, such as an option, as it stands."""
    return LABELS.get(name) or verbatim(name)
