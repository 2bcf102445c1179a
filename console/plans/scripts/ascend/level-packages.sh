# uses: compare
compare "$(cat "$venv/pinned.txt")" table || fail "The environment differs from the list, see above. Run the steps before \
this one again; if that does not help, delete $venv and begin anew."
if [ -n "$no_triton" ] && "$py" -m pip show triton triton-ascend >/dev/null 2>&1; then
    fail "Neither triton nor triton-ascend may be installed for this chip."
fi
echo 'What pip thinks of it; that vLLM would like another torch is expected here:'
"$py" -m pip check || true
