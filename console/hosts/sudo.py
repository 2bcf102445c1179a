"""Acting as root on a host, with a password that travels on standard input only.

A short command goes through `Root`. A detached script begins with `prelude`, after which it says `root COMMAND` (or
`sudo -A COMMAND`): when sudo wants a password there, its helper leaves the mark `sudo-asked.<pid of sudo>` in the
folder of the command and waits at a pipe; whoever follows the command sees the mark (`Look.asks`) and hands the
password over with `hand`.
"""

import shlex
from collections.abc import Mapping

from console.errors import HostError
from console.hosts.keys import Password
from console.hosts.reach import Reach, Sudo
from console.hosts.runner import Outcome, Runner
from console.text import say

BEGUN = "pilot-as-root"
"""What a command says on standard error once it is root; sudo's own words come before."""
HAND_S = 10


class Root:
    """Runs scripts as root on the host of `runner`, in the way the inventory says that works."""

    def __init__(self, runner: Runner, reach: Reach, password: Password | None = None) -> None:
        self.runner, self.reach, self.password = runner, reach, password

    def run(self, script: str, *, timeout_s: float = 30) -> Outcome:
        """Like Runner.run, without standard input. HostError when the user does not become root, with sudo's words."""
        if self.reach.user == "root":
            return self.runner.run(script, timeout_s=timeout_s)
        if self.reach.sudo == Sudo.NONE:
            raise HostError(
                say(
                    "{user} may not use sudo on {where}, as the inventory says.",
                    user=self.reach.user,
                    where=str(self.reach),
                )
            )
        secret = b"" if self.password is None else self.password.reveal().encode() + b"\n"
        sudo = "sudo -n" if self.password is None else "sudo -k -S -p ''"
        outcome = self.runner.run(_wrapped(sudo, script), timeout_s=timeout_s, stdin=secret)
        before, begun, err = outcome.err.partition(f"{BEGUN}\n")
        if not begun:
            raise refused(self.reach, before or outcome.out)
        return Outcome(outcome.code, outcome.out, err, outcome.seconds)


def check(runner: Runner, reach: Reach, password: Password) -> None:
    """Whether sudo takes this password. HostError when it does not."""
    Root(runner, reach, password).run("true")


def prelude(reach: Reach | None) -> str:
    """What stands before a detached script on a host where sudo wants a password; "" elsewhere."""
    return PRELUDE if reach is not None and reach.user != "root" and reach.sudo == Sudo.PASSWORD else ""


def hand(runner: Runner, folder: str, pid: str, password: Password) -> None:
    """Hand the password to the sudo that asks in the folder of a detached command. Nobody there is fine."""
    mark = shlex.quote(f"sudo-asked.{pid}")
    runner.run(
        f"cd {shlex.quote(folder)} && rm -f {mark} && timeout {HAND_S} sh -c 'cat > sudo-answer'",
        timeout_s=HAND_S + 10,
        stdin=password.reveal().encode() + b"\n",
    )


def refused(reach: Reach, said: str) -> HostError:
    words = " ".join(said.split())
    values: Mapping[str, str] = {"user": reach.user, "where": str(reach), "error": words[:300] or "-"}
    if any(one in words for one in ("incorrect password", "Sorry, try again", "no password was provided")):
        return HostError(say("sudo on {where} refused the password of {user}. It said: {error}", **values))
    return HostError(say("sudo on {where} does not make {user} root: {error}", **values))


def _wrapped(sudo: str, script: str) -> str:
    """`script` under sudo. A password that sudo did not ask for is read away first, so that no script gets to see it.

    Nothing but the one password is sent: sudo would try further lines as passwords too, and three wrong ones lock many
    an account.
    """
    inner = f"cat >/dev/null; echo {BEGUN} >&2; exec sh -c {shlex.quote(script)} </dev/null"
    return f"export LC_ALL=C; {sudo} -- sh -c {shlex.quote(inner)}"


PRELUDE = r"""
if ! sudo -n true 2>/dev/null; then
  mkfifo -m 600 sudo-answer 2>/dev/null
  cat > sudo-ask <<'ASK'
#!/bin/sh
cd "$(dirname "$0")" && : > "sudo-asked.$PPID" && cat sudo-answer
ASK
  chmod 700 sudo-ask
  SUDO_ASKPASS=$PWD/sudo-ask
  export SUDO_ASKPASS
fi
root() { if [ -n "${SUDO_ASKPASS:-}" ]; then sudo -A -- "$@"; else sudo -n -- "$@"; fi; }
"""
