"""Everything about one vLLM server: its spec, command, state, backends and client."""
