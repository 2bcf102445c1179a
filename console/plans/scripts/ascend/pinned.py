"""The pinned list of a stack: `list WHEELS LOCK PINS` prints all of it, `part FILE GROUP` the lines of one group,
`hashed FILE LOCKFILE` those lines of a file for which the lock knows SHA-256 values, with them, `plain` the others.

WHEELS is a folder whose wheels are the list, or empty; of several versions that in the manifest of the bundle counts.
LOCK is the text of a list, or empty; PINS `name==version` lines that must be part of it. GROUP names the packages of
the part; with a leading `-`, all but these.
"""

import json
import re
import sys
from pathlib import Path


def main(verb: str, *words: str) -> int:
    if verb in ("hashed", "plain"):
        return with_hashes(*words, wanted=verb == "hashed")
    return part(*words) if verb == "part" else whole(*words)


def whole(wheels: str, lock: str, pins: str) -> int:
    listed = of_text(lock) if lock else of_folder(Path(wheels))
    if listed is None:
        return 1
    wrong = []
    for name, version in of_text(pins).items():
        seen = listed.get(name)
        if seen is None or not same(version, seen):
            wrong.append(f"{name}: the stack needs {version}, here is {seen or 'none'}")
    for line in wrong:
        print(line, file=sys.stderr)
    print("\n".join(f"{name}=={version}" for name, version in sorted(listed.items())))
    return 1 if wrong else 0


def part(file: str, group: str) -> int:
    names, rest = [normal(one) for one in group.lstrip("-").split()], group.startswith("-")
    for name, version in of_text(Path(file).read_text("utf-8")).items():
        if (name in names) != rest:
            print(f"{name}=={version}")
    return 0


def with_hashes(file: str, lock: str, *, wanted: bool) -> int:
    known = hashes_of(Path(lock).read_text("utf-8")) if Path(lock).exists() else {}
    for name, version in of_text(Path(file).read_text("utf-8")).items():
        values = known.get((name, version), [])
        if bool(values) == wanted:
            print(" ".join([f"{name}=={version}", *values]))
    return 0


def hashes_of(lock: str) -> "dict[tuple[str, str], list[str]]":
    found: dict[tuple[str, str], list[str]] = {}
    of: list[str] = []
    for line in lock.splitlines():
        match = re.match(r"([A-Za-z0-9][\w.-]*)==([\w.+!-]+)", line)
        if match:
            of = found.setdefault((normal(match[1]), match[2]), [])
        of += re.findall(r"--hash=sha256:[0-9a-f]{64}", line)
    return found


def of_text(text: str) -> "dict[str, str]":
    found = {}
    for line in text.splitlines():
        match = re.match(r"([A-Za-z0-9][\w.-]*)==([\w.+!-]+)", line.strip())
        if match:
            found[normal(match[1])] = match[2]
    return found


def of_folder(folder: Path) -> "dict[str, str] | None":
    """What the wheels of a folder are called; None, with the reason, when that is not one list."""
    files = sorted(folder.glob("*.whl"))
    if not files:
        print(f"There are no wheels in {folder}. Push the bundle of this host, or put them there.", file=sys.stderr)
        return None
    found: dict[str, set[str]] = {}
    for file in files:
        name, version = file.name.split("-")[:2]
        found.setdefault(normal(name), set()).add(version)
    newest = of_bundle(folder.parent / "manifest.json")
    for name, versions in found.items():
        if len(versions) > 1 and (chosen := versions & newest.get(name, set())):
            found[name] = chosen
    doubled = {name: versions for name, versions in found.items() if len(versions) > 1}
    for name, versions in doubled.items():
        print(
            f"{name}: several versions lie in {folder}: {', '.join(sorted(versions))}. Delete all but the one that is "
            "meant, then run this step again.",
            file=sys.stderr,
        )
    return None if doubled else {name: versions.pop() for name, versions in found.items()}


def of_bundle(manifest: Path) -> "dict[str, set[str]]":
    """The wheels of the bundle that was pushed last; what an earlier one left in the folder is not part of it."""
    try:
        paths = [str(one["path"]) for one in json.loads(manifest.read_text("utf-8"))["files"]]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    found: dict[str, set[str]] = {}
    for path in paths:
        name, _, rest = path.rpartition("/")[2].partition("-")
        if path.endswith(".whl"):
            found.setdefault(normal(name), set()).add(rest.partition("-")[0])
    return found


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def same(wished: str, seen: str) -> bool:
    """A wish without a local part (+cpu) accepts any."""
    return seen == wished or ("+" not in wished and seen.partition("+")[0] == wished)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
