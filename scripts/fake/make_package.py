"""Makes a package that behaves on a rehearsal host as the vendor's installer does, and nowhere else.

    python scripts/fake/make_package.py KIND VERSION CHIP OUT [--arch aarch64] [--size-mb 1] [--bundle 25.5.1]

KIND is driver, firmware, toolkit, ops or nnal; CHIP is 910b, A3, 310p, 910 or 950 (toolkit and nnal take any word).
OUT ending in `/` or a folder gets the vendor's file name. `--bundle` is the driver a firmware belongs to. The file is a
shell script with a header as makeself writes it and a payload of --size-mb that only has to be carried.
"""

import argparse
import hashlib
import json
import random
import shlex
from pathlib import Path

KINDS = ("driver", "firmware", "toolkit", "ops", "nnal")
LABELS = {"driver": "ASCEND DRIVER RUN PACKAGE", "firmware": "ASCEND {chip} FIRMWARE RUN PACKAGE"}
HEADER = r"""#!/bin/sh
# This archive is simulated: it installs on a rehearsal host only.
label=@LABEL@
sum=@SUM@
skip=@SKIP@
manifest=@MANIFEST@
file=$0
verify() {
  printf 'Verifying archive integrity...  100%%   '
  found=$(tail -n "+$skip" "$file" | sha256sum | cut -d ' ' -f 1)
  if [ "$found" != "$sum" ]; then
    printf 'Error in SHA256 checksums: %s is different from %s\n' "$found" "$sum" >&2
    exit 2
  fi
  echo 'SHA256 checksums are OK. All good.'
}
only='' check=''
for word in "$@"; do
  case $word in
    --noexec) only=yes ;;
    --check) check=yes ;;
    --info) echo "Identification: $label"; exit 0 ;;
    --list) echo manifest.json; exit 0 ;;
  esac
done
verify
[ -z "$check" ] || exit 0
if [ -n "$only" ]; then
  target=''
  for word in "$@"; do
    case $word in --extract=*|--target=*) target=${word#*=} ;; esac
  done
  [ -n "$target" ] || target=./$(basename "$file" .run)
  mkdir -p "$target" && printf '%s\n' "$manifest" >"$target/manifest.json"
  echo "Uncompressing $label  100%"
  exit 0
fi
fake=$(cat "${REHEARSAL_ROOT:-}/run/rehearsal/fake" 2>/dev/null)
if [ -z "$fake" ]; then
  echo 'This package is simulated. It installs on a rehearsal host only.' >&2
  exit 1
fi
echo "Uncompressing $label  100%"
exec "$fake/pretend/ascend-install" "$manifest" "$(basename "$file")" "$@"
"""


def name(kind: str, version: str, chip: str, arch: str = "aarch64") -> str:
    """The vendor's file name; names of operator packages changed with CANN 8.5."""
    if kind == "driver":
        return f"Ascend-hdk-{chip}-npu-driver_{version}_linux-{arch.replace('_', '-')}.run"
    if kind == "firmware":
        return f"Ascend-hdk-{chip}-npu-firmware_{version}.run"
    if kind == "ops":
        return f"{operators(version, chip)}_{version}_linux-{arch}.run"
    return f"Ascend-cann-{kind}_{version}_linux-{arch}.run"


def operators(version: str, chip: str) -> str:
    if tuple(int(part) for part in version.split(".")[:2]) >= (8, 5):
        return f"Ascend-cann-{chip}-ops"
    return "Atlas-A3-cann-kernels" if chip == "A3" else f"Ascend-cann-kernels-{chip}"


def write(
    kind: str, version: str, chip: str, out: Path, *, arch: str = "aarch64", size_mb: float = 1, bundle: str = ""
) -> Path:
    """The package at `out`, or below it under its usual name."""
    if kind not in KINDS:
        raise ValueError(f"{kind}: choose one of {', '.join(KINDS)}")
    if out.is_dir():
        out = out / name(kind, version, chip, arch)
    payload = random.Random(f"{kind} {version} {chip} {arch}").randbytes(round(size_mb * 2**20))
    manifest = {"kind": kind, "version": version, "chip": chip, "arch": arch, "bundle": bundle or version}
    if kind == "ops":
        manifest["package"] = operators(version, chip)
    parts = {
        "LABEL": shlex.quote(LABELS.get(kind, "ASCEND_RUN_PACKAGE").format(chip=f"HDK-{chip.upper()}-NPU")),
        "SUM": hashlib.sha256(payload).hexdigest(),
        "SKIP": str(len(HEADER.splitlines()) + 1),
        "MANIFEST": shlex.quote(json.dumps(manifest)),
    }
    text = HEADER
    for word, value in parts.items():
        text = text.replace(f"@{word}@", value)
    out.write_bytes(text.encode() + payload)
    out.chmod(0o755)
    return out


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("kind", choices=KINDS)
    asked.add_argument("version")
    asked.add_argument("chip")
    asked.add_argument("out", type=Path)
    asked.add_argument("--arch", default="aarch64")
    asked.add_argument("--size-mb", type=float, default=1)
    asked.add_argument("--bundle", default="")
    given = asked.parse_args()
    print(
        write(
            given.kind,
            given.version,
            given.chip,
            given.out,
            arch=given.arch,
            size_mb=given.size_mb,
            bundle=given.bundle,
        )
    )


if __name__ == "__main__":
    main()
