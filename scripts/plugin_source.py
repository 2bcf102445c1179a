"""Reads the additional-config keys and variables of vllm-ascend out of its source, without running any of it."""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from scripts.parser_source import UNKNOWN, Source

GROUPS = re.compile(r"config$")


def plugin_of(texts: Mapping[str, str]) -> dict[str, Any]:
    """The vLLM it goes with, the keys it reads with their defaults, and the variables.

    strict  whether a key it does not know stops the start; otherwise it is ignored in silence
    """
    trees = {path: ast.parse(text) for path, text in texts.items() if path.endswith(".py")}
    source = Source()
    for path, tree in trees.items():
        if path.endswith("_config.py") or "/config/" in path:
            source.take(tree)
    main = trees.get("vllm_ascend/ascend_config.py")
    declared = "AscendConfig" in source.classes and bool(source.fields_of("AscendConfig"))
    keys: dict[str, Any] = {}
    for tree in trees.values():
        for name, value in _asked(source, tree, "additional_config"):
            keys[name] = {**keys.get(name, {}), **_shown(value)}
        for name, variable in _instead_of_variables(source, tree):
            keys[name] = {**keys.get(name, {}), "env": variable}
    if declared:
        written = source.fields_of("AscendConfig")
        keys |= {
            name: _shown(source.value(default)) for name, (_, default) in written.items() if not name.startswith("_")
        }
    tag = re.search(r"VLLM_TAG=v?(\S+)", texts.get("Dockerfile", ""))
    return {
        "vllm": tag[1] if tag else None,
        "strict": declared and main is not None and "extra='forbid'" in ast.unparse(main).replace('"', "'"),
        "config": dict(sorted((name, {**value, **_inner(source, trees, name)}) for name, value in keys.items())),
        "env": _variables(trees.get("vllm_ascend/envs.py")),
    }


def _shown(value: Any) -> dict[str, Any]:
    return {} if value is UNKNOWN else {"default": value}


def _asked(source: Source, tree: ast.AST, of: str) -> Iterator[tuple[str, Any]]:
    """Keys taken from, or looked for in, a mapping called `of`, with the default that is taken without them."""
    for node in ast.walk(tree):
        key: object = None
        default: Any = UNKNOWN
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
            if node.args and ast.unparse(node.func.value).removesuffix(" or {})").endswith(of):
                key = source.value(node.args[0])
                default = source.value(node.args[1]) if len(node.args) > 1 else None
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith(of):
            key = source.value(node.slice)
        elif isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]).endswith(of):
            key = source.value(node.left)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_NON_USER_INPUT_KEYS":
            inner = source.value(node.value) if of == "additional_config" else ()
            yield from ((word, UNKNOWN) for word in sorted(inner) if not word.startswith("_"))
        if isinstance(key, str):
            yield key, default


def _instead_of_variables(source: Source, tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Keys that took the place of a variable, with that variable (`_get_config_value` of ascend_config.py)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("_get_config_value"):
            named = [value for word in node.args if isinstance(value := source.value(word), str)]
            if len(named) > 1:
                yield named[0], named[1]


def _inner(source: Source, trees: Mapping[str, ast.Module], name: str) -> dict[str, Any]:
    """The keys inside a key that is a group: those its class declares, or takes from what it is given."""
    if not GROUPS.search(name):
        return {}
    wanted = name.replace("_", "").lower()
    found: dict[str, Any] = {}
    for tree in trees.values():
        if name != "scheduler_config":  # vLLM itself has one of that name, read in many places
            found |= {key: _one(value) for key, value in _asked(source, tree, name)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name.lower() in (wanted, f"ascend{wanted}"):
                found |= {key: _one(value) for key, value in _class_keys(source, node)}
    return {"keys": dict(sorted(found.items()))} if found else {}


def _class_keys(source: Source, node: ast.ClassDef) -> Iterator[tuple[str, Any]]:
    for key, (_, default) in source.fields_of(node.name).items():
        if not key.startswith("_"):
            yield key, source.value(default)
    for one in ast.walk(node):
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            given = one.args.args[len(one.args.args) - len(one.args.defaults) :]
            plain = ((word.arg, source.value(value)) for word, value in zip(given, one.args.defaults, strict=True))
            yield from ((word, value) for word, value in plain if not word.endswith("_config"))
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "get" and one.args:
            owner = ast.unparse(one.func.value)
            key = source.value(one.args[0])
            if isinstance(key, str) and (owner in ("kwargs", "config", "user_config") or owner.endswith("_config")):
                yield key, source.value(one.args[1]) if len(one.args) > 1 else None
        elif isinstance(one, ast.Assign | ast.AnnAssign) and isinstance(one.value, ast.Dict):
            value = source.value(one.value)
            if isinstance(value, dict) and "default" in ast.unparse(one).split("=")[0].lower():
                yield from ((str(key), inner) for key, inner in value.items())


def _one(value: Any) -> Any:
    return None if value is UNKNOWN or isinstance(value, set) else value


def _variables(tree: ast.Module | None) -> list[str]:
    found: set[str] = set()
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            keys = [key.value for key in node.value.keys if isinstance(key, ast.Constant)]
            found |= {key for key in keys if isinstance(key, str) and key.isupper()}
    return sorted(found)
