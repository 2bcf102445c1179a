"""A rehearsal host for one test: its own mounts, furnished by the real program, asked in one shell after the other."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from console.facts.ascend import FACTS
from console.facts.fact import Fact
from console.facts.probe import Facts, probe_script, read, split
from tests.running import ROOT

FAKE = ROOT / "scripts" / "fake"
PRIVATE = ("/etc", "/usr/local", "/usr/lib", "/opt", "/var", "/home", "/root")
PATH = f"{FAKE / 'bin'}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NODES = ("null", "zero", "full", "random", "urandom", "tty")
TOKEN = "0123456789abcdef0123456789abcdef"
PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
SCENARIOS = sorted(file.stem for file in (FAKE / "scenarios").glob("*.json"))


@dataclass(frozen=True)
class Host:
    """`folder` keeps what was written, so that one test can boot the same host several times."""

    folder: Path
    scenario: str

    def run(self, script: str, *, boot: bool = True, env: dict[str, str] | None = None, code: int | None = 0) -> str:
        """What `script` prints on both streams after a boot; `code` is what it must end with, None = anything."""
        began = "furnish" if boot else ":"
        words = ["unshare", "-Urm", "--propagation", "private", "sh", "-c", _SETUP, "sh", script, began]
        environment = {
            "PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", "DATA": str(self.folder), "SCENARIO": self.scenario,
            "FAKE": str(FAKE), "PYTHON": PYTHON, "PRIVATE": " ".join(PRIVATE), "NODES": " ".join(NODES), **(env or {}),
        }  # fmt: skip
        done = subprocess.run(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            env=environment,
            check=False,
        )
        assert code is None or done.returncode == code, done.stdout
        return done.stdout


_SETUP = r"""
set -e
for d in $PRIVATE; do
  [ -d "$d" ] || continue
  mkdir -p "$DATA$d/upper" "$DATA$d/work"
  mount -t overlay overlay -o "lowerdir=$d,upperdir=$DATA$d/upper,workdir=$DATA$d/work,userxattr" "$d"
done
mkdir -p "$DATA/dev" && mount -t tmpfs tmpfs "$DATA/dev"
for n in $NODES; do : >"$DATA/dev/$n"; mount --bind "/dev/$n" "$DATA/dev/$n"; done
mkdir "$DATA/dev/shm" && mount -t tmpfs tmpfs "$DATA/dev/shm"
ln -s /proc/self/fd "$DATA/dev/fd"
mount --rbind "$DATA/dev" /dev
mount -t tmpfs tmpfs /run
mkdir -p /run/rehearsal
echo $$ >/run/rehearsal/init.pid
furnish() { "$PYTHON" -IS "$FAKE/furnish.py" "$SCENARIO" --bind; }
$2
set +e
cd "$HOME"
sh -c "$1"
"""


@cache
def why_not() -> str:
    """Why no such host can be made here; empty when it can."""
    if os.geteuid() != 0:
        return "needs root: an ordinary user's overlay cannot change files of root (the console's own way can)"
    if not shutil.which("unshare"):
        return "unshare is not installed"
    tried = subprocess.run(["unshare", "-Urm", "true"], capture_output=True, text=True, check=False)
    return "" if tried.returncode == 0 else f"no user namespaces here: {tried.stderr.strip()}"


def probed(host: Host, facts: Sequence[Fact] = FACTS) -> Facts:
    """What the console's own probe learns of a freshly booted host."""
    script = probe_script(facts, TOKEN, {"PILOT_FOLDER": "/root/pilot", "PILOT_PORT": "8000"})
    return read(split(host.run(script), TOKEN), facts)
