"""The container of an attempt: told from others by a mark in its environment, and ended by its name.

A container is no child of the program that asked for it, so its processes are not among those of the attempt's session.
A name belongs to one container of a host at a time, and the mark says which attempt made it: whatever else has that
name is left alone.
"""

import shlex
from dataclasses import replace

from console.errors import HostError
from console.hosts.listening import Listening
from console.hosts.process import Detached
from console.serving.ascend import DOCKER
from console.serving.asked import ServeSpec
from console.serving.backends.ascend_docker import container_name
from console.text import say

MARK = "PILOT_ATTEMPT"
"""Variable of the container's environment that holds the folder of the attempt."""
GRACE_S = 15
LOOK = r"""
engine=docker
docker ps -q >/dev/null 2>&1 || ! sudo -n docker ps -q >/dev/null 2>&1 || engine='sudo -n docker'
state() {  # true or false of the container with this mark; nothing when there is none
  $engine inspect -f '{{json .Config.Env}}' "$name" 2>/dev/null | grep -qF "\"$mark\"" || return 0
  $engine inspect -f '{{.State.Running}}' "$name" 2>/dev/null
}
"""
END = r"""
command -v docker >/dev/null 2>&1 || exit 0
if ! said=$($engine ps -q 2>&1); then
  case $said in *'daemon running'* | *'daemon is running'*) exit 0 ;; esac  # then no container runs either
  echo "$said" >&2
  exit 1
fi
[ -n "$(state)" ] || exit 0
$engine stop -t "$grace" "$name" >/dev/null 2>&1
$engine rm -f "$name" >/dev/null 2>&1
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -n "$(state)" ] || exit 0; sleep 0.5; done
echo "the container $name is still there" >&2
exit 1
"""
"""Both act as the user itself, else by sudo: in the way in which the container was started."""


def marked(spec: ServeSpec, folder: str) -> ServeSpec:
    """The spec whose container says which attempt it is of; any other stays as it is."""
    if spec.backend != DOCKER:
        return spec
    return replace(spec, extra_env={**spec.extra_env, MARK: folder})


def end(spec: ServeSpec, attempt: Detached) -> None:
    """End everything the attempt started, its container too. HostError when something is left.

    The container goes first: the program that shows its log ends with it, also one under sudo, which nobody else may
    end. It is looked for again behind that program, which may just have been starting it.
    """
    if spec.backend == DOCKER:
        _end_container(spec, attempt)
    attempt.stop()
    if spec.backend == DOCKER:
        _end_container(spec, attempt)


def _end_container(spec: ServeSpec, attempt: Detached) -> None:
    outcome = attempt.runner.run(_words(spec, attempt) + END, timeout_s=GRACE_S + 45)
    if outcome.code != 0:
        raise HostError(say("The container of the server could not be ended: {error}", error=outcome.err.strip()))


def listening(spec: ServeSpec, attempt: Detached) -> Listening:
    """Whether the container of this attempt runs: then its port is its own, for Docker gives a port away only once."""
    outcome = attempt.runner.run(_words(spec, attempt) + "state")
    return Listening(outcome.out.strip() == "true")


def _words(spec: ServeSpec, attempt: Detached) -> str:
    name, mark = shlex.quote(container_name(spec)), shlex.quote(f"{MARK}={attempt.folder}")
    return f"name={name} mark={mark} grace={GRACE_S}\n{LOOK}"
