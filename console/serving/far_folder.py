"""A folder of a host as the judgement of a model needs it, brought in two round trips whatever the number of shards.

The first lists files with sizes and times; the second brings what is read of them in one compressed stream:
settings whole, the beginnings of tokenizers, and of each shard its header.
"""

import base64
import gzip
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from console.errors import HostError
from console.hosts.runner import Runner
from console.serving.folder import MOST
from console.serving.weight_files import INDEXES
from console.text import say

LIST_S, FETCH_S = 30.0, 180.0
WHOLE = ("config.json", "tokenizer_config.json", "pilot-model.json")
BEGINNING = 64
"""Bytes of any other file that is looked into: enough to see a pointer of Git LFS."""
BEGINNINGS = ("tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json", "tiktoken.model")


@dataclass(frozen=True)
class Listed:
    """One folder of a host: `kind` is dir, file, absent or closed; files by name -> (bytes, Unix seconds)."""

    folder: str
    kind: str = "absent"
    files: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    closed: frozenset[str] = frozenset()
    downloads: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FarFolder:
    """Satisfies Folder. What was not brought beforehand is asked for when it is read, if there is a `runner`."""

    runner: Runner | None
    listed: Listed
    brought: Mapping[str, bytes]

    def list(self, below: str = "") -> Mapping[str, int]:
        if self.listed.kind == "closed":
            raise PermissionError(13, "Permission denied")
        found = self.listed.downloads if below else self.listed.files
        return {name: size for name, (size, _) in sorted(found.items())}

    def unreadable(self) -> frozenset[str]:
        return self.listed.closed

    def links(self) -> Mapping[str, str]:
        return self.listed.links

    def read(self, name: str, offset: int = 0, length: int = MOST) -> bytes:
        size = self.listed.files.get(name, (0, 0))[0]
        known, end = self.brought.get(name), min(size, offset + length)
        if known is not None and len(known) >= end:
            return known[offset:end]
        return self._asked(name, offset, length)

    def _asked(self, name: str, offset: int, length: int) -> bytes:
        if self.runner is None:
            raise OSError("it was not kept")
        path = shlex.quote(f"{self.listed.folder}/{name}")
        script = f"[ -r {path} ] || exit 1; tail -c +{offset + 1} {path} | head -c {length} | gzip -c | base64"
        try:
            outcome = self.runner.run(script, timeout_s=FETCH_S)
        except HostError as error:
            raise OSError(str(error)) from error
        if outcome.code != 0:
            raise OSError(outcome.err.strip() or f"exit code {outcome.code}")
        return unpacked(outcome.out)


def listed(runner: Runner, folders: Sequence[str], below: str) -> list[Listed]:
    """These folders, and before them every folder in `below` ("" for none) that holds a config.json. HostError."""
    words = " ".join(shlex.quote(one) for one in folders)
    outcome = runner.run(f"below={shlex.quote(below)}\nset -- {words}\n{LIST}", timeout_s=LIST_S)
    if outcome.code != 0:
        raise HostError(
            say("The model folders could not be listed: {error}", error=outcome.err.strip() or f"code {outcome.code}")
        )
    parts = outcome.out.split("\nfolder ")[1:]
    return list({one.folder: one for one in map(read_listed, parts)}.values())


def brought(runner: Runner, one: Listed) -> FarFolder:
    """The folder with everything that is usually read of it. HostError when the host does not give it."""
    wanted = _wanted(one)
    if not wanted:
        return FarFolder(runner, one, {})
    script = f"folder={shlex.quote(one.folder)} most={MOST}\n{FETCH}"
    outcome = runner.run(script, timeout_s=FETCH_S, stdin="".join(f"{line}\n" for line in wanted).encode())
    head, _, packed = outcome.out.partition("\n\n")
    lengths = [line.split(" ", 1) for line in head.splitlines() if line]
    try:
        whole = unpacked(packed)
    except OSError:
        whole = b""
    if outcome.code != 0 or len(whole) != sum(int(length) for length, _ in lengths):
        why = outcome.err.strip() or say("it changed while it was read")
        raise HostError(say("The model folder {folder} could not be read: {error}", folder=one.folder, error=why))
    found, at = {}, 0
    for length, name in lengths:
        found[name], at = whole[at : at + int(length)], at + int(length)
    return FarFolder(runner, one, found)


