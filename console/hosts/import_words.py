"""What an import would do, in words."""

from console.hosts.importing import Change, Preview, What
from console.text import Text, say

WORDS = {
    What.CREATE: say("new"),
    What.CHANGE: say("changed"),
    What.SAME: say("as it is"),
    What.REFUSED: say("refused"),
    What.SKIPPED: say("left out"),
}


def of_what(what: What) -> Text:
    return WORDS[what]


def of_change(one: Change) -> Text:
    """One field, from what it is to what it would be."""
    nothing = say("nothing")
    if one.old is None:
        return say("{field}: {new}", field=one.title, new=one.new or nothing)
    return say("{field}: {old} → {new}", field=one.title, old=one.old, new=one.new or nothing)


def counted(planned: Preview) -> Text:
    counts = planned.counts
    return say(
        "{new} new, {changed} changed, {same} as they are, {refused} refused, {left} left out",
        new=counts[What.CREATE],
        changed=counts[What.CHANGE],
        same=counts[What.SAME],
        refused=counts[What.REFUSED],
        left=counts[What.SKIPPED],
    )
