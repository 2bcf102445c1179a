"""Where things lie on a host that serves: the runtime below its work folder, CANN, and how its user gets at Docker."""

import platform
import shlex

from console.errors import InvalidInput
from console.hosts import inventory
from console.hosts.installed import options_of
from console.hosts.inventory import Host
from console.hosts.programs import machine_name
from console.hosts.runner import Outcome
from console.serving import ascend
from console.serving.asked import ServeSpec
from console.serving.backends import USUAL, Site, backend
from console.serving.backends.ascend_docker import image_of
from console.serving.command import API_KEY
from console.text import Text, say

LIMIT_S = 60.0
ROOT = ("sudo", "-n")
_archs: dict[str, str] = {}
"""What each way leads to, asked once in a process: the machine behind an address does not change its processor."""


def arch(host: Host) -> str:
    """Which programs run there: x86_64 or aarch64. HostError when the host cannot be asked."""
    if host.reach is None:
        return platform.machine()
    way = host.reach.to_json()
    if way not in _archs:
        _archs[way] = machine_name(host)
    return _archs[way]


def runtime_folder(host: Host, name: str) -> str:
    """Where the runtime of the backend `name` is on this host, installed or not."""
    return backend(name).runtime_folder(host.work_folder, arch(host))


def site(host: Host, spec: ServeSpec) -> Site:
    """What the host decides about the command of this server, as it is now.

    InvalidInput when something is missing that no server of this kind starts without: CANN, or Docker and its image.
    """
    if spec.backend == ascend.VENV:
        return Site(cann=_cann(host))
    if spec.backend == ascend.DOCKER:
        return Site(root=_docker(host, spec))
    return USUAL


def _cann(host: Host) -> str:
    """Where the plan of this host puts it, else where its driver is, else the usual places."""
    planned = options_of(host).prefix
    said = _asked(host, f"planned={shlex.quote(planned)}\n{CANN}")
    looked, *found = said.out.splitlines() or [""]
    for kind, _, folder in sorted((line.partition(" ") for line in found), key=lambda one: one[0] != "whole"):
        if kind == "whole":
            return folder
        raise InvalidInput(
            say(
                "CANN lies in {folder} on {host}, but NNAL is not beside it, and vllm-ascend does not start without. "
                "Install it, most easily on the Install page.",
                folder=folder,
                host=host.title,
            )
        )
    raise InvalidInput(
        say(
            "CANN was not found on {host}: no {file} in {folders}. Install it, most easily on the Install page.",
            host=host.title,
            file="cann/set_env.sh",
            folders=", ".join(dict.fromkeys(looked.split(", "))),
        )
    )


def _docker(host: Host, spec: ServeSpec) -> tuple[str, ...]:
    """The words before `docker`."""
    image = image_of(spec)
    words = f"image={shlex.quote(image)} key={API_KEY if spec.api_key else ''}\n{DOCKER}"
    said = _asked(host, words)
    way, _, error = said.out.strip().partition("\n")
    if way in ("plain", "root"):
        return ROOT if way == "root" else ()
    raise InvalidInput(_no_docker(host, way, " ".join(error.split())[:300] or "-", image))


def _no_docker(host: Host, way: str, error: str, image: str) -> Text:
    """What is wrong, and what to do about it."""
    match way:
        case "absent":
            return say("There is no Docker on {host}. Install it, most easily on the Install page.", host=host.title)
        case "image":
            return say(
                "The image {image} is not on {host}. Load or pull it, most easily on the Install page.",
                image=image,
                host=host.title,
            )
        case "down":
            return say(
                "Docker is installed on {host}, but its daemon does not run. Start it there with: sudo systemctl start "
                "docker",
                host=host.title,
            )
    user = "root" if host.reach is None else host.reach.user
    return say(
        "{user} may not use Docker on {host}: {error}. Add {user} to the group docker there (sudo usermod -aG docker "
        "{user}), or let sudo run docker without a password.",
        user=user,
        host=host.title,
        error=error,
    )


def _asked(host: Host, script: str) -> Outcome:
    return inventory.runner(host).run(script, timeout_s=LIMIT_S)


CANN = r"""
driver=$(sed -n 's/^Driver_Install_Path_Param=//p' /etc/ascend_install.info 2>/dev/null)
set -- "${planned:-$HOME/Ascend}" "${driver:-/usr/local/Ascend}" /usr/local/Ascend "$HOME/Ascend"
printf '%s, ' "$@" | sed 's/, $//'; echo
for at; do
  for each in "$at/cann" "$at/ascend-toolkit"; do
    [ -r "$each/set_env.sh" ] || continue
    if [ -r "$at/nnal/atb/set_env.sh" ]; then echo "whole $at"; else echo "bare $at"; fi
  done
done
"""
"""Says where it looked, then of each folder with CANN whether NNAL is there too (whole) or not (bare)."""

DOCKER = r"""
LC_ALL=C; export LC_ALL
command -v docker >/dev/null 2>&1 || { echo absent; exit 0; }
root() { if [ -n "$key" ]; then export "$key=-"; sudo -n --preserve-env="$key" -- "$@"; else sudo -n -- "$@"; fi; }
engine=docker way=plain
if ! said=$(docker ps -q 2>&1); then
  case $said in
    *'permission denied'*)
      if by=$(root docker ps -q 2>&1); then engine='sudo -n docker' way=root; else said="$said; $by"; fi
      ;;
  esac
  if [ "$way" = plain ]; then
    case $said in *'daemon running'* | *'daemon is running'*) echo down ;; *) echo refused ;; esac
    printf '%s
' "$said"
    exit 0
  fi
fi
$engine image inspect "$image" >/dev/null 2>&1 || way=image
echo "$way"
"""
"""Says plain or root when the image is there for a user who may start it; else what is wrong, and Docker's words.

The image is asked for here because `docker run` would begin to pull it, and old releases have no `--pull never`.
"""
