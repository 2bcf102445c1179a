"""One server as a file for elsewhere: a shell script, a systemd unit, a compose file or a Kubernetes manifest.

A key stands in them only where somebody asks for it: otherwise a placeholder says where it belongs.
"""

import re
import shlex
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import yaml

from console.errors import InvalidInput
from console.serving import ascend
from console.serving.asked import ServeSpec
from console.serving.backends import USUAL, Site, ascend_docker
from console.serving.command import API_KEY, OFFLINE, Command, command, shell
from console.serving.spec import name_of
from console.text import say

KEY = "YOUR_API_KEY"
"""Stands where a key belongs."""
RESOURCES = {"A2": "huawei.com/Ascend910", "A3": "huawei.com/Ascend910", "310P": "huawei.com/Ascend310P"}
"""What the vendor's device plugin calls NPUs, by family. General knowledge of that plugin; no source was opened."""
ABOUT_RESOURCES = (
    "# Needs the vendor's device plugin for NPUs. `kubectl describe node` tells what it calls them; if that is\n"
    "# another name than below limits, write that one.\n"
)


class Form(StrEnum):
    """Kinds of files; compose and Kubernetes are for containers."""

    SCRIPT = "script"
    SYSTEMD = "systemd"
    COMPOSE = "compose"
    KUBERNETES = "kubernetes"


FILE_NAMES: Mapping[Form, str] = {
    Form.SCRIPT: "{name}.sh",
    Form.SYSTEMD: "{name}.service",
    Form.COMPOSE: "compose.yaml",
    Form.KUBERNETES: "{name}.yaml",
}


def forms(spec: ServeSpec) -> tuple[Form, ...]:
    """What a server can be exported as."""
    if spec.backend != ascend.DOCKER:
        return (Form.SCRIPT, Form.SYSTEMD)
    is_known = ascend.family_of(spec.chip) in RESOURCES
    return tuple(form for form in Form if is_known or form is not Form.KUBERNETES)


def file_name(spec: ServeSpec, form: Form) -> str:
    """What to call the file."""
    return FILE_NAMES[form].format(name=_name(spec))


def export(spec: ServeSpec, form: Form, runtime_folder: str, key: str | None = None, site: Site = USUAL) -> str:
    """The file's text; `spec` has no refusals. `key` stands in it only where it is given, for it was asked for.

    What runs on the host itself (a script, a unit) is for a host like `site`.

    Raises InvalidInput for a form that `forms` does not offer.
    """
    if form not in forms(spec):
        raise InvalidInput(say("This is for containers on chips whose Kubernetes resource is known."))
    if form is Form.COMPOSE:
        return _yaml(compose(spec, key))
    if form is Form.KUBERNETES:
        text = yaml.safe_dump_all(manifests(spec, key), sort_keys=False, allow_unicode=True, width=1000)
        return ABOUT_RESOURCES + text
    made = command(spec, runtime_folder, site)
    return script(made, key) if form is Form.SCRIPT else unit(spec, made, key)


def script(made: Command, key: str | None = None) -> str:
    """A script for a POSIX shell that becomes the server."""
    if key is None:
        secret = "".join(f'# {name}={KEY}\n: "${{{name}:?}}"\nexport {name}\n' for name in made.secret_env)
    else:
        secret = "".join(f"{name}={shlex.quote(key)}\nexport {name}\n" for name in made.secret_env)
    plain = Command(made.argv, made.env, (), made.begins)
    lines = shell(plain)
    begin = "exec env \\\n  " if made.env else "exec "
    return f"#!/bin/sh\nset -eu\n{secret}{begin}{lines}\n"


def unit(spec: ServeSpec, made: Command, key: str | None = None) -> str:
    """A unit of systemd; in it % and $ have meanings of their own, and a line cannot hold what quoting must spread."""
    lines = ["[Unit]", f"Description=vLLM {_unit_text(spec.served_name)}", "After=network-online.target"]
    lines += ["Wants=network-online.target", "", "[Service]", "Type=exec"]
    lines += [f"Environment={_unit_word(f'{name}={value}')}" for name, value in sorted(made.env.items())]
    if key is None:
        lines += [f"# {name} stands in this file, which only root may read: {name}={KEY}" for name in made.secret_env]
        lines += [f"EnvironmentFile=/etc/vllm/{_name(spec)}.env" for _ in made.secret_env[:1]]
    else:
        lines += [f"Environment={_unit_word(f'{name}={key}')}" for name in made.secret_env]
    lines += [f"ExecStart={' '.join(_unit_words(made.argv))}"]
    if spec.backend == ascend.DOCKER:
        lines.append(f"ExecStop={' '.join(_unit_words(('docker', 'stop', ascend_docker.container_name(spec))))}")
    lines += ["KillSignal=SIGINT", "TimeoutStopSec=120", "Restart=on-failure", "RestartSec=10", ""]
    lines += ["[Install]", "WantedBy=multi-user.target", ""]
    return "\n".join(lines)


def _unit_words(argv: tuple[str, ...]) -> list[str]:
    """The program by its whole path, where it has none through env, then every word for ExecStart."""
    words = argv if argv[0].startswith("/") else ("/usr/bin/env", *argv)
    return [_unit_word(word.replace("$", "$$")) for word in words]


