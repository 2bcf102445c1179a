"""How vLLM lives on a host: one file per backend."""
