"""Who is logged in on the rehearsal host: `id`, `whoami`, `groups`, from the host's own passwd and group files."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

from pretend import place

AS = "REHEARSAL_AS"
"""Set by the simulated sudo for what it starts: the user that it runs as."""


class User(SimpleNamespace):
    """An account with its groups, the first one its own."""

    name: str
    uid: int
    gid: int
    group: str
    groups: tuple[str, ...]
    gids: tuple[int, ...]
    home: str


def login() -> place.Data:
    """The account of this login, with its rights to sudo: no | password | nopasswd."""
    return place.read("login") or {"user": "root", "sudo": "nopasswd"}


def current() -> User:
    name = os.environ.get(AS) or login()["user"]
    return lookup(name) or _unlisted(name)


def _unlisted(name: str) -> User:
    uid, home = (0, "/root") if name == "root" else (1000, f"/home/{name}")
    return User(name=name, uid=uid, gid=uid, group=name, groups=(name,), gids=(uid,), home=home)


def rows(file: str) -> list[list[str]]:
    """The lines of /etc/passwd or /etc/group as fields."""
    try:
        with open(place.where(f"/etc/{file}")) as opened:
            return [line.rstrip("\n").split(":") for line in opened if line.strip()]
    except FileNotFoundError:
        return []


def lookup(name: str) -> User | None:
    """By name or number."""
    entry = next((row for row in rows("passwd") if len(row) > 5 and name in (row[0], row[2])), None)
    if entry is None:
        return None
    named = [(row[0], int(row[2]), row[3].split(",") if len(row) > 3 else []) for row in rows("group") if len(row) > 2]
    first = [(group, gid) for group, gid, _ in named if gid == int(entry[3])] or [(entry[3], int(entry[3]))]
    more = [(group, gid) for group, gid, members in named if entry[0] in members and gid != int(entry[3])]
    every = first + more
    names, gids = tuple(one[0] for one in every), tuple(one[1] for one in every)
    own = int(entry[3])
    return User(name=entry[0], uid=int(entry[2]), gid=own, group=names[0], groups=names, gids=gids, home=entry[5])


def main(name: str, words: list[str]) -> int:
    if name == "whoami":
        print(current().name)
        return 0
    flags = "".join(word[1:] for word in words if word.startswith("-") and not word.startswith("--"))
    asked = [word for word in words if not word.startswith("-")]
    if any(word.startswith("--") for word in words) or set(flags) - set("uGgn"):
        return place.become(name, words)
    user = lookup(asked[0]) if asked else current()
    if user is None:
        print(f"{name}: ‘{asked[0]}’: no such user", file=sys.stderr)
        return 1
    print(" ".join(user.groups) if name == "groups" else _words(user, flags))
    return 0


def _words(user: User, flags: str) -> str:
    as_name = "n" in flags
    if "u" in flags:
        return user.name if as_name else str(user.uid)
    if "G" in flags:
        return " ".join(user.groups if as_name else map(str, user.gids))
    if "g" in flags:
        return user.group if as_name else str(user.gid)
    groups = ",".join(f"{gid}({group})" for group, gid in zip(user.groups, user.gids, strict=True))
    return f"uid={user.uid}({user.name}) gid={user.gid}({user.group}) groups={groups}"
