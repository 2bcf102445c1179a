"""Write the two lock files from pyproject.toml: every package the console and its tests need, pinned and hashed.

Needs an index that can be reached; the files name none, so that whoever installs uses the index of the machine.
    python scripts/lock.py [--check] [--upgrade]
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS = {"requirements.lock.txt": [], "requirements-test.lock.txt": ["--extra", "test"]}
OPTIONS = ["--universal", "--python-version", "3.11", "--generate-hashes", "--no-annotate", "--no-header"]
OPTIONS += ["--no-emit-index-url", "--no-emit-find-links", "--quiet"]


def main() -> int:
    """With --check nothing is written; the exit code is 1 if a lock no longer follows from pyproject.toml."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions that pyproject.toml allows")
    chosen = parser.parse_args()
    changed = [name for name, extra in LOCKS.items() if _write(ROOT / name, extra, chosen)]
    for name in changed:
        print(f"{name} {'is out of date: run scripts/lock.py' if chosen.check else 'changed'}")
    return 1 if changed and chosen.check else 0


def _write(lock: Path, extra: list[str], chosen: argparse.Namespace) -> bool:
    """True if the lock differs from what pyproject.toml asks for. Present pins are kept unless --upgrade is given."""
    before = lock.read_text() if lock.exists() else ""
    made = lock.with_suffix(".new")
    if before and not chosen.upgrade:
        made.write_text(before)
    made_by = [_uv(), "pip", "compile", "pyproject.toml", *extra, *OPTIONS, "--output-file", made.name]
    try:
        subprocess.run(made_by, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        after = made.read_text()
        if "://" in after or str(ROOT) in after:
            sys.exit(f"{lock.name} would name an address or a path of this machine")
        if after != before and not chosen.check:
            made.replace(lock)
        return after != before
    finally:
        made.unlink(missing_ok=True)


def _uv() -> str:
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    return found or sys.exit("uv is missing: run this with .test-venv/bin/python, or `pip install uv`")


if __name__ == "__main__":
    sys.exit(main())
