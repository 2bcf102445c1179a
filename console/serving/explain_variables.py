"""Turns the variables of a paste into settings of a server."""

import json
import re
from typing import Any

from console.catalog import flags, parsers
from console.serving import known
from console.serving.command import API_KEY, OFFLINE
from console.serving.explain_parts import HIDDEN, Settings
from console.serving.explain_words import OPEN, is_open
from console.text import say

VISIBLE = ("ASCEND_RT_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES")
SECRET = re.compile(r"KEY$|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
NOT_OURS = frozenset(
    ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "HOME", "PWD", "USER", "SHELL", "TERM", "LANG", "LC_ALL", "HF_ENDPOINT")
)
"""They belong to the shell that was pasted from."""
LOCAL = ("VLLM_CPU_KVCACHE_SPACE", "VLLM_CPU_OMP_THREADS_BIND")
OWN_KEY = say("The console makes a key of its own, and keeps it out of commands and logs.")


def variable(settings: Settings, name: str, value: str, token: str) -> None:
    """One variable: devices, a key, something the console sets itself, a finding, or carried on."""
    value = re.sub(rf":?{OPEN}\{{?{name}\b\}}?:?", "", value)  # PATH=/x:$PATH adds to what is there
    if name == API_KEY:
        settings.fields["api_key"] = True
        settings.pasted.ignore(OWN_KEY, [f"{name}={HIDDEN}"])
    elif name in NOT_OURS or not re.fullmatch(r"[A-Za-z_]\w*", name):
        settings.pasted.ignore(say("It belongs to the shell, and the console sets what the engine needs."), [token])
    elif (blank := open_trouble(value)) is not None and not _only_for_the_text(settings, name):
        settings.pasted.find(token, blank.problem, blank.instead)
    elif name in VISIBLE:
        devices(settings, value, token)
    elif OFFLINE.get(name) == value or (name in LOCAL and settings.pasted.is_local):
        settings.pasted.take(token)
    elif SECRET.search(name):
        why = say("It looks like a secret, and settings are stored and shown.")
        settings.pasted.ignore(why, [f"{name}={HIDDEN}"])
    elif (trouble := _trouble(settings, name, value)) is not None:
        settings.pasted.find(token, trouble.problem, trouble.instead)
        _instead(settings, trouble.replace, value, token)
    elif not _only_for_the_text(settings, name):
        settings.add("extra_env", {name: value}, token)
        settings.carried[name] = token
        settings.pasted.take(token)
    else:
        settings.pasted.take(token)


def open_trouble(value: str) -> known.Trouble | None:
    """A value that still has to be filled in."""
    if not is_open(value):
        return None
    why = say("What belongs here is not in this text: {value}", value=value.replace(OPEN, "$"))
    return known.Trouble(why, say("Write the value itself."))


def _trouble(settings: Settings, name: str, value: str) -> known.Trouble | None:
    return None if settings.pasted.is_local else known.variable_trouble(name, value, settings.release)


def _only_for_the_text(settings: Settings, name: str) -> bool:
    """A variable that the text itself uses, and no program we know of reads."""
    used = re.compile(rf"\$\{{?{name}\b")
    words = [*(word.raw for word in settings.pasted.words), *(token for _, token in settings.pasted.env.values())]
    reads = flags.flags().variable(name) is not None or name in settings.parser.env
    return not reads and any(used.search(word) for word in words)


def _instead(settings: Settings, replace: tuple[str, ...], value: str, token: str) -> None:
    if replace[:1] == ("additional_config",):
        key = parsers.plugin(settings.release).config[replace[1]]
        truth = value.lower() in ("1", "true") if value.lower() in ("0", "1", "true", "false") else literal(value)
        kept = int(value) if type(key.default) is int and value.isdecimal() else truth
        settings.fields["additional_config"] = {replace[1]: kept, **settings.fields.get("additional_config", {})}
        settings.tokens.setdefault("additional_config", token)
    elif len(replace) == 2 and replace[0] in VISIBLE:
        if "device_ids" not in settings.fields:
            devices(settings, value, token)
    elif len(replace) == 2:
        settings.fields["extra_env"] = {replace[0]: value, **settings.fields.get("extra_env", {})}


def devices(settings: Settings, value: str, token: str) -> None:
    """NPUs by their numbers; within a container these count the devices that were passed in."""
    numbers = [one.strip() for one in value.split(",") if one.strip()]
    if not all(one.isdecimal() for one in numbers) or not numbers:
        settings.pasted.find(
            token, say("NPUs are named by numbers from 0 on."), say("Write them as 0,1 for the first two.")
        )
        return
    ids = tuple(map(int, numbers))
    passed = settings.pasted.device_ids
    inside = passed and all(one < len(passed) for one in ids)
    settings.fields["device_ids"] = tuple(passed[one] for one in ids) if inside else ids
    settings.tokens["device_ids"] = token
    settings.pasted.take(token)


def literal(text: str) -> Any:
    """The JSON value, or the word itself where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
