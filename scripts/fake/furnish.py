"""Furnishes a rehearsal host at each boot: its files, its kernel's files, its users, its device nodes.

    python scripts/fake/furnish.py SCENARIO [--bind] [--work=FOLDER]

Runs inside the host's own namespace as uid 0, before anybody logs in. The first boot writes what the scenario has
installed, and below FOLDER the packages that are to be installed; later boots keep what was installed since, and load
the driver that is there then. Its folders of /sys are bound over the machine's own; its files of /proc lie in
/run/rehearsal/proc for whoever keeps the host, or are bound too with --bind. What to know about the login stands in
/var/lib/rehearsal/login.json: user, uid, gid, home, sudo.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import carried
from pretend import accounts, answers, boxes, hccn_tool, kernel_files, place, programs, room, tree, users

SCENARIOS = Path(__file__).resolve().parent / "scenarios"
SHARED_NODES = ("davinci_manager", "devmm_svm", "hisi_hdc")


def load(name: str) -> place.Data:
    """The scenario, laid over the one it is like."""
    file = SCENARIOS / f"{name}.json"
    if not file.is_file():
        sys.exit(f"There is no scenario named {name}.")
    own: place.Data = json.loads(file.read_text())
    like, dropped = own.pop("like", None), own.pop("drop_packages", [])
    below = load(like) if like else {}
    for package in dropped:
        below["packages"].pop(package)
    return {**_over(below, own), "id": name}


def _over(below: place.Data, above: place.Data) -> place.Data:
    """`above` on `below`: dictionaries are joined, everything else is replaced."""
    both = {**below, **above}
    for name, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(name), dict):
            both[name] = _over(below[name], value)
    return both


def main() -> None:
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    if len(words) != 1:
        sys.exit(__doc__)
    before = place.read("scenario").get("id")
    if before not in (None, words[0]):
        sys.exit(f"This host plays {before}; a new scenario needs a new host.")
    furnish(words[0], is_first=before is None)
    for word in sys.argv[1:]:
        if word.startswith("--work=") and before is None:
            carried.write(words[0], place.at(word.removeprefix("--work=")))
    if "REHEARSAL_ROOT" not in os.environ:
        kernel_files.bind_folders()
    if "--bind" in sys.argv:
        kernel_files.bind_files()
    answers.write()
    boxes.boot()


def furnish(name: str, *, is_first: bool) -> None:
    """Everything but binds and containers."""
    if is_first:
        place.at(place.MEMORY).mkdir(parents=True, exist_ok=True)
        place.write("scenario", load(name))
    played = place.scenario()
    place.put("/etc/os-release", played["system"]["os_release"])
    place.put("/etc/hostname", played["hostname"] + "\n")
    place.put(f"{place.RUN}/fake", place.FAKE + "\n")
    _people(played)
    if is_first:
        _install(played)
    room.begin()
    programs.refresh(played)
    kernel_files.write(played)
    _start(played)


def _people(played: place.Data) -> None:
    if played["npu_user"] and not place.read("login"):
        accounts.user("HwHiAiUser", gid=accounts.group("HwHiAiUser"))
    login = played["login"]
    if login["user"] != "root":
        accounts.user(login["user"], gid=accounts.group(login["user"]))
        for group in login.get("groups", []):
            accounts.group(group)
            accounts._join("usermod", login["user"], group)
    found = users.lookup(login["user"])
    home = found.home if found else "/root"
    place.at(home).mkdir(parents=True, exist_ok=True)
    if not place.read("login"):
        place.write(
            "login", {**login, "uid": found.uid if found else 0, "gid": found.gid if found else 0, "home": home}
        )


def _install(played: place.Data) -> None:
    """What the scenario has at its first boot."""
    place.write("packages", {"installed": played["packages"]})
    place.write("docker", {"containers": [], **played["docker"]})
    if driver := played["driver"]:
        tree.write_driver(driver["version"], for_all=driver["for_all"])
        tree.write_firmware(driver["firmware"], driver["version"])
    if cann := played["cann"]:
        tree.write_toolkit(cann["version"], "aarch64")
        tree.write_operators(cann["version"], "aarch64", cann["operators"])
        tree.write_nnal(cann["version"], "aarch64")
    if played["docker"].get("start"):
        boxes.create(played["docker"]["start"])


def _start(played: place.Data) -> None:
    """Load the installed driver, as a boot does, and make its device nodes."""
    place.at(f"{place.RUN}/reboot-wanted").unlink(missing_ok=True)
    with place.changing("driver") as kept:
        loaded = bool(kept.get("driver") and kept.get("firmware"))
        kept |= {"loaded": loaded, "reboot": False}
        kept |= {"running": kept.get("driver") if loaded else None, "running_firmware": kept.get("firmware")}
    count = sum(len(card["chips"]) for card in played["cards"])
    for node in [*(f"davinci{number}" for number in range(count)), *SHARED_NODES]:
        if loaded:
            place.put(f"/dev/{node}", "", 0o666)
        else:
            place.at(f"/dev/{node}").unlink(missing_ok=True)
    if loaded:
        place.put(hccn_tool.CONF, hccn_tool.conf(played))
    with place.changing("boots") as boots:
        boots["count"] = boots.get("count", 0) + 1


if __name__ == "__main__":
    main()
