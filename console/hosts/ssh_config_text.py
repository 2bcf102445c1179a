"""The files of an ssh configuration put together, without what would have to be run or asked to understand it."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paramiko import SSHConfig, SSHException

from console.errors import InvalidInput, unreadable
from console.hosts.importing import Left
from console.text import Text, say

MOST_DEPTH = 16
MOST_BYTES = 2_000_000
READ_KEYS = ("hostname", "user", "port", "identityfile", "identitiesonly")
UNDERSTOOD = ("host", "match", "include", "proxyjump", "proxycommand", "canonicalizehostname", *READ_KEYS)
WAY = "proxyway"
"""The one key that ProxyJump and ProxyCommand are put under, since the first of the two counts, whichever it is."""
ALONE, WITH_PATTERN = ("all", "canonical", "final"), ("host", "originalhost", "user", "localuser")
"""The criteria of Match that can be decided without running or asking anything."""
NEVER = "Match originalhost !*\n"
"""A block that applies to no host."""
_LINE = re.compile(r"(\w+)(?:\s*=\s*|\s+)(.*)")


class _Config(SSHConfig):
    """Blocks and patterns as paramiko reads them; tokens are filled in here, since it would ask DNS for some."""

    TOKENS_BY_CONFIG_KEY: Mapping[str, list[str]] = {}  # type: ignore[assignment]


@dataclass
class Gathered:
    """The files put together: what is understood, the hosts they name with their lines, and what was left out."""

    lines: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)
    remarks: list[Text] = field(default_factory=list)

    def config(self, path: Path) -> SSHConfig:
        """What looks up a host."""
        try:
            return _Config.from_text("".join(self.lines))
        except SSHException as error:
            raise unreadable(path, error) from error


def evident(text: str) -> bool:
    """Whether this looks like a file of this kind."""
    first = next((line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")), "")
    found = _LINE.fullmatch(first)
    return found is not None and found[1].lower() in UNDERSTOOD


def gathered(path: Path) -> Gathered:
    """This file and those it includes. InvalidInput when one cannot be read."""
    text = Gathered()
    _gather(path, path, text, "Host *\n", depth=0)
    return text


def _gather(path: Path, root: Path, text: Gathered, block: str, *, depth: int) -> None:
    """Put the lines of one file into `text`; `block` is the heading of the block that it is included in."""
    for number, line in enumerate(_lines(path), start=1):
        place = str(number) if path == root else f"{path.name}:{number}"
        words = line.strip()
        if not words or words.startswith("#"):
            continue
        found = _LINE.fullmatch(words)
        key = found[1].lower() if found else ""
        if found is not None and key not in UNDERSTOOD:
            continue
        tokens = split(found[2]) if found else None
        if found is None or not tokens or not "".join(tokens):
            text.left.append(Left(place, words[:40], say("This line cannot be read.")))
            continue
        if key == "host":
            block = _host_block(tokens, place, text)
        elif key == "match":
            block = _match_block(tokens, place, text)
        elif key == "include":
            _include(tokens, path, root, text, block, place, depth)
        elif key in READ_KEYS:
            text.lines.append(f"{key} {' '.join(tokens)}\n")
        elif key in ("proxyjump", "proxycommand"):
            text.lines.append(f"{WAY} {key} {found[2]}\n")
        elif key == "canonicalizehostname" and tokens[0].lower() != "no":
            text.remarks.append(
                say("Line {line}: CanonicalizeHostname is not followed; names stay as they are.", line=place)
            )


def _host_block(tokens: list[str], place: str, text: Gathered) -> str:
    block = f"Host {shlex.join(tokens)}\n"
    text.lines.append(block)
    names = [one for one in tokens if not re.search(r"[*?!]", one)]
    for name in names:
        text.names.setdefault(name, place)
    if not names and tokens != ["*"]:
        why = say("This is a pattern and no host; what it says applies to the hosts that fit it.")
        text.left.append(Left(place, " ".join(tokens), why, skipped=True))
    return block


def _match_block(tokens: list[str], place: str, text: Gathered) -> str:
    """The block as paramiko may decide it, or one that never applies."""
    rest, kept = list(tokens), []
    while rest:
        word = rest.pop(0).lower()
        criterion = word.removeprefix("!")
        if criterion not in ALONE + WITH_PATTERN or (criterion in WITH_PATTERN and not rest):
            why = say(
                "“Match {what}” is not decided here, and nothing is run for it: what the block says is left out.",
                what=criterion,
            )
            text.left.append(Left(place, f"Match {' '.join(tokens)}", why, skipped=True))
            text.lines.append(NEVER)
            return NEVER
        kept += [word, rest.pop(0)] if criterion in WITH_PATTERN else [word]
    kept = [word for word in kept if word != "all"] or ["all"]
    block = f"Match {shlex.join(kept)}\n"
    text.lines.append(block)
    return block


def _include(tokens: list[str], path: Path, root: Path, text: Gathered, block: str, place: str, depth: int) -> None:
    """What another file says, at this place; it is read only where it applies to every host."""
    if block not in ("Host *\n", "Match all\n"):
        why = say("An Include inside a block for some hosts is not followed. Move it to the beginning of the file.")
        text.left.append(Left(place, f"Include {' '.join(tokens)}", why, skipped=True))
        return
    if depth >= MOST_DEPTH:
        raise InvalidInput(say("The files include each other more than {most} deep.", most=MOST_DEPTH))
    for token in tokens:
        pattern = Path(token).expanduser()
        files = _files(pattern if pattern.is_absolute() else root.parent / pattern)
        if not files:
            text.remarks.append(say("Line {line}: no file fits “Include {what}”.", line=place, what=token))
        for file in files:
            _gather(file, root, text, block, depth=depth + 1)
            text.lines.append(block)  # what follows here belongs to our block again


def _files(pattern: Path) -> list[Path]:
    anchor = Path(pattern.anchor)
    return sorted(one for one in anchor.glob(str(pattern.relative_to(anchor))) if one.is_file())


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InvalidInput(say("The file is larger than {size} MB; a list of hosts is not.", size=2))
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise InvalidInput(
            say("{path} cannot be read: {error}", path=str(path), error=error.strerror or str(error))
        ) from error


def split(words: str) -> list[str] | None:
    """The arguments of a line without a comment behind them; None when a quotation mark is missing."""
    try:
        return shlex.split(words, comments=True)
    except ValueError:
        return None
