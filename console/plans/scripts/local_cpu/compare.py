"""Compare the packages beside this Python with the wished ones; exit code 1 and one line for each difference.

Reads folder names and RECORD files only, so it takes a fraction of a second and imports nothing that was installed.
"""

import re
import sys
import sysconfig
from pathlib import Path


def main(wished: str, show: str) -> int:
    there = installed(Path(sysconfig.get_path("purelib")))
    rows = [(name, version, there.get(name, "missing")) for name, version in wishes(wished)]
    wrong = [row for row in rows if not same(row[1], row[2])]
    if show == "table":
        print(f"{'package':42} {'wished':16} installed")
        for name, version, seen in rows:
            print(f"{name:42} {version:16} {seen}{'' if same(version, seen) else '   <- differs'}")
    for name, version, seen in wrong:
        print(f"{name}: wished {version}, installed {seen}")
    print(f"{len(rows) - len(wrong)} of {len(rows)} packages as wished")
    return 1 if wrong else 0


def installed(site: Path) -> dict[str, str]:
    """Name -> version of what was installed to the end."""
    found = {}
    for info in site.glob("*.dist-info"):
        name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
        record = info / "RECORD"
        if record.is_file() and "INSTALLER" in record.read_text("utf-8", "replace"):
            found[re.sub(r"[-_.]+", "-", name).lower()] = version
    return found


def wishes(text: str) -> list[tuple[str, str]]:
    """From lines `name==version` or `name==version ; python_version >= "3.12"`, those for this Python."""
    found = []
    for line in text.split("\n"):
        match = re.match(r'([^=]+)==(\S+)(?: ; python_version (<|>=) "3\.(\d+)")?$', line)
        if match and (not match[3] or (sys.version_info[1] >= int(match[4])) == (match[3] == ">=")):
            found.append((match[1], match[2]))
    return found


def same(wished: str, seen: str) -> bool:
    """A wish without a local part (+cpu) accepts any."""
    return seen == wished or ("+" not in wished and seen.partition("+")[0] == wished)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
