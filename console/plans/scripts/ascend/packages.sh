# uses: engine_words archive_words
# Everything is looked at before anything is changed.
for name in $files; do
    package_here "$name"
    echo "whole: $name"
done
# Of each package some wheel must load on this machine with the Python of the environment: its tags are in its name.
if [ -n "$python" ]; then
    unfit=$(for one in "$wheels"/*.whl; do [ -e "$one" ] && printf '%s\n' "${one##*/}"; done |
        awk -F- -v newest="${python#3.}" -v arch="$machine" '
            function loads(tag, abi) {
                if (tag == "py3" || tag == "cp3" newest) return 1
                return tag ~ /^py3[0-9]+$/ || (tag ~ /^cp3[0-9]+$/ && abi ~ /abi3/) ? substr(tag, 4) + 0 <= newest + 0 : 0
            }
            NF >= 5 {
                known[$1] = $0
                tags = split($(NF - 2), tag, ".")
                if ($NF !~ /^any\./ && index($NF, "_" arch) == 0) next
                for (i = 1; i <= tags; i++) if (loads(tag[i], $(NF - 1))) fits[$1] = 1
            }
            END { for (name in known) if (!(name in fits)) print known[name] }')
    [ -z "$unfit" ] || fail "$(printf '%s\n' "$unfit" | wc -l | tr -d ' ') packages in $wheels have no wheel for Python $python on \
$machine, such as $(printf '%s\n' "$unfit" | sort | head -n 1). Build the bundle with --python $python --arch $machine, push it, then run \
this step again. Nothing was changed on this host."
fi
if [ -n "$image" ] && [ -z "$(archive)" ]; then
    engine image inspect "$image" >/dev/null 2>&1 || no_archive
fi
mkdir -p "$notes"
printf '%s\n' "$files" >"$notes/packages-looked-at"
