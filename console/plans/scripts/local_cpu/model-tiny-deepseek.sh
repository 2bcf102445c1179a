# uses: make_noise publish
scratch
room 300 "the model"
export HF_HOME="$cache/tmp"
rm -rf "$model.part"
make_noise "$tokenizer" "$model.part" "$settings" "$seed"
publish "$model.part" "$model" "$recipe"