def read_listed(part: str) -> Listed:
    """One folder as LIST prints it, after the word `folder`."""
    folder, *lines = part.splitlines()
    kind, closed, links = "dir", set(), {}
    found: dict[str, dict[str, tuple[int, int]]] = {"here": {}, "download": {}}
    for line in lines:
        word, _, rest = line.partition(" ")
        if word in found and len(fields := rest.split(" ", 2)) == 3:
            found[word][fields[2].rsplit("/", 1)[-1]] = (int(fields[0]), int(fields[1]))
        elif word == "unreadable":
            closed.add(rest)
        elif word == "link" and "/" in rest:  # a name has no slash, so the first one begins where it leads
            name, slash, target = rest.partition("/")
            links[name[:-1]] = slash + target
        elif word in ("absent", "file", "closed") and not rest:
            kind = word
    return Listed(folder, kind, found["here"], frozenset(closed), found["download"], links)


def _wanted(one: Listed) -> list[str]:
    return list(_lines((name, size) for name, (size, _) in sorted(one.files.items()) if name not in one.closed))


def _lines(files: Iterable[tuple[str, int]]) -> Iterable[str]:
    for name, size in files:
        if name in WHOLE or name.endswith(INDEXES):
            yield f"whole {min(size, MOST)} {name}"
        elif name in BEGINNINGS or name.endswith(".tiktoken"):
            yield f"whole {min(size, BEGINNING)} {name}"
        elif name.endswith(".safetensors"):
            yield f"shard {size} {name}"


def unpacked(packed: str) -> bytes:
    """OSError when it is not whole."""
    try:
        return gzip.decompress(base64.b64decode(packed))
    except (ValueError, EOFError) as error:
        raise OSError(str(error)) from error


LIST = r"""
LC_ALL=C; export LC_ALL
files() {  # KIND FOLDER: the regular files in it, and which of all may not be read
  kind=$1 at=$2; set --
  for one in "$at"/* "$at"/.[!.]*; do
    [ -d "$one" ] && continue
    [ -e "$one" ] || [ -L "$one" ] || continue
    [ -r "$one" ] || [ "$kind" = download ] || printf 'unreadable %s\n' "${one##*/}"
    [ -f "$one" ] || continue
    set -- "$@" "$one"
    [ -L "$one" ] && [ "$kind" = here ] && leads=$(readlink -f "$one") && case $leads in
      "$real"/*) ;;
      *) printf 'link %s %s\n' "${one##*/}" "$leads";;
    esac
  done
  [ $# -eq 0 ] || stat -L -c "$kind %s %Y %n" "$@"
}
show() {
  printf '\nfolder %s\n' "$1"
  if [ ! -e "$1" ]; then echo absent
  elif [ ! -d "$1" ]; then echo file
  elif ! ls "$1" >/dev/null 2>&1 || [ ! -x "$1" ]; then echo closed
  else real=$(readlink -f "$1"); files here "$1"; files download "$1/.cache/huggingface/download"; fi
}
if [ -n "$below" ]; then
  for config in "$below"/*/config.json; do
    [ -e "$config" ] && show "${config%/config.json}"
  done
fi
for folder; do show "$folder"; done
exit 0
"""

FETCH = r"""
cd "$folder" || exit 1
newline='
'
plan=''
while read -r kind size name; do
  if [ "$kind" = shard ]; then
    want=64
    set -- $(od -An -tu1 -N8 "./$name")
    [ $# -eq 8 ] && [ $(($5+$6+$7+$8)) -eq 0 ] && want=$((8+$1+$2*256+$3*65536+$4*16777216))
    if [ "$want" -lt 64 ] || [ "$want" -gt "$most" ]; then want=64; fi
    [ "$want" -le "$size" ] || want=$size
  else
    want=$size
  fi
  plan="$plan$want $name$newline"
done
printf '%s\n' "$plan"
printf '%s' "$plan" | while read -r want name; do head -c "$want" "./$name"; done | gzip -c | base64
"""
