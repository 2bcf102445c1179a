"""Answers that stay the same until something is changed, written down once: starting Python for each takes too long."""

from __future__ import annotations

import contextlib
import io
import os
import shutil

from pretend import main, place, users

SAID = f"{place.RUN}/said"
ASKED = {
    "uname": ["", "-s", "-r", "-m", "-n", "-a", "-srm"],
    "nproc": [""],
    "lscpu": [""],
    "getconf": ["GNU_LIBC_VERSION"],
    "ldd": ["--version"],
    "hostname": [""],
    "id": ["", "-u", "-un", "-g", "-gn", "-G", "-Gn", "HwHiAiUser"],
    "whoami": [""],
    "dmidecode": ["-t memory"],
    "lsblk": ["-o NAME,SIZE,TYPE,FSTYPE,MOUNTPOINT"],
    "ibv_devinfo": [""],
    "getenforce": [""],
    "timedatectl": ["show -p NTP -p NTPSynchronized"],
    "chronyc": ["-n tracking"],
    "systemctl": ["is-active docker", "is-active firewalld ufw nftables iptables"],
}
"""Program -> the words it is asked with, joined by blanks."""
PORTS = ("ip", "link", "net_health", "tls")


def _asked(played: place.Data) -> dict[str, list[str]]:
    nodes = range(sum(len(card["chips"]) for card in played["cards"]))
    npus = [card["npu"] for card in played["cards"]]
    queries = [f"info -t {kind} -i {npu}" for kind in ("board", "ecc", "health") for npu in npus]
    lists = ["info -l", "info -m", "info -t topo", *(f"info -t board -i {npu} -c 0" for npu in npus)]
    return {
        **ASKED,
        "lspci": ["-Dnn -d 19e5:", "-d 19e5:", ""],
        "ethtool": [nic["name"] for nic in played["nics"]],
        "npu-smi": [*lists, *queries],
        "hccn_tool": [f"-i {node} -{query} -g" for node in nodes for query in PORTS],
    }


def write() -> None:
    """All of them anew, for the login and for root; called at each boot and after each change."""
    played = place.scenario()
    new = f"{SAID}.{os.getpid()}"
    before = os.environ.get(users.AS)
    try:
        for name in ("login", "root"):
            os.environ[users.AS] = users.login()["user"] if name == "login" else name
            for program, asked in _asked(played).items():
                for words in asked:
                    _write(f"{new}/{name}/{program}/ask {words}", program, words.split())
    finally:
        os.environ.pop(users.AS, None)
        if before is not None:
            os.environ[users.AS] = before
    old = f"{new}.old"
    with place.alone("said", place.RUN):
        if place.at(SAID).exists():
            place.at(SAID).rename(place.at(old))
        place.at(new).rename(place.at(SAID))
    shutil.rmtree(place.at(old), ignore_errors=True)


def _write(file: str, program: str, words: list[str]) -> None:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main.module(program).main(program, words)
    if err.getvalue():
        return  # what goes to standard error has to be said there
    place.put(file, out.getvalue())
    if code:
        place.put(f"{file}.code", str(code))
