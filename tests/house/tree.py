"""The project's own files, read once: what git tracks, and the Python among it as syntax trees."""

import ast
import functools
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def tracked() -> tuple[str, ...]:
    """Files git tracks or would (not those it ignores), relative to the checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(sorted(name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()))


def modules(*folders: str) -> list[str]:
    """Python files below `folders`, relative to the checkout."""
    return [name for name in tracked() if name.endswith(".py") and name.startswith(tuple(f"{one}/" for one in folders))]


@functools.cache
def tree(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text(), name)


@functools.cache
def imported(name: str) -> frozenset[str]:
    """Dotted names that the module imports, anywhere in it: `from a import b` counts as a and a.b."""
    found = set()
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{name}:{node.lineno}: write the whole name of the module"
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def reaches(name: str, *packages: str) -> list[str]:
    """What the module imports of `packages`."""
    return sorted(
        one for one in imported(name) if one.startswith(tuple(f"{package}." for package in packages)) or one in packages
    )