def _unit_word(word: str) -> str:
    """One word as systemd reads it back (systemd.syntax, systemd.service)."""
    word = word.replace("%", "%%")
    if re.fullmatch(r"[\w@%+=:,./$-]+", word, re.ASCII):
        return word
    escaped = (
        word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    )
    return f'"{escaped}"'


def _unit_text(text: str) -> str:
    return text.replace("%", "%%").replace("\n", " ")


def compose(spec: ServeSpec, key: str | None = None) -> dict[str, Any]:
    """A compose file of one service; in it $ has a meaning of its own."""
    inside = _inside(spec)
    service: dict[str, Any] = {
        "image": ascend_docker.image_of(spec),
        "container_name": ascend_docker.container_name(spec),
        "command": [_compose_word(word) for word in inside],
        "environment": {name: _compose_word(value) for name, value in sorted(_environment(spec).items())},
        "devices": list(ascend_docker.devices(spec)),
        "volumes": [_compose_word(volume) for volume in ascend_docker.volumes(spec)],
        "shm_size": f"{ascend_docker.SHM_GIB if spec.shm_gib is None else spec.shm_gib}g",
        "stop_signal": "SIGINT",
        "stop_grace_period": "2m",
        "restart": "on-failure",
    }
    if spec.network == "host":
        service["network_mode"] = "host"
    else:
        service["ports"] = [ascend_docker.published(spec)]
    if ascend.family_of(spec.chip) == "A5":
        service["pid"] = "host"
    if spec.api_key:
        service["environment"][API_KEY] = f"${{{API_KEY}:?{KEY}}}" if key is None else _compose_word(key)
    return {"services": {"vllm": service}}


def _compose_word(word: str) -> str:
    return word.replace("$", "$$")


def manifests(spec: ServeSpec, key: str | None = None) -> list[dict[str, Any]]:
    """A Deployment and a Service, and a Secret where a key is asked for; the vendor's device plugin gives the NPUs."""
    name, labels = _name(spec), {"app": _name(spec)}
    made: list[dict[str, Any]] = []
    if spec.api_key:
        secret = {API_KEY: KEY if key is None else key}
        made.append({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"{name}-key"}, "stringData": secret})
    made.append(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "labels": labels},
            "spec": {
                "replicas": 1,
                "strategy": {"type": "Recreate"},
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": _pod(spec)},
            },
        }
    )
    service = {"selector": labels, "ports": [{"port": spec.port, "targetPort": spec.port}]}
    made.append({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": service})
    return made


def _pod(spec: ServeSpec) -> dict[str, Any]:
    volumes, mounts = [], []
    for number, volume in enumerate(ascend_docker.volumes(spec)):
        host, inside, *mode = volume.split(":")
        volumes.append({"name": f"v{number}", "hostPath": {"path": host}})
        mounts.append({"name": f"v{number}", "mountPath": inside, **({"readOnly": True} if mode == ["ro"] else {})})
    size = f"{ascend_docker.SHM_GIB if spec.shm_gib is None else spec.shm_gib}Gi"
    volumes.append({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": size}})
    mounts.append({"name": "shm", "mountPath": "/dev/shm"})
    resource = RESOURCES[ascend.family_of(spec.chip) or ""]
    environment: list[dict[str, Any]] = [
        {"name": name, "value": _kubernetes_word(value)} for name, value in sorted(_environment(spec).items())
    ]
    if spec.api_key:
        source = {"secretKeyRef": {"name": f"{_name(spec)}-key", "key": API_KEY}}
        environment.append({"name": API_KEY, "valueFrom": source})
    probe = {"httpGet": {"path": "/health", "port": spec.port}}
    container = {
        "name": "vllm",
        "image": ascend_docker.image_of(spec),
        "command": [_kubernetes_word(word) for word in _inside(spec)],
        "env": environment,
        "ports": [{"containerPort": spec.port}],
        "resources": {"limits": {resource: len(spec.device_ids)}},
        "volumeMounts": mounts,
        "startupProbe": {**probe, "periodSeconds": 10, "failureThreshold": 360},
        "readinessProbe": {**probe, "periodSeconds": 10},
    }
    network: dict[str, Any] = {"hostNetwork": True} if spec.network == "host" else {}
    return {**network, "containers": [container], "volumes": volumes, "terminationGracePeriodSeconds": 120}


def _kubernetes_word(word: str) -> str:
    """$(NAME) would be replaced by a variable; a doubled dollar stays one."""
    return word.replace("$(", "$$(")


def _inside(spec: ServeSpec) -> tuple[str, ...]:
    """The command within the container."""
    argv = command(spec, "").argv
    return argv[argv.index(ascend_docker.image_of(spec)) + 1 :]


def _environment(spec: ServeSpec) -> dict[str, str]:
    return {**spec.extra_env, **OFFLINE}


def _name(spec: ServeSpec) -> str:
    """A name as Kubernetes wants it: small letters, digits and dashes."""
    small = re.sub(r"[^a-z0-9]+", "-", name_of(spec.served_name).lower()).strip("-")[:40].strip("-")
    return f"vllm-{small or 'model'}-{spec.port}"


def _yaml(tree: Mapping[str, Any]) -> str:
    return yaml.safe_dump(dict(tree), sort_keys=False, allow_unicode=True, width=1000)
