"""Where the runtime lies on a host: below its work folder, under a name that its architecture decides about."""

import platform

from console.hosts import observe
from console.hosts.inventory import Host
from console.serving.backends import backend

_archs: dict[str, str] = {}
"""What each way leads to, asked once in a process: the machine behind an address does not change its processor."""


def arch(host: Host) -> str:
    """What `uname -m` says there: x86_64 or aarch64. HostError when the host cannot be asked."""
    if host.reach is None:
        return platform.machine()
    way = host.reach.to_json()
    if way not in _archs:
        _archs[way] = observe.machine_name(host)
    return _archs[way]


def runtime_folder(host: Host, name: str) -> str:
    """Where the runtime of the backend `name` is on this host, installed or not."""
    return backend(name).runtime_folder(host.work_folder, arch(host))
