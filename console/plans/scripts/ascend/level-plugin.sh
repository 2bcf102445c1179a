with_cann "$py" -c "$look_plugin" || fail "vLLM and its plugin do not load together; what Python said is above."
