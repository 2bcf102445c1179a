"""The argument parser of one vLLM release, rebuilt from what was read of its source: it refuses what that refuses."""

from __future__ import annotations

import argparse
import json
import re

from pretend import place

FOLDER = place.FAKE.removesuffix("/scripts/fake") + "/console/catalog/parsers"
BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
SUBCOMMANDS = ("chat", "complete", "serve", "bench", "collect-env", "run-batch")


def data_of(package: str, version: str) -> place.Data | None:
    """What was read of a release; None when it was not."""
    if not re.fullmatch(r"[\w.]+", version):
        return None
    try:
        with open(f"{FOLDER}/{package}-{version}.json") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def parse(read: place.Data, words: list[str]) -> argparse.Namespace:
    """What `vllm WORDS...` asks for; SystemExit with code 2 and the words of argparse for what is refused."""
    whole = argparse.ArgumentParser(prog="vllm", description="vLLM CLI")
    whole.add_argument("-v", "--version", action="version", version=read["version"])
    kinds = whole.add_subparsers(required=False, dest="subparser", metavar=f"{{{','.join(SUBCOMMANDS)}}}")
    serve = kinds.add_parser("serve", usage="vllm serve [model_tag] [options]")
    serve.add_argument("model_tag", nargs="?")
    for name, option in read["options"].items():
        serve.add_argument(name, *option.get("also", ()), **_arguments(option))
    return whole.parse_args(_read(words, read["options"]))


def names(read: place.Data) -> dict[str, str]:
    """Every way to write an option -> its full name."""
    found = {}
    for name, option in read["options"].items():
        for one in (name, *option.get("also", ())):
            found[one] = name
        if option["kind"] == "toggle":
            found[f"--no-{name.removeprefix('--')}"] = name
    return found


def _arguments(option: place.Data) -> place.Data:
    kind = option["kind"]
    if kind == "switch":
        return {"action": "store_true"}
    if kind == "toggle":
        return {"action": argparse.BooleanOptionalAction, "default": option.get("default")}
    types = {"int": int, "float": float, "json": _json, "tokens": _tokens}
    made: place.Data = {"type": types.get(kind, str), "default": option.get("default")}
    if kind == "list":
        made["nargs"] = "+"
    elif kind == "maybe":
        made["nargs"] = "?"
    if option.get("choices") and kind != "list":
        made["choices"] = option["choices"]
    return made


def _read(words: list[str], options: place.Data) -> list[str]:
    """As vLLM's own parser rewrites them: underscores are dashes, and --name.key value is a key of a JSON option."""
    made: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            made.append(word)
            continue
        name, sign, value = word.partition("=")
        head, _, key = name.partition(".")
        head = head.replace("_", "-")
        if key and options.get(head, {}).get("kind") == "json":
            value = value if sign else rest.pop(0) if rest else ""
            made += [head, json.dumps({key: value})]
        else:
            made.append(name.replace("_", "-") + sign + value)
    return made


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(f"Value {text} cannot be converted to {json.loads}.") from error


def _tokens(text: str) -> int:
    """16384, 16k (decimal), 16K (binary) or auto, which is -1."""
    if text.lower() == "auto":
        return -1
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmMgGtT])", text)
    if found is None:
        return int(text)
    if found[2] in DECIMAL:
        return int(float(found[1]) * DECIMAL[found[2]])
    return int(found[1]) * BINARY[found[2]]
