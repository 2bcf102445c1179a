with_cann "$py" -c "$look_torch" || fail "PyTorch does not see the NPUs; what Python said is above. If a library was \
not found, CANN or NNAL are not complete; if no device was found, $login may lack the group HwHiAiUser (log in anew)."
