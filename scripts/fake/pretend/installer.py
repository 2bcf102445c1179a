"""The simulated installers: `ascend-install MANIFEST FILE WORDS...` of a package, `ascend-uninstall WHAT WORDS...`."""

import json
import os
import sys
import time
from dataclasses import dataclass, field

from pretend import answers, place, users

ACTIONS = (
    "--full",
    "--run",
    "--devel",
    "--docker",
    "--install",
    "--upgrade",
    "--uninstall",
    "--version",
    "--help",
    "-h",
)
FLAGS = {*ACTIONS, "--quiet", "-q", "--install-for-all", "--force", "--nox11", "--norebuild", "--pylocal"}
TAKES = ("--install-path", "--install-username", "--install-usergroup", "--chip", "--feature", "--whitelist")


class Refused(Exception):
    """An installer stops with this line, and exit code 1."""


@dataclass
class Asked:
    """One call of an installer: what it carries, how it is called, and where its log goes."""

    manifest: place.Data
    file: str
    title: str
    log: str
    stamp: str
    given: dict[str, str] = field(default_factory=dict)

    @property
    def quiet(self) -> bool:
        return bool({"--quiet", "-q"} & self.given.keys())

    @property
    def action(self) -> str:
        return next((name for name in ACTIONS if name in self.given), "")

    def say(self, level: str, words: str) -> None:
        """A line on the screen and in the log, as the vendor stamps them."""
        glue = "" if self.stamp == "hdk" else " "
        when = time.strftime("%Y-%m-%d %H:%M:%S" if self.stamp == "hdk" else "%Y%m%d-%H:%M:%S")
        line = f"[{self.title}] [{when}] [{level}]{glue}{words}"
        print(line, flush=True)
        file = place.at(self.log)
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "a") as kept:
            kept.write(line + "\n")

    def agrees(self, question: str) -> bool:
        """Asked on the terminal; nobody there is a no."""
        if self.quiet:
            return True
        print(question, end=" ", flush=True)
        said = sys.stdin.readline().strip().lower()
        print(flush=True)
        return said in ("y", "yes")


def pause(share: float) -> None:
    """Installing takes a while: the whole of it REHEARSAL_PACE seconds (or the scenario's `pace`)."""
    whole = float(os.environ.get("REHEARSAL_PACE") or place.scenario().get("pace", 4))
    time.sleep(whole * share)


def main(name: str, words: list[str]) -> int:
    place.scenario()
    from pretend import install_cann, install_hdk

    if name == "ascend-uninstall":
        manifest, file, rest = (
            {"kind": words[0], "version": ""},
            f"{words[0]}/uninstall.sh",
            ["--uninstall", *words[1:]],
        )
    else:
        manifest, file, rest = json.loads(words[0]), words[1], words[2:]
    is_hdk = manifest["kind"] in ("driver", "firmware")
    part = install_hdk if is_hdk else install_cann
    log = install_hdk.LOG if is_hdk else install_cann.log_of(manifest["kind"])
    asked = Asked(manifest, file, manifest["kind"].capitalize(), log, "hdk" if is_hdk else "cann")
    asked.title = {"Nnal": "NNAL", "Ops": manifest.get("package", "Ops")}.get(asked.title, asked.title)
    try:
        _read(asked, rest)
        if asked.action == "--version":
            print(manifest["version"])
            return 0
        with place.alone("installer", place.RUN):
            part.carry_out(asked)
    except Refused as refused:
        asked.say("ERROR", str(refused))
        return 1
    finally:
        if users.current().uid == 0:
            answers.write()
    return 0


def _read(asked: Asked, words: list[str]) -> None:
    for word in words:
        name, sign, value = word.partition("=")
        if word not in FLAGS and not (sign and name in TAKES):
            raise Refused(f"ERR_NO:0x0004;ERR_DES: Unrecognized parameters: {word}")
        asked.given[name] = value
    if not asked.action:
        raise Refused("ERR_NO:0x0004;ERR_DES: Unrecognized parameters, try './xxx.run --help' for more information")
    if asked.action in ("--help", "-h"):
        print("Usage: --full | --run | --devel | --install | --upgrade | --uninstall [--quiet] [--install-for-all] "
              "[--install-path=PATH] | --check | --version | --noexec --extract=PATH")  # fmt: skip
        raise SystemExit(0)
