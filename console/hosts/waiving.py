"""What a person decides about a check of a host: it need not pass, or it counts again."""

from console.checks import CHECKS
from console.errors import InvalidInput, NotFound
from console.hosts import observe, waivers
from console.hosts.inventory import Host
from console.text import say, verbatim


def waive(host: Host, check: str, *, reason: str, name: str, actor: str, profile: str | None = None) -> None:
    """Waive a check that did not pass. InvalidInput for one that did, or when the host was never checked."""
    if check not in CHECKS:
        raise NotFound(
            say("There is no check {name}. There are: {names}.", name=verbatim(check), names=", ".join(CHECKS))
        )
    checked = observe.judged(host, profile)
    if checked is None:
        raise InvalidInput(say("{host} has not been checked yet. Check it first.", host=host.title))
    found = next((one for one in checked.judged if one.name == check), None)
    if found is not None and found.passed:
        raise InvalidInput(
            say("“{check}” passes on {host}: nothing has to be waived.", check=found.title, host=host.title)
        )
    waivers.write(host.id, check, reason=reason, name=name, actor=actor)


def end(host: Host, check: str, *, actor: str) -> None:
    """Let the check count again. NotFound when it is not waived."""
    waivers.end(host.id, check, actor=actor)
