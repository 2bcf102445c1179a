"""Functions and modules stay short enough to read, and names say what a thing is."""

import ast
import re
import statistics
from collections.abc import Iterator

from tests.house.tree import ROOT, modules, tree

OURS = modules("console", "db", "pages", "scripts")
EVERYTHING = [*OURS, *modules("tests")]
VAGUE = {"manager", "helper", "util", "service", "handler", "base"}
LONGEST_FUNCTION, LONGEST_MODULE, LONGEST_PAGE = 60, 300, 119
PUT_OFF = re.compile(r"#.*\b(TODO|FIXME|XXX|HACK)\b|raise NotImplementedError")


def functions(name: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree(name)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def lines(name: str) -> list[str]:
    return (ROOT / name).read_text().splitlines()


def words(name: str) -> set[str]:
    """The words of a name, singular too: "HTTPHandlers" and "http_handlers" both hold "handler"."""
    found = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    return {*found, *(word.removesuffix("s") for word in found)}


def names(module: str) -> set[str]:
    """What the module defines, and the parts of its path."""
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    defined = {node.name for node in ast.walk(tree(module)) if isinstance(node, definitions)}
    return defined | set(module.removesuffix(".py").split("/"))


def test_functions_are_short() -> None:
    long = {f"{name}:{node.name}": length(node) for name in EVERYTHING for node in functions(name)}
    assert {where: size for where, size in long.items() if size > LONGEST_FUNCTION} == {}


def test_most_functions_are_very_short() -> None:
    assert statistics.median(length(node) for name in OURS for node in functions(name)) <= 12


def test_modules_are_short() -> None:
    sizes = {name: len(lines(name)) for name in EVERYTHING}
    limits = {name: LONGEST_PAGE if name.startswith("pages/") else LONGEST_MODULE for name in EVERYTHING}
    assert {name: size for name, size in sizes.items() if size > limits[name]} == {}


def test_names_are_not_vague() -> None:
    vague = {module: {name for name in names(module) if words(name) & VAGUE} for module in EVERYTHING}
    assert {module: found for module, found in vague.items() if found} == {}


def test_every_module_says_what_it_is() -> None:
    assert [name for name in EVERYTHING if not ast.get_docstring(tree(name))] == []


def test_nothing_is_put_off() -> None:
    assert [f"{name}: {line.strip()}" for name in OURS for line in lines(name) if PUT_OFF.search(line)] == []


def test_the_words_of_a_name_are_found_however_it_is_written() -> None:
    for name in ("HTTPHandlers", "http_handlers", "BaseHandler", "_handler2", "runHandler"):
        assert "handler" in words(name)
    assert not words("database rebased serving_handled") & VAGUE
