"""The checklist of hosts as a file: which form it takes, and what stands in it."""

import json
from collections.abc import Sequence
from datetime import UTC, tzinfo

from console.checks.report import Report, markdown, plain
from console.checks.report_html import html
from console.errors import InvalidInput
from console.hosts.inventory import Host
from console.hosts.observe import Checked
from console.text import say, verbatim

FORMS = ("html", "md", "json")
"""By the ending of the file's name."""


def report(host: Host, checked: Checked, zone: tzinfo = UTC) -> Report:
    """The checklist of one host as it would be sent."""
    way = "" if host.reach is None else " → ".join(str(hop) for hop in host.reach.hops)
    seen = checked.seen
    return Report(
        host.name, way, seen.time, checked.profile, checked.judged, seen.times, zone, host.scenario is not None
    )


def document(reports: Sequence[Report], form: str, language: str) -> str:
    """Text of the file. InvalidInput for a form that is not one of FORMS."""
    if form == "html":
        return html(reports, language)
    if form == "md":
        return markdown(reports, language)
    if form == "json":
        found = [plain(one, language) for one in reports]
        return json.dumps(found[0] if len(found) == 1 else {"hosts": found}, ensure_ascii=False, indent=2) + "\n"
    raise InvalidInput(
        say(
            "A report can be written as {forms}, not as {form}.",
            forms=", ".join(f".{one}" for one in FORMS),
            form=verbatim(f".{form}" if form else "-"),
        )
    )
