"""The first link to the console; it carries the start token."""

from console.settings import settings
from console.surface.gate import PARAMETER, token

ADDRESS = "127.0.0.1"


def link(port: int) -> str:
    """Opens the console of this data folder at `port`; whoever has it can drive the console."""
    return f"http://{ADDRESS}:{port}/?{PARAMETER}={token(settings().token)}"
