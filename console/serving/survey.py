"""Every model folder of a host, wherever it lies, found and looked into in one round trip, and kept with its time.

What is kept is what the host said; it is judged again whenever it is read, so better rules hold for old answers too.
"""

import base64
import gzip
import json
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass

from console.errors import HostError
from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.runner import Runner
from console.serving.far_folder import BEGINNING, BEGINNINGS, FETCH, LIST, WHOLE, FarFolder, read_listed, unpacked
from console.serving.folder import MOST
from console.serving.weight_files import INDEXES
from console.serving.weights import ModelFolder, inspect
from console.settings import settings
from console.text import say

ROOTS = ("/data", "/data1", "/data2", "/models", "/model", "/mnt", "/home", "/root", "/opt", "/srv", "/nvme", "/ssd")
"""Where people keep models; a root that is not there costs nothing."""
DEPTH, FIND_S, SURVEY_S = 8, 20, 240.0
MOST_FOLDERS = 100


@dataclass(frozen=True)
class Survey:
    """What a host showed at `time` (Unix seconds). cut: the search ran out of time, or met more than it may report."""

    time: float
    models: tuple[ModelFolder, ...]
    roots: tuple[str, ...]
    cut: bool


def survey(host: Host, roots: Sequence[str] = ()) -> Survey:
    """Ask the host now, and keep what it says. HostError when it cannot be asked."""
    wanted = (f"{host.work_folder}/models", *(roots or ROOTS))
    said = asked(inventory.runner(host), wanted)
    now = time.time()
    file = settings().data / "surveys" / f"{host.id}.json"
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    kept = base64.b64encode(gzip.compress(said.encode("utf-8", "surrogateescape"))).decode()
    part.write_text(json.dumps({"time": now, "roots": wanted, "said": kept}), "utf-8")
    part.replace(file)
    return Survey(now, *_understood(said, wanted))


def last(host: Host) -> Survey | None:
    """What the host showed when it was asked last; None when it never was."""
    try:
        kept = json.loads((settings().data / "surveys" / f"{host.id}.json").read_text("utf-8"))
        said = gzip.decompress(base64.b64decode(kept["said"])).decode("utf-8", "surrogateescape")
        return Survey(float(kept["time"]), *_understood(said, tuple(kept["roots"])))
    except (OSError, ValueError, KeyError, TypeError, EOFError):
        return None


def asked(runner: Runner, roots: Sequence[str]) -> str:
    """What the host says of every folder with weights or a model's config.json below these."""
    words = " ".join(shlex.quote(one) for one in roots)
    values = f"depth={DEPTH} seconds={FIND_S} most_folders={MOST_FOLDERS} most={MOST} begin={BEGINNING}\n"
    outcome = runner.run(f"{values}set -- {words}\n{SEARCH}", timeout_s=SURVEY_S)
    if outcome.code != 0:
        why = outcome.err.strip() or f"code {outcome.code}"
        raise HostError(say("The host could not be searched for models: {error}", error=why))
    return outcome.out


def _understood(said: str, roots: tuple[str, ...]) -> tuple[tuple[ModelFolder, ...], tuple[str, ...], bool]:
    head, *parts = said.split("\nfolder ")
    found = {}
    for part in parts:
        listing, _, rest = part.partition("\nbrought\n")
        listed = read_listed(listing)
        found[listed.folder] = inspect(listed.folder, FarFolder(None, listed, _brought(rest)))
    return tuple(found.values()), roots, "cut" in head.split()


def _brought(rest: str) -> dict[str, bytes]:
    """Name -> what came of it; nothing of a folder that changed while it was read."""
    head, several, packed = rest.partition("\n\n")
    if not several:
        return {}
    lengths = [line.split(" ", 1) for line in head.splitlines() if line]
    try:
        whole = unpacked(packed)
    except OSError:
        return {}
    if len(whole) != sum(int(length) for length, _ in lengths):
        return {}
    found, at = {}, 0
    for length, name in lengths:
        found[name], at = whole[at : at + int(length)], at + int(length)
    return found


_NAMES = "|".join(WHOLE)
_BEGINNINGS = "|".join((*BEGINNINGS, "*.tiktoken"))
SEARCH = (
    (
        LIST.rsplit('if [ -n "$below" ]', 1)[0]
        + r"""
wants() {  # the same choice as the console makes for one folder
  for one in "$1"/*; do
    [ -f "$one" ] && [ -r "$one" ] || continue
    name=${one##*/}
    case $name in
      NAMES|*INDEXES) kind=whole;;
      BEGINNINGS) kind=begin;;
      *.safetensors) kind=shard;;
      *) continue;;
    esac
    printf '%s %s %s\n' "$kind" "$(stat -L -c %s "$one")" "$name"
  done
}
pack() {
FETCH
}
found=$(mktemp) || exit 1
trap 'rm -f "$found"' EXIT
limit() { if command -v timeout >/dev/null 2>&1; then timeout "$seconds" "$@"; else "$@"; fi; }
for root; do [ -d "$root" ] && printf '%s\0' "$root"; done >"$found.roots"
limit xargs -0 -r sh -c 'depth=$1; shift; exec find -L "$@" -maxdepth "$depth" \
  \( -name proc -o -name sys -o -name node_modules -o -name site-packages -o -name .git -o -name .no_exist \
     -o -name Ascend -o -name overlay2 -o -name .Trash \) -prune -o \
  -type f \( -name config.json -o -name "*.safetensors.index.json" -o -name "*.safetensors" \) -print 2>/dev/null' \
  find "$depth" <"$found.roots" >"$found.files"
code=$?
rm -f "$found.roots"
[ $code -eq 124 ] && echo cut
sed 's|/[^/]*$||' "$found.files" | sort -u >"$found"
rm -f "$found.files"
[ "$(wc -l <"$found")" -le "$most_folders" ] || echo cut
head -n "$most_folders" "$found" | while IFS= read -r folder; do
  set -- "$folder"/*.safetensors "$folder"/*.safetensors.index.json
  weights=no
  for one; do [ -e "$one" ] && weights=yes && break; done
  if [ $weights = no ]; then grep -q '"architectures"' "$folder/config.json" 2>/dev/null || continue; fi
  show "$folder"
  printf '\nbrought\n'
  wants "$folder" | while read -r kind size name; do
    if [ "$kind" = begin ]; then kind=whole; [ "$size" -le "$begin" ] || size=$begin; fi
    if [ "$kind" = whole ] && [ "$size" -gt "$most" ]; then size=$most; fi
    printf '%s %s %s\n' "$kind" "$size" "$name"
  done | (pack)
done
exit 0
"""
    )
    .replace("NAMES", _NAMES)
    .replace("*INDEXES", f"*{INDEXES}")
    .replace("BEGINNINGS", _BEGINNINGS)
    .replace("FETCH", FETCH)
)
"""Prints `cut` when it did not see everything, then for each folder its listing and what is read of its files."""
