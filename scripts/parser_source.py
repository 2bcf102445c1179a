"""Reads the options of `vllm serve` out of vLLM's source, without running any of it.

vLLM makes most options from the fields of its configuration classes; how a type becomes an option follows
`get_kwargs` of vllm/engine/arg_utils.py.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

UNKNOWN = object()
"""Stands for a value that only running the code would tell."""
WRAPPERS = ("SkipValidation", "Annotated", "ClassVar", "InitVar", "Final")
TOKENS = ("max_model_len", "max_num_batched_tokens", "kv_cache_memory_bytes", "safetensors_prefetch_block_size")


@dataclass
class ConfigClass:
    """Fields with their annotation and default, both as they are written; `is_enum`: its fields are its choices."""

    bases: list[str]
    fields: dict[str, tuple[ast.expr, ast.expr | None]] = field(default_factory=dict)
    is_enum: bool = False


@dataclass
class Source:
    """Everything of the source that an option can refer to."""

    classes: dict[str, ConfigClass] = field(default_factory=dict)
    names: dict[str, ast.expr] = field(default_factory=dict)
    human_readable: bool = False

    def take(self, tree: ast.Module) -> None:
        """Remember the classes and the names of one module."""
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                self._class(node)
            elif isinstance(node, ast.FunctionDef) and node.name.startswith("human_readable_int"):
                self.human_readable = True
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.names.setdefault(node.targets[0].id, node.value)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                self.names.setdefault(node.target.id, node.value)

    def _class(self, node: ast.ClassDef) -> None:
        bases = [ast.unparse(base).split(".")[-1].split("[")[0] for base in node.bases]
        found = ConfigClass(bases, is_enum=any("Enum" in base for base in bases))
        for one in node.body:
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                if "ClassVar" not in ast.unparse(one.annotation):
                    found.fields[one.target.id] = (one.annotation, one.value)
            elif found.is_enum and isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
                found.fields[one.targets[0].id] = (one.value, one.value)
        if node.name not in self.classes or found.fields:
            self.classes[node.name] = found

    def fields_of(self, name: str) -> dict[str, tuple[ast.expr, ast.expr | None]]:
        """Fields of a class, those it inherits first."""
        one = self.classes.get(name)
        if one is None:
            return {}
        inherited: dict[str, tuple[ast.expr, ast.expr | None]] = {}
        for base in one.bases:
            inherited |= self.fields_of(base)
        return inherited | one.fields

    def value(self, node: ast.expr | None) -> Any:
        """What an expression is, as far as that can be told by reading."""
        if node is None:
            return UNKNOWN
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError):
            pass
        if isinstance(node, ast.Name):
            return self.value(self.names[node.id]) if node.id in self.names else UNKNOWN
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            written = self.fields_of(node.value.id).get(node.attr)
            return UNKNOWN if written is None else self.value(written[1])
        if isinstance(node, ast.Call):
            return self._called(node)
        return UNKNOWN

    def _called(self, node: ast.Call) -> Any:
        name = ast.unparse(node.func)
        named = {word.arg: word.value for word in node.keywords}
        if name in ("field", "Field", "dataclasses.field"):
            if "default" in named:
                return self.value(named["default"])
            if "default_factory" in named:
                return self._factory(named["default_factory"])
            return self.value(node.args[0]) if node.args else UNKNOWN
        if name == "get_args" and node.args:
            return self.choices(node.args[0])
        if name == "get_field" and len(node.args) == 2:
            written = self.fields_of(ast.unparse(node.args[0])).get(str(self.value(node.args[1])))
            return UNKNOWN if written is None else self.value(written[1])
        return UNKNOWN

    def _factory(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Lambda):
            return self.value(node.body)
        return {"dict": {}, "list": [], "set": [], "tuple": []}.get(ast.unparse(node), UNKNOWN)

    def kinds(self, node: ast.expr) -> Iterator[ast.expr]:
        """The parts of a type: unions and aliases resolved, wrappers taken off."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from self.kinds(ast.parse(node.value, mode="eval").body)
        elif isinstance(node, ast.BinOp):
            yield from self.kinds(node.left)
            yield from self.kinds(node.right)
        elif isinstance(node, ast.Subscript):
            yield from self._subscript(node)
        elif isinstance(node, ast.Name) and node.id in self.names and self._is_type(self.names[node.id]):
            yield from self.kinds(self.names[node.id])
        else:
            yield node

    def _subscript(self, node: ast.Subscript) -> Iterator[ast.expr]:
        name = ast.unparse(node.value).split(".")[-1]
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Optional":
            yield from self.kinds(node.slice)
            yield ast.Constant(None)
        elif name == "Union":
            for one in inner:
                yield from self.kinds(one)
        elif name in WRAPPERS:
            yield from self.kinds(inner[0])
        else:
            yield node

    @staticmethod
    def _is_type(node: ast.expr) -> bool:
        return isinstance(node, ast.Subscript | ast.BinOp) or (isinstance(node, ast.Name) and node.id in ("str", "int"))

    def choices(self, node: ast.expr) -> Any:
        """The words of a Literal type, or of the union it is part of; UNKNOWN if there are none."""
        found: list[object] = []
        for one in self.kinds(node):
            if isinstance(one, ast.Subscript) and ast.unparse(one.value).endswith("Literal"):
                inner = one.slice.elts if isinstance(one.slice, ast.Tuple) else [one.slice]
                for word in inner:
                    value = self.value(word)
                    value = self.choices(word) if value is UNKNOWN else value
                    found += value if isinstance(value, list) else [value]
        return found if found and UNKNOWN not in found else UNKNOWN


