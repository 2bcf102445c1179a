# uses: make_alias
make_alias "$engine" "$alias_version"
