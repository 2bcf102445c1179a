"""`useradd`, `groupadd`, `usermod`: they edit the rehearsal host's own passwd and group files."""

import sys

from pretend import answers, place, users

TAKES = {
    "-g",
    "-G",
    "-d",
    "-s",
    "-u",
    "-c",
    "--gid",
    "--groups",
    "--home",
    "--home-dir",
    "--shell",
    "--uid",
    "--comment",
}
LONG = {"--gid": "-g", "--groups": "-G", "--home": "-d", "--home-dir": "-d", "--shell": "-s", "--uid": "-u",
        "--create-home": "-m", "--append": "-a", "--system": "-r", "--force": "-f"}  # fmt: skip


def main(name: str, words: list[str]) -> int:
    if users.current().uid:
        print(f"{name}: Permission denied.\n{name}: cannot lock /etc/passwd; try again later.", file=sys.stderr)
        return 1
    given, names = options(words)
    if len(names) != 1:
        print(f"Usage: {name} [options] NAME", file=sys.stderr)
        return 2
    with place.alone("accounts"):
        code = {"useradd": _useradd, "groupadd": _groupadd, "usermod": _usermod}[name](names[0], given)
    if code == 0:
        answers.write()
    return code


def options(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Options by their short name; letters may be joined ("-aG group")."""
    given: dict[str, str] = {}
    names: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, sign, value = word.partition("=")
        if not word.startswith("-"):
            names.append(word)
        elif word.startswith("--"):
            given[LONG.get(name, name)] = value if sign else rest.pop(0) if name in TAKES and rest else ""
        else:
            for letter in word[1:]:
                given[f"-{letter}"] = rest.pop(0) if f"-{letter}" in TAKES and rest else ""
    return given, names


def group(name: str, gid: int | None = None) -> int:
    """The number of a group, made when it is missing."""
    rows = users.rows("group")
    found = next((int(row[2]) for row in rows if row[0] == name), None)
    if found is not None:
        return found
    gid = gid if gid is not None else _free([int(row[2]) for row in rows])
    _write("group", [*rows, [name, "x", str(gid), ""]])
    return gid


def user(name: str, *, gid: int, uid: int | None = None, home: str = "", shell: str = "/bin/bash") -> None:
    rows = users.rows("passwd")
    if not any(row[0] == name for row in rows):
        uid = uid if uid is not None else _free([int(row[2]) for row in rows])
        _write("passwd", [*rows, [name, "x", str(uid), str(gid), "", home or f"/home/{name}", shell]])


def _free(taken: list[int]) -> int:
    return max([999, *(number for number in taken if 1000 <= number < 60000)]) + 1


def _write(file: str, rows: list[list[str]]) -> None:
    place.put(f"/etc/{file}", "".join(":".join(row) + "\n" for row in rows))


def _groupadd(name: str, given: dict[str, str]) -> int:
    if any(row[0] == name for row in users.rows("group")):
        if "-f" in given:
            return 0
        print(f"groupadd: group '{name}' already exists", file=sys.stderr)
        return 9
    group(name, int(given["-g"]) if given.get("-g", "").isdigit() else None)
    return 0


def _gid(word: str) -> int | None:
    return next((int(row[2]) for row in users.rows("group") if word in (row[0], row[2])), None)


def _useradd(name: str, given: dict[str, str]) -> int:
    if users.lookup(name):
        print(f"useradd: user '{name}' already exists", file=sys.stderr)
        return 9
    if "-g" in given and _gid(given["-g"]) is None:
        print(f"useradd: group '{given['-g']}' does not exist", file=sys.stderr)
        return 6
    if "-g" not in given and any(row[0] == name for row in users.rows("group")):
        print(f"useradd: group {name} exists - if you want to add this user to that group, use -g.", file=sys.stderr)
        return 9
    gid = _gid(given["-g"]) if "-g" in given else group(name)
    uid = int(given["-u"]) if given.get("-u", "").isdigit() else None
    home = given.get("-d") or f"/home/{name}"
    user(name, gid=gid or 0, uid=uid, home=home, shell=given.get("-s") or "/bin/sh")
    if "-m" in given:
        place.at(home).mkdir(parents=True, exist_ok=True)
    return _join("useradd", name, given["-G"]) if given.get("-G") else 0


def _usermod(name: str, given: dict[str, str]) -> int:
    if users.lookup(name) is None:
        print(f"usermod: user '{name}' does not exist", file=sys.stderr)
        return 6
    if "-G" not in given or "-a" not in given:
        print("usermod: only adding to groups (-aG) is simulated", file=sys.stderr)
        return 2
    return _join("usermod", name, given["-G"])


def _join(program: str, name: str, groups: str) -> int:
    rows = users.rows("group")
    for wanted in groups.split(","):
        row = next((row for row in rows if row[0] == wanted), None)
        if row is None:
            print(f"{program}: group '{wanted}' does not exist", file=sys.stderr)
            return 6
        members = [one for one in (row[3] if len(row) > 3 else "").split(",") if one]
        row[3:] = [",".join(dict.fromkeys([*members, name]))]
    _write("group", rows)
    return 0
