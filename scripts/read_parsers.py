"""Read which options, parsers and variables each release knows, from its own source archive on the package index.

Nothing of an archive is installed or run. What is read goes to console/catalog/parsers.
    python scripts/read_parsers.py [--from FOLDER] [NAME==VERSION ...]
"""

import argparse
import ast
import gzip
import hashlib
import html
import io
import json
import re
import sys
import tarfile
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.parser_source import UNKNOWN, Source, from_call, option_of  # noqa: E402
from scripts.plugin_source import plugin_of  # noqa: E402

TARGET = ROOT / "console" / "catalog" / "parsers"
INDEX = "https://pypi.org/simple"
VLLM = ("0.7.3", "0.9.1", "0.11.0", "0.13.0", "0.18.0", "0.23.0", "0.30.0")
PLUGIN = ("0.7.3", "0.9.1", "0.11.0", "0.13.0", "0.18.0", "0.23.0", "0.23.0.post1", "0.30.0rc2")
FRONTEND = {
    "allowed_origins": "json",
    "allowed_methods": "json",
    "allowed_headers": "json",
    "default_chat_template_kwargs": "json",
    "middleware": "str",
}
"""Fields of FrontendArgs that cli_args.py makes options of in its own way."""
ASKED = re.compile(rb"""(?:getenv|environ(?:\.get|\.setdefault|\.pop)?)\s*[(\[]\s*["']([A-Z][A-Z0-9_]+)["']""")
"""How the environment is asked for a variable."""
REGISTER = ("register_module", "register_lazy_module")
WANTED = re.compile(
    r"vllm/(config(/.*)?\.py|config\.py|engine/arg_utils\.py|envs\.py|scripts\.py|utils(/.*)?\.py|reasoning/.*\.py"
    r"|tool_parsers/.*\.py|parser/.*\.py|attention/.*registry\.py|v1/attention/backends/registry\.py"
    r"|model_executor/layers/quantization/__init__\.py|lora/.*\.py|transformers_utils/config\.py"
    r"|entrypoints/(chat_utils|cli/serve|openai/cli_args|launchers/cli_args|openai/.*parsers?/.*)\.py"
    r"|entrypoints/cli/types\.py|entrypoints/serve/utils/constants\.py|entrypoints/constants\.py)"
    r"|vllm_ascend/.*\.py|Dockerfile"
)