def option_of(source: Source, name: str, annotation: ast.expr, default: ast.expr | None) -> dict[str, Any]:
    """One option as vLLM would make it from a field of a configuration class."""
    parts = list(source.kinds(annotation))
    written = {ast.unparse(part).split("[")[0].split(".")[-1] for part in parts}
    found: dict[str, Any] = {"kind": _kind(source, name, written)}
    value = source.value(default)
    if value is not UNKNOWN:
        found["default"] = value
    if "Literal" in written and found["kind"] in ("str", "int"):
        words = source.choices(annotation)
        if words is not UNKNOWN and "str" not in written:
            found["choices"] = [*words, *(["None"] if "None" in written else [])]
            found["kind"] = "int" if all(type(word) is int for word in words) else "str"
        elif words is not UNKNOWN:
            found["known"] = words
    return found


def _kind(source: Source, name: str, written: set[str]) -> str:
    if any(one in source.classes and not source.classes[one].is_enum for one in written):
        return "json"
    if written == {"bool", "str", "None"}:
        return "maybe"
    if "bool" in written:
        return "toggle"
    if "Literal" in written:
        return "str"
    if written & {"tuple", "list", "set", "List", "Tuple", "Sequence"}:
        return "list"
    if "int" in written:
        return "tokens" if name in TOKENS and source.human_readable else "int"
    if "float" in written:
        return "float"
    if written & {"dict", "Dict", "Mapping"}:
        return "words" if "str" in written or written - {"dict", "Dict", "Mapping", "None"} else "json"
    return "str"


def from_call(source: Source, call: ast.Call, groups: Mapping[str, str]) -> tuple[list[str], dict[str, Any]] | None:
    """Names and option of one `add_argument`; groups: name of a `..._kwargs` variable -> its configuration class."""
    names = [value for word in call.args if isinstance(value := source.value(word), str)]
    if not names or not names[0].startswith("-"):
        return None
    found: dict[str, Any] = {}
    plain: dict[str, ast.expr] = {}
    for word in call.keywords:
        if word.arg is not None:
            plain[word.arg] = word.value
        else:
            found |= _spread(source, word.value, groups)
    return names, found | _plain(source, plain, found)


def _spread(source: Source, node: ast.expr, groups: Mapping[str, str]) -> dict[str, Any]:
    """`**model_kwargs["dtype"]`, or `**{**cache_kwargs["x"], "default": None}`."""
    if isinstance(node, ast.Dict):
        found: dict[str, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                found |= _spread(source, value, groups)
            elif source.value(key) == "default":
                found["default"] = source.value(value)
        return found
    if isinstance(node, ast.Name):  # moe_backend_kwargs = kernel_kwargs["moe_backend"]
        group, _, name = groups.get(node.id, "").partition(".")
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        group, name = groups.get(node.value.id, ""), str(source.value(node.slice))
    else:
        return {}
    written = source.fields_of(group).get(name)
    return {"kind": "str"} if written is None else option_of(source, name, *written)


def _plain(source: Source, words: Mapping[str, ast.expr], found: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    action = ast.unparse(words["action"]).strip("'\"") if "action" in words else ""
    kind = ast.unparse(words["type"]) if "type" in words else ""
    if action in ("store_true", "store_false"):
        made["kind"] = "switch"
    elif action.endswith("BooleanOptionalAction"):
        made["kind"] = "toggle"
    elif "nargs" in words:
        made["kind"] = "maybe" if source.value(words["nargs"]) == "?" else "list"
    elif "json.loads" in kind:
        made["kind"] = "json"
    elif "human_readable" in kind:
        made["kind"] = "tokens"
    elif kind or "kind" not in found:
        inner = kind.removeprefix("optional_type(").removeprefix("nullable_").rstrip(")")
        made["kind"] = {"int": "int", "float": "float", "kvs": "words"}.get(inner, found.get("kind", "str"))
    if "choices" in words and isinstance(choices := source.value(words["choices"]), list):
        made["choices"] = choices
    if "default" in words and (default := source.value(words["default"])) is not UNKNOWN:
        made["default"] = default
    if "deprecated" in words and source.value(words["deprecated"]) is True:
        made["deprecated"] = True
    return made
