"""Two looks side by side: a host and itself at its last look, or two hosts."""

from collections.abc import Sequence
from dataclasses import dataclass

from console.checks import CHECKS, Judged
from console.checks.difference import Difference, FactDifference, Kind, differences, fact_differences
from console.errors import NotFound
from console.hosts import observe
from console.hosts.inventory import Host
from console.hosts.observe import Checked, Seen
from console.text import say


@dataclass(frozen=True)
class Changes:
    """What has changed since the whole probe at `since` (Unix seconds); empty when nothing has."""

    since: float
    found: Sequence[Difference]


@dataclass(frozen=True)
class Comparison:
    """Two hosts, every check and every fact of both, alike or not."""

    left: Checked
    right: Checked
    checks: Sequence[Difference]
    facts: Sequence[FactDifference]


def changes(host: Host, checked: Checked) -> Changes | None:
    """Against the whole probe before; None when there is none. Both are judged by the same profile, as of now.

    Waivers are of today and no news of the host, so they do not count.
    """
    former = observe.before(host, checked.seen.probe_id)
    if former is None:
        return None
    was = observe.judged_of(host, former, checked.profile.id)
    found = differences(_asked(was.judged, former), _asked(checked.judged, checked.seen))
    return Changes(former.time, [one for one in found if one.kind != Kind.SAME])


def compare(left: Host, right: Host, profile: str | None = None) -> Comparison:
    """Each by `profile`, or by the one that is usual for it. NotFound for a host that was never asked."""
    one, other = (_checked(host, profile) for host in (left, right))
    found = differences(_asked(one.judged, one.seen), _asked(other.judged, other.seen))
    return Comparison(one, other, found, fact_differences(one.seen.facts, other.seen.facts))


def _checked(host: Host, profile: str | None) -> Checked:
    found = observe.judged(host, profile)
    if found is None:
        raise NotFound(say("{host} has not been checked yet. Check it first.", host=host.title))
    return found


def _asked(judged: Sequence[Judged], seen: Seen) -> list[Judged]:
    """Without the checks for which the host was not asked: an older or a simpler look has no opinion on them."""
    return [one for one in judged if all(name in seen.raws for name in CHECKS[one.name].facts)]
