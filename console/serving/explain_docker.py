"""Reads a pasted `docker run` line: image, devices, volumes, variables, and the command inside."""

import math
import re

from console.catalog.limits import limits
from console.serving.explain_parts import Pasted, Word
from console.text import Text, say

ENGINES = ("docker", "podman", "nerdctl")
TAKES_VALUE = frozenset((
    "-e", "--env", "--env-file", "-v", "--volume", "--mount", "-p", "--publish", "--device", "--name", "--shm-size",
    "--ipc", "--network", "--net", "--entrypoint", "-w", "--workdir", "-u", "--user", "--gpus", "--runtime", "-m",
    "--memory", "--cpus", "--ulimit", "--restart", "-h", "--hostname", "-l", "--label", "--add-host", "--cap-add",
    "--cap-drop", "--security-opt", "--pid", "--log-driver", "--log-opt", "--cpuset-cpus", "--cpuset-mems", "--tmpfs",
    "--platform", "--pull", "--stop-signal", "--stop-timeout", "--group-add", "--device-cgroup-rule", "--volumes-from",
    "--memory-swap", "--userns", "--expose", "--link", "--dns", "--sysctl", "--annotation", "--cgroupns", "--uts",
))  # fmt: skip
OF_THE_DRIVER = (
    "/usr/local/dcmi", "/usr/local/bin/npu-smi", "/usr/local/sbin", "/usr/local/Ascend", "/etc/ascend_install.info",
    "/etc/hccn.conf", "/lib/route.conf", "/etc/hccl_rootinfo.json", "/etc/hixlep", "/etc/localtime", "/usr/lib64",
)  # fmt: skip
SHARED_DEVICES = (
    "/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc", "/dev/ummu", "/dev/uburma", "/dev/ascend_manager",
    "/dev/user_config",
)  # fmt: skip
_NPU = re.compile(r"/dev/davinci(\d+)(?::.*)?")
_SIZES = {"": 2**-30, "b": 2**-30, "k": 2**-20, "m": 2**-10, "g": 1.0, "t": 2.0**10}


def container(words: list[Word], pasted: Pasted) -> list[Word] | None:
    """The command inside the container; None if no container is made. Everything before the image is taken apart."""
    verb = next((word.text for word in words[1:] if not word.text.startswith("-")), "")
    if verb == "exec":
        return _within(words, pasted)
    if verb not in ("run", "create"):
        pasted.ignore(say("It starts no container."), [word.raw for word in words])
        return None
    pasted.kind = "docker"
    pasted.take(words[0].raw)
    at, entry = 1, list[Word]()
    while at < len(words):
        word = words[at]
        if word.text in ("run", "create", "container"):
            pasted.take(word.raw)
            at += 1
        elif not word.text.startswith("-"):
            break
        else:
            name, value, length = _option(words, at)
            if name == "--entrypoint" and value is not None:
                entry = [Word.plain(value)]
                pasted.take(*(one.raw for one in words[at : at + length]))
            else:
                _take(name, value, [one.raw for one in words[at : at + length]], pasted)
            at += length
    if at >= len(words):
        pasted.find(words[0].raw, say("No image is named."), say("Name the image of a vllm-ascend release."))
        return []
    pasted.image = words[at].text
    texts = [word.text for word in words[:at]]
    pasted.is_privileged = any(one in texts for one in ("--privileged", "--privileged=true"))
    pasted.is_host_memory = any(one in " ".join(texts) for one in ("--ipc=host", "--ipc host"))
    brings_all = any(one in " ".join(texts) for one in ("--runtime=ascend", "--runtime ascend", "--gpus"))
    pasted.is_npu_container = "vllm-ascend" in pasted.image and not brings_all
    return [*entry, *words[at + 1 :]]


def _within(words: list[Word], pasted: Pasted) -> list[Word]:
    """The command of `docker exec`; of the container itself nothing is said."""
    pasted.kind = "docker"
    at = next(at for at, word in enumerate(words) if word.text == "exec") + 1
    while at < len(words) and words[at].text.startswith("-"):
        name, value, length = _option(words, at)
        if name in ("-e", "--env") and value is not None:
            _variable(value, [one.raw for one in words[at : at + length]], pasted)
        else:
            pasted.ignore(say("It says how the command is run in the container."), [words[at].raw])
        at += length
    why = say("It runs the command in a container that is there already.")
    pasted.ignore(why, [word.raw for word in (words[0], *words[at : at + 1]) if word])
    return words[at + 1 :]


