scratch
printf 'pip==%s --hash=sha256:%s\n' "$pip_version" "$pip_sha256" >pip.txt
"$py" -m pip install --no-deps --require-hashes --only-binary :all: --cache-dir "$cache/pip" -r pip.txt ||
    fail "pip $pip_version could not be fetched from the package index of this host. What pip said is above. \
Check its address (pip config list) and the network, then run this job again."
