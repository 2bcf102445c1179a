# uses: compare pins
rm -f "$venv/complete.json"
compare "$(pins)
vllm==$alias_version" table || fail "The runtime differs from the list, see above. Run this job again; if that does not \
help, delete $venv and run it once more."
echo "Importing torch and vllm"
"$py" -c 'import torch, vllm; print("torch", torch.__version__, "vllm", vllm.__version__)' ||
    fail "The packages are all there, but torch and vllm cannot be imported; what Python said is above."
version=$("$venv/bin/vllm" --version) || fail "vllm --version failed; what it said is above."
echo "vllm --version: $version"
printf '{"version": "%s"}\n' "$version" | tail -n 1 >"$venv/complete.json.part"
mv "$venv/complete.json.part" "$venv/complete.json"
