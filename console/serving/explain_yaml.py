"""Reads a pasted file of docker compose or Kubernetes as the command that it describes."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from console.serving.explain_parts import Pasted
from console.text import say

_SIGN = re.compile(r"^[ \t-]*[\"']?(?:command|args|entrypoint)[\"']?[ \t]*:", re.MULTILINE)
_OF_VLLM = re.compile(r"\bvllm\b|api_server")
LISTS = {"ports": "-p", "volumes": "-v", "devices": "--device"}
WORDS = {"shm_size": "--shm-size", "network_mode": "--network", "runtime": "--runtime", "ipc": "--ipc"}
MOST_DEEP = 8

Entry = Mapping[str, Any]


def looks_like(text: str) -> bool:
    """Whether the text names a command the way such files do."""
    return _SIGN.search(text) is not None


def command_of(text: str, pasted: Pasted) -> str | None:
    """The shell command of the first entry that runs vLLM; None where there is none."""
    try:
        tree = yaml.safe_load(text.replace("\t", "  "))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    one = next(_servers(tree, 0), None)
    if one is None:
        return None
    pasted.ignore(say("It is read as the command that it describes."), [_first_line(text)])
    return _of_kubernetes(one, pasted) if _is_kubernetes(one) else _of_compose(one, pasted)


def _servers(tree: object, deep: int) -> Iterator[Entry]:
    """Every mapping that runs vLLM, the outer ones first."""
    if deep > MOST_DEEP:
        return
    if isinstance(tree, Mapping):
        if _OF_VLLM.search(" ".join(_line(tree.get(key)) for key in ("entrypoint", "command", "args"))):
            yield tree
        tree = list(tree.values())
    if isinstance(tree, list):
        for each in tree:
            yield from _servers(each, deep + 1)


def _is_kubernetes(one: Entry) -> bool:
    return "args" in one or "env" in one or "volumeMounts" in one


def _of_compose(one: Entry, pasted: Pasted) -> str:
    """A `docker run` line with what the entry has; a command alone where it names no image."""
    run = [_line(one.get("entrypoint")), _line(one.get("command"))]
    if "image" not in one:
        return " ".join([*_assigned(one.get("environment")), *run]).strip()
    options = [word for key, flag in LISTS.items() for each in _list(one.get(key)) for word in (flag, str(each))]
    options += [word for key, flag in WORDS.items() if one.get(key) for word in (flag, str(one[key]))]
    options += ["--privileged"] if one.get("privileged") is True else []
    options += [word for each in _pairs(one.get("environment")) for word in ("-e", each)]
    _unread(one, {"entrypoint", "command", "image", "environment", "privileged", *LISTS, *WORDS}, pasted)
    return " ".join(["docker", "run", shlex.join(options), shlex.quote(str(one["image"])), *run])


def _of_kubernetes(one: Entry, pasted: Pasted) -> str:
    """The command with its variables; what the cluster gives to the container is not in such a text."""
    pasted.image = str(one.get("image", ""))
    _unread(one, {"command", "args", "image", "env"}, pasted)
    return " ".join([*_assigned(one.get("env")), _line(one.get("command")), _line(one.get("args"))])


def _unread(one: Entry, read: set[str], pasted: Pasted) -> None:
    why = say("It does not change the server; the console starts and ends containers itself.")
    pasted.ignore(why, [f"{key}:" for key in one if key not in read])


def _line(value: object) -> str:
    """A command as a shell reads it: a list word by word, a text with its lines put together."""
    if isinstance(value, list):
        return shlex.join(map(str, value))
    return re.sub(r"\\?\n", " ", str(value)).replace("$$", "$").strip() if isinstance(value, str) else ""


def _assigned(value: object) -> list[str]:
    pairs = [each.partition("=") for each in _pairs(value)]
    return [f"{name}={shlex.quote(words)}" for name, _, words in pairs]


def _pairs(value: object) -> list[str]:
    """NAME=value of a mapping, of a list of such words, or of a list of names with values."""
    if isinstance(value, Mapping):
        return [f"{name}={'' if words is None else words}" for name, words in value.items()]
    named = [each for each in _list(value) if isinstance(each, Mapping)]
    plain = [str(each) for each in _list(value) if not isinstance(each, Mapping)]
    return [*plain, *(f"{each.get('name')}={each.get('value', '')}" for each in named)]


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