def main() -> int:
    """Read the releases of the catalog, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="folder", type=Path, help="a folder with archives; what it lacks is fetched")
    parser.add_argument("release", nargs="*", help="such as vllm==0.23.0")
    chosen = parser.parse_args()
    wanted = chosen.release or [f"vllm=={one}" for one in VLLM] + [f"vllm-ascend=={one}" for one in PLUGIN]
    TARGET.mkdir(exist_ok=True)
    for one in wanted:
        name, _, version = one.partition("==")
        data = archive(name, version, chosen.folder)
        made = (vllm_of if name == "vllm" else plugin_of)(files(data))
        made["env"] = sorted({*made["env"], *read_variables(data)})
        head = {"package": name, "version": version, "sha256": hashlib.sha256(data).hexdigest()}
        (TARGET / f"{name}-{version}.json").write_text(lines({**head, **made}), encoding="utf-8")
        counts = [f"{len(part)} {key}" for key, part in made.items() if isinstance(part, dict | list)]
        print(f"{one}: {', '.join(counts)}")
    return 0


def archive(name: str, version: str, folder: Path | None) -> bytes:
    """The source archive, from `folder` if it is there, else from the package index with its checksum compared."""
    file = f"{name.replace('-', '_')}-{version}.tar.gz"
    if folder and (folder / file).exists():
        return (folder / file).read_bytes()
    base = f"{INDEX}/{name}/"
    with urllib.request.urlopen(base, timeout=60) as page:
        found = re.search(rf'href="([^"]*/{re.escape(file)}[^"]*)"', page.read().decode())
    if found is None:
        raise SystemExit(f"{name} {version} has no source archive on the package index")
    address, _, wanted = urllib.parse.urljoin(base, html.unescape(found[1])).partition("#sha256=")
    with urllib.request.urlopen(address, timeout=600) as answer:
        data: bytes = answer.read()
    if hashlib.sha256(data).hexdigest() != wanted:
        raise SystemExit(f"{file} is not what the package index says it is")
    if folder:
        (folder / file).write_bytes(data)
    return data


def files(data: bytes) -> dict[str, str]:
    """Path within the archive -> text, of the files that are read."""
    found = {}
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data))) as opened:
        for member in opened:
            path = member.name.partition("/")[2]
            if member.isfile() and WANTED.fullmatch(path) and (content := opened.extractfile(member)):
                found[path] = content.read().decode("utf-8-sig")
    return found


def read_variables(data: bytes) -> set[str]:
    """Variables that any module of the archive asks the environment for by name."""
    found: set[str] = set()
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data))) as opened:
        for member in opened:
            path = member.name.partition("/")[2]
            if member.isfile() and path.startswith(("vllm/", "vllm_ascend/")) and path.endswith(".py"):
                content = opened.extractfile(member)
                found |= set(ASKED.findall(content.read())) if content else set()
    return {name.decode() for name in found}


def vllm_of(texts: Mapping[str, str]) -> dict[str, Any]:
    """Options of `vllm serve` by their long name, names of parsers, and the variables vLLM reads."""
    trees = {path: ast.parse(text) for path, text in texts.items() if path.endswith(".py")}
    source = Source()
    for path, tree in trees.items():
        if not path.startswith(("vllm/reasoning/", "vllm/tool_parsers/", "vllm/lora/")) and "_parsers/" not in path:
            source.take(tree)
    options: dict[str, Any] = {}
    for path in ("vllm/engine/arg_utils.py", *(one for one in trees if one.endswith(("cli_args.py", "cli/serve.py")))):
        for names, option in _options(source, trees[path]):
            long = next((one for one in names if one.startswith("--")), names[0])
            also = [one for one in names if one != long]
            options[long] = {**option, **({"also": also} if also else {})}
    if "vllm/scripts.py" in trees and "--config" not in options:
        options |= {names[0]: option for names, option in _options(source, trees["vllm/scripts.py"])}
    if choices := options.get("--quantization", {}).get("choices"):
        choices.append("ascend")  # vllm_ascend/platform.py adds it to the parser
    return {
        "options": {name: _ordered(option) for name, option in sorted(options.items())},
        "reasoning_parsers": _registered(trees, "reasoning"),
        "tool_parsers": _registered(trees, "tool_parsers"),
        "env": _variables(trees["vllm/envs.py"]),
    }


def _options(source: Source, tree: ast.Module) -> Iterator[tuple[list[str], dict[str, Any]]]:
    groups = _groups(source, tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            made = from_call(source, node, groups)
            if made is not None:
                yield made
        elif isinstance(node, ast.ClassDef) and node.name == "FrontendArgs":
            for name, written in source.fields_of("FrontendArgs").items():
                option = option_of(source, name, *written)
                option["kind"] = FRONTEND.get(name, option["kind"])
                yield [f"--{name.replace('_', '-')}"], option


def _groups(source: Source, tree: ast.Module) -> dict[str, str]:
    """Variables that hold the arguments of a configuration class, or of one of its fields ("Class.field")."""
    groups: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            target, value = node.targets[0].id, node.value
            if isinstance(value, ast.Call) and ast.unparse(value.func).endswith("get_kwargs") and value.args:
                groups[target] = ast.unparse(value.args[0])
            elif isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
                groups[target] = f"{groups.get(value.value.id, '')}.{source.value(value.slice)}"
    return groups


def _registered(trees: Mapping[str, ast.Module], folder: str) -> list[str]:
    """Names under which parsers are registered, by decorator or in the table of the package."""
    found: set[str] = set()
    for path, tree in trees.items():
        if f"/{folder}" not in path and f"/{folder.removesuffix('s')}" not in path.rpartition("/")[0]:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(REGISTER):
                for word in [*node.args[:1], *(one.value for one in node.keywords if one.arg == "name")]:
                    found |= _words(word)
            elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                if "TO_REGISTER" in ast.unparse(target):
                    found |= {word for key in node.value.keys if key is not None for word in _words(key)}
    return sorted(found)


def _words(node: ast.expr) -> set[str]:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return set()
    return {value} if isinstance(value, str) else {one for one in value if isinstance(one, str)} if value else set()


def _variables(tree: ast.Module) -> list[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if ast.unparse(target) in ("environment_variables", "env_variables"):
                return sorted({word for key in node.value.keys if key is not None for word in _words(key)})
    return []


def _ordered(option: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("kind", "default", "choices", "known", "also", "deprecated")
    return {key: option[key] for key in keys if key in option and option[key] is not UNKNOWN and _plain(option[key])}


def _plain(value: object) -> bool:
    try:
        return bool(json.dumps(value))
    except TypeError:
        return False


def lines(made: Mapping[str, Any]) -> str:
    """JSON with one line for each entry of a section, so that a change shows as one."""
    parts = []
    for key, value in made.items():
        if isinstance(value, dict) and value:
            rows = ",\n".join(f"    {json.dumps(name)}: {json.dumps(one)}" for name, one in value.items())
            parts.append(f"  {json.dumps(key)}: {{\n{rows}\n  }}")
        else:
            parts.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main())
