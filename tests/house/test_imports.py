"""pages -> console -> db, and only the rooms that must touch the outside do."""

import sys
from collections.abc import Iterable

import pytest

from tests.house.tree import ROOT, modules, reaches

DECIDING = tuple(
    f"console/{room}"
    for room in (
        "facts/", "checks/", "plans/", "catalog/", "diagnose/",
        "serving/asked.py", "serving/ascend.py", "serving/conflicts.py", "serving/explain", "serving/exports.py",
        "serving/known.py", "serving/options.py", "serving/backends/", "serving/spec.py", "serving/fit.py",
        "serving/command.py", "serving/state.py", "metrics/exposition.py",
        "serving/shape.py", "serving/layout.py", "serving/reserve.py", "serving/room.py", "serving/rules.py",
        "serving/remarks.py", "serving/measured.py",
    )
)  # fmt: skip
CONSOLE, PAGES, DB = modules("console"), modules("pages"), modules("db")


def offenders(names: Iterable[str], *packages: str) -> dict[str, list[str]]:
    """Module -> what it imports of `packages`. Refuses to judge an empty list, which would always pass."""
    names = list(names)
    assert names
    return {name: reached for name in names if (reached := reaches(name, *packages))}


def test_db_imports_nothing_of_ours() -> None:
    assert offenders(DB, "console", "pages", "streamlit", "paramiko", "subprocess") == {}


def test_console_does_not_know_its_pages() -> None:
    assert offenders(CONSOLE, "pages") == {}


def test_pages_reach_the_database_through_the_console_only() -> None:
    assert offenders(PAGES, "db", "sqlalchemy", "paramiko", "subprocess") == {}


def test_only_the_surface_imports_streamlit() -> None:
    assert offenders((name for name in CONSOLE if not name.startswith("console/surface/")), "streamlit") == {}


def test_only_hosts_imports_paramiko_or_subprocess() -> None:
    others = (name for name in CONSOLE if not name.startswith("console/hosts/"))
    assert offenders(others, "paramiko", "subprocess") == {}


def test_what_decides_touches_nothing() -> None:
    deciding = (name for name in CONSOLE if name.startswith(DECIDING))
    outside = ("db", "sqlalchemy", "paramiko", "subprocess", "streamlit", "console.records", "console.surface")
    assert offenders(deciding, *outside) == {}


@pytest.mark.parametrize("folder", ["pages", "console"])
def test_no_file_hides_a_module_of_the_standard_library(folder: str) -> None:
    # Streamlit and `python -m` put both folders at the front of sys.path.
    names = {path.stem for path in (ROOT / folder).iterdir() if path.suffix == ".py" or path.is_dir()}
    assert names & set(sys.stdlib_module_names) == set()
