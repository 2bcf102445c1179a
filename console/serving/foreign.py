"""Another program at an instance's port, as a sentence that says what to do about it."""

from console.hosts.listening import Holder, Listening
from console.text import Text, say


def foreign(found: Listening, port: int) -> Text | None:
    """Why what answers at `port` cannot be believed to be the instance; None when nobody else is there."""
    if not found.others:
        return None
    who = _who(found.others[0])
    if found.ours:
        return say(
            "It shares port {port} with {who}, so a request may reach either of them. End that program, or give this "
            "server another port and start it again.",
            port=str(port),
            who=who,
        )
    return say(
        "Port {port} is held by {who}, so what answers there is not this server. End that program, or give this server "
        "another port.",
        port=str(port),
        who=who,
    )


def _who(one: Holder) -> Text:
    if not one.pid:
        return say("a process of another user")
    return say("process {pid} ({name})", pid=one.pid, name=one.name or "?")
