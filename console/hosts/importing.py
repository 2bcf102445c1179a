"""Hosts that a file describes, compared with the inventory, and entered together once a person has said yes."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from console.errors import Conflict, ConsoleError, InvalidInput
from console.hosts import inventory
from console.hosts.inventory import Host
from console.hosts.reach import Jump, Reach, Sudo, way
from console.records import writing
from console.text import Text, say, verbatim


class What(StrEnum):
    CREATE = "create"
    CHANGE = "change"
    SAME = "same"
    REFUSED = "refused"
    SKIPPED = "skipped"  # no host, or one that a person left out


@dataclass(frozen=True)
class Wanted:
    """One host as a file describes it; None = the file does not say it, so it stays as it is.

    place     where it stands: "12", or "lab.conf:12" in a file that another one includes
    remarks   what a person should know before saying yes
    """

    place: str
    name: str
    address: str
    port: int | None = None
    user: str | None = None
    key_file: str | None = None
    agent: bool | None = None
    jumps: tuple[Jump, ...] | None = None
    sudo: Sudo | None = None
    tags: tuple[str, ...] | None = None
    work_folder: str | None = None
    remarks: tuple[Text, ...] = ()


@dataclass(frozen=True)
class Left:
    """Something in a file that becomes no host, and why; `skipped` when nothing is wrong with it."""

    place: str
    name: str
    why: Text
    skipped: bool = False


@dataclass(frozen=True)
class Read:
    """What a file says, in its order, and remarks about it as a whole."""

    found: Sequence[Wanted | Left]
    remarks: Sequence[Text] = ()


@dataclass(frozen=True)
class Change:
    """One field as it is and as it would be; None where there is nothing."""

    title: Text
    old: Text | None
    new: Text | None


@dataclass(frozen=True)
class Entry:
    """What would happen with one host of the file. `host` is the one that is there, `reach` how it would be reached."""

    place: str
    name: str
    what: What
    changes: Sequence[Change] = ()
    why: Text | None = None
    remarks: Sequence[Text] = ()
    host: Host | None = None
    reach: Reach | None = None
    tags: tuple[str, ...] = ()
    work_folder: str = ""


@dataclass(frozen=True)
class Preview:
    """What an import would do; nothing is written by making it."""

    entries: Sequence[Entry]
    remarks: Sequence[Text] = ()

    @property
    def writes(self) -> list[Entry]:
        return [one for one in self.entries if one.what in (What.CREATE, What.CHANGE)]

    @property
    def counts(self) -> Counter[What]:
        return Counter(one.what for one in self.entries)


def preview(read: Read, without: Collection[str] = ()) -> Preview:
    """Compare what a file says with the inventory as it is now; hosts named in `without` are left out."""
    known = {one.name: one for one in (inventory.this_machine(), *inventory.hosts())}
    places: dict[str, str] = {}
    entries = []
    for one in read.found:
        if isinstance(one, Left):
            entries.append(Entry(one.place, one.name, What.SKIPPED if one.skipped else What.REFUSED, why=one.why))
        elif one.name in without:
            entries.append(Entry(one.place, one.name, What.SKIPPED, why=say("It was left out.")))
        elif one.name in places:
            why = say("Line {line} describes a host of this name already.", line=places[one.name])
            entries.append(Entry(one.place, one.name, What.REFUSED, why=why))
        else:
            places[one.name] = one.place
            entries.append(_compared(one, known.get(one.name), known.values()))
    return Preview(entries, read.remarks)


def enter(planned: Preview, *, actor: str) -> list[Host]:
    """Do what the preview says, all of it or nothing. Conflict when a host changed since it was made."""
    now = {one.id: one for one in inventory.hosts()}
    with writing() as session:
        entered = []
        for one in planned.writes:
            assert one.reach is not None
            if one.host is not None and now.get(one.host.id) != one.host:
                raise Conflict(
                    say("{name} was changed meanwhile; nothing was imported. Look at the preview again.", name=one.name)
                )
            given = {"tags": one.tags, "work_folder": one.work_folder, "actor": actor}
            if one.host is None:
                entered.append(inventory.add_in(session, one.name, one.reach, **given))  # type: ignore[arg-type]
            else:
                entered.append(
                    inventory.edit_in(session, one.host.id, one.name, one.reach, **given)  # type: ignore[arg-type]
                )
        return entered


def _compared(one: Wanted, host: Host | None, known: Iterable[Host]) -> Entry:
    try:
        if host is not None and host.reach is None:
            raise InvalidInput(say("This name is that of the machine the console runs on. Choose another one."))
        reach = _reach(one, host.reach if host else None)
        tags = one.tags if one.tags is not None else host.tags if host else ()
        folder = one.work_folder or (host.work_folder if host else "")
        name, folder, tags = inventory.checked(one.name, reach, tags, folder)
    except ConsoleError as error:
        return Entry(one.place, one.name, What.REFUSED, why=error.text)
    new, old = _fields(reach, tags, folder), _fields(host.reach, host.tags, host.work_folder) if host else _usual()
    changes = [
        Change(title, None if host is None else old[key][1], words)
        for key, (title, words) in new.items()
        if key not in old or old[key][1] != words
    ]
    what = What.CREATE if host is None else What.CHANGE if changes else What.SAME
    moves = host is not None and (host.reach != reach or host.work_folder != folder)
    if host is not None and moves and (why := _why_not(host)) is not None:
        return Entry(one.place, name, What.REFUSED, changes, why, one.remarks, host)
    remarks = (*one.remarks, *_twins(reach, host, known))
    return Entry(one.place, name, what, changes, None, remarks, host, reach, tags, folder)


def _why_not(host: Host) -> Text | None:
    """Why this host cannot be reached in another way now."""
    if host.scenario is not None:
        return say("How a rehearsal host is reached is up to the console; change its name, tags or work folder only.")
    return inventory.why_in_use(host.id)


def _reach(one: Wanted, present: Reach | None) -> Reach:
    given = {
        "address": one.address,
        "port": one.port,
        "user": one.user,
        "key_file": one.key_file,
        "agent": one.agent,
        "jumps": one.jumps,
        "sudo": one.sudo,
    }
    said = {name: value for name, value in given.items() if value is not None}
    return replace(present, **said) if present else Reach(**said)  # type: ignore[arg-type]


def _fields(reach: Reach | None, tags: Sequence[str], folder: str) -> dict[str, tuple[Text, Text | None]]:
    """Everything a person compares, by a name of its own: title and value."""
    if reach is None:
        return {}
    plain = {
        "address": (say("address"), reach.address),
        "port": (say("port"), str(reach.port)),
        "user": (say("user"), reach.user),
        "key": (say("key file"), reach.key_file),
        "jumps": (say("jump hosts"), way(reach.jumps)),
        "sudo": (verbatim("sudo"), str(reach.sudo)),
        "tags": (say("tags"), " ".join(tags)),
        "folder": (say("work folder"), folder),
    }
    agent = say("tried") if reach.agent else say("not tried")
    return {
        **{key: (title, verbatim(words) if words else None) for key, (title, words) in plain.items()},
        "agent": (say("keys of the SSH agent"), agent),
    }


def _usual() -> dict[str, tuple[Text, Text | None]]:
    """What goes without saying of a new host."""
    usual = _fields(Reach("x"), (), "")
    return {key: usual[key] for key in ("key", "jumps", "sudo", "tags", "agent")}


def _twins(reach: Reach, host: Host | None, known: Iterable[Host]) -> list[Text]:
    """The same server under another name is allowed, and worth a word."""
    return [
        say("{name} is reached at the same address and port.", name=other.name)
        for other in known
        if host is None and other.reach and (other.reach.address, other.reach.port) == (reach.address, reach.port)
        and other.reach.jumps == reach.jumps
    ]  # fmt: skip