def _option(words: list[Word], at: int) -> tuple[str, str | None, int]:
    """Name, value and number of words of the option at `at`."""
    word = words[at].text
    if word.startswith("--") and "=" in word:
        name, _, value = word.partition("=")
        return name, value, 1
    if word in TAKES_VALUE:
        return (word, words[at + 1].text, 2) if at + 1 < len(words) else (word, None, 1)
    if len(word) > 2 and word[:2] in ("-e", "-v", "-p") and not re.fullmatch(r"-[dit]+", word):
        return word[:2], word[2:].lstrip("="), 1
    return word, None, 1


def _take(name: str, value: str | None, tokens: list[str], pasted: Pasted) -> None:
    """Put one option where it belongs."""
    if value is not None and name in ("-e", "--env"):
        _variable(value, tokens, pasted)
    elif value is not None and name == "--device":
        _device(value, tokens, pasted)
    elif value is not None and name in ("-v", "--volume", "--mount"):
        _volume(name, value, tokens, pasted)
    elif value is not None and name in ("-p", "--publish"):
        _port(value, tokens, pasted)
    elif value is not None and name in ("--network", "--net"):
        pasted.network = "host" if value == "host" else ""
        if value != "host":
            pasted.ignore(say("Only the port is published, so the container needs no network of its own."), tokens)
        else:
            pasted.take(*tokens)
    elif value is not None and name == "--shm-size" and (size := re.fullmatch(r"([\d.]+)([a-z]?)b?", value.lower())):
        pasted.shm_gib = max(1, math.ceil(float(size[1].strip(".") or 1) * _SIZES.get(size[2], 1.0)))
        pasted.take(*tokens)
    elif name in ("--gpus", "--runtime") and value != "ascend":
        why = say("It gives NVIDIA cards to a container.")
        pasted.find(" ".join(tokens), why, say("NPUs are given with --device /dev/davinci0 and so on."))
    else:
        pasted.ignore(_why(name), tokens)


def _variable(value: str, tokens: list[str], pasted: Pasted) -> None:
    name, is_set, text = value.partition("=")
    pasted.variable(name, text if is_set else "", " ".join(tokens))


def _device(value: str, tokens: list[str], pasted: Pasted) -> None:
    if found := _NPU.fullmatch(value):
        pasted.device_ids = (*pasted.device_ids, int(found[1]))
        pasted.take(*tokens)
    elif value.partition(":")[0] in SHARED_DEVICES:
        pasted.shared_devices.append(value.partition(":")[0])
        pasted.take(*tokens)
    elif "nvidia" in value:
        pasted.find(" ".join(tokens), say("It is a device of NVIDIA cards."), say("Leave it out."))
    else:
        pasted.ignore(say("NPUs need no such device."), tokens)


def _volume(name: str, value: str, tokens: list[str], pasted: Pasted) -> None:
    if name == "--mount":
        parts = dict(part.partition("=")[::2] for part in value.split(","))
        source = parts.get("source") or parts.get("src") or ""
        target = parts.get("target") or parts.get("destination") or parts.get("dst") or ""
        value = f"{source}:{target}" + (":ro" if "readonly" in parts or "ro" in parts else "")
    pasted.targets.append(value.split(":")[1] if ":" in value else value)
    if value.partition(":")[0].startswith(OF_THE_DRIVER):
        pasted.take(*tokens)
    elif value.startswith("/") and value.count(":") >= 1:
        pasted.mounts.append(value)
        pasted.take(*tokens)
    else:
        pasted.ignore(say("It is not a folder of the host by its whole path."), tokens)


def _port(value: str, tokens: list[str], pasted: Pasted) -> None:
    found = re.fullmatch(r"(?:(\[[^\]]+\]|[^:]+):)?(\d{1,5}):(\d{1,5})(?:/tcp)?", value)
    if found is None or pasted.port is not None:
        pasted.ignore(say("One port is published, that of the server."), tokens)
        return
    if not all(limits()["--port"].holds(int(port)) for port in found.groups()[1:]):
        why = say("{name} does not take {value}.", name="-p", value=value)
        pasted.find(" ".join(tokens), why, say("It takes {limit}.", limit=limits()["--port"].text))
        return
    pasted.port = int(found[2])
    pasted.host = (found[1] or "0.0.0.0").strip("[]")
    pasted.take(*tokens)


def _why(name: str) -> Text:
    if name == "--name":
        return say("The console names containers itself, by model and port.")
    if name in ("--privileged", "--cap-add", "--security-opt"):
        return say("A container that is given its devices by name needs no more rights.")
    if name in ("--ipc", "--pid"):
        return say("The size of the shared memory is enough; the console adds what the chip needs.")
    return say("It does not change the server; the console starts and ends containers itself.")
