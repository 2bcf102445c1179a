"""The first process inside a rehearsal host: it mounts the private folders, furnishes them, then adopts orphans.

Run by the keeper within namespaces of its own, as `python -m console.hosts.rehearsal_root FOLDER`. It imports nothing
but the standard library and the mounts, for soon it stands in another tree. What it says on standard error is why the
host did not come up.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from console.hosts.rehearsal_copies import copy, like, link, take
from console.hosts.rehearsal_mounts import (
    BIND,
    NO_DEV,
    NO_EXEC,
    NO_SUID,
    READ_ONLY,
    bind,
    enter,
    expose,
    expose_python,
    mount,
    mount_points,
    read_only,
)

PRIVATE = ("usr", "etc", "var", "opt", "srv")
"""Top folders whose changes stay within the host; everything else of the machine can be read, not written."""
HOMES = ("home", "root")
"""Top folders that begin empty: start files and tools of the person who rehearses do not belong to a bare host."""
CARRIED = (".config/pip/pip.conf", ".pip/pip.conf", ".config/uv/uv.toml")
"""But the way to a package index does, for the host shares the network of this machine."""
OWN = {"/usr": 0, "/usr/lib": 0, "/usr/local": 2, "/etc": 9, "/var": 1, "/opt": 0, "/srv": 0}
"""Where folders that belong to somebody else are made the host's own, so that its root may write there: those in each
of these, and so many levels below them. Each costs a moment at the first start and when the host is removed."""
OPENED_DEPTH = 3
SYSTEM = {"tmp", "run", "proc", "sys", "dev"}
NODES = ("null", "zero", "full", "random", "urandom", "tty")
CHECKOUT, RUN = "/opt/rehearsal", "/run/rehearsal"
FAKES = f"{CHECKOUT}/scripts/fake"
CPU, CPU_PARTS = "/opt/rehearsal-cpu", ("runtimes", "models")
"""Of the console's data the host sees only these: the stand-in for vllm serves a small model with them."""
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ADOPT = "while :; do sleep 86400 & wait $!; done"
"""A shell that waits for a child takes in every orphan that ends meanwhile; `sleep` alone would leave zombies."""


def main(folder: Path) -> None:
    """Builds the host, says so in `ready`, and becomes the shell that adopts orphans. Never returns."""
    os.chdir(folder)
    os.umask(0o022)
    spec = json.loads(Path("spec.json").read_text())
    socket.sethostname(spec["hostname"])
    build(folder, spec)
    enter(folder / "root")
    dress()
    furnish(spec["scenario"], spec["home"])
    protect()
    Path(RUN, "ready").touch()
    os.execv("/bin/sh", ["sh", "-c", ADOPT])


def build(folder: Path, spec: dict[str, Any]) -> None:
    """The whole tree at `root`: private folders, those that can only be read, and the kernel's."""
    root, inherited = folder / "root", mount_points()
    root.mkdir(exist_ok=True)
    mount(disk(Path("/"), "top"), root, flags=BIND)
    for name in PRIVATE:
        make_private(Path("/", name), root, inherited)
    for name in HOMES:
        bind(disk(Path("/", name), "plain"), root / name)
    for entry in Path("/").iterdir():
        if entry.name not in {*PRIVATE, *HOMES, *SYSTEM}:
            show(entry, root / entry.name)
    make_home(Path(spec["home"]), root)
    (root / "proc").mkdir(exist_ok=True)
    mount("proc", root / "proc", "proc", NO_SUID | NO_DEV | NO_EXEC)
    show(Path("/sys"), root / "sys")
    make_dev(root / "dev")
    make_run(root / "run", folder)
    bind(folder / "tmp", root / "tmp")
    (root / "tmp").chmod(0o1777)
    expose(spec["checkout"], within(root, Path(CHECKOUT)))
    for name in CPU_PARTS:
        if Path(spec["hide"], name).is_dir():
            expose(Path(spec["hide"], name), within(root, Path(CPU, name)))
    for python in Path(spec["hide"]).glob("runtimes/*/bin/python"):
        expose_python(python, root)
    hide(Path(spec["hide"]), Path(spec["checkout"]), root)


def hide(data: Path, checkout: Path, root: Path) -> None:
    """The console's own data, with its keys, wherever it can be seen from here."""
    seen = [data] if not data.is_relative_to(checkout) else [data, Path(CHECKOUT, data.relative_to(checkout))]
    for place in seen:
        if within(root, place).is_dir():
            mount("tmpfs", within(root, place), "tmpfs", READ_ONLY, "mode=755")


def within(root: Path, place: Path) -> Path:
    return root / place.relative_to("/")


def make_private(place: Path, root: Path, inherited: list[str], depth: int = 0) -> None:
    """`place` as it is on the machine, with every change kept in a folder of the host."""
    target = within(root, place)
    target.mkdir(exist_ok=True)
    if not place.is_dir() or place.is_symlink() or not os.access(place, os.R_OK | os.X_OK):
        bind(disk(place, "plain"), target)
    elif any(one.startswith(f"{place}/") for one in inherited):  # on what has other mounts below, no overlay can stand
        open_up(place, root, inherited, depth)
    else:
        upper, work = disk(place, "upper"), disk(place, "work")
        like(place, Path(upper))
        for start, levels in own_folders(place):
            take(start, Path(upper, start.relative_to(place)), levels)
        lower = "".join(f"\\{one}" if one in "\\:," else one for one in str(place))
        mount("overlay", target, "overlay", 0, f"lowerdir={lower},upperdir={upper},workdir={work},userxattr")


def open_up(place: Path, root: Path, inherited: list[str], depth: int) -> None:
    """A plain folder in which each child of `place` is made private by itself."""
    target = within(root, place)
    bind(disk(place, "plain"), target)
    for entry in place.iterdir():
        there = target / entry.name
        if entry.is_symlink():
            link(entry, there)
        elif entry.is_dir():
            if depth < OPENED_DEPTH and str(entry) not in inherited:
                make_private(entry, root, inherited, depth + 1)
            else:
                there.mkdir(exist_ok=True)
        elif not there.exists():
            copy(entry, there)


def own_folders(place: Path) -> Iterator[tuple[Path, int]]:
    """The folders of OWN at or below `place`, or `place` itself within one, with the levels that are left."""
    for name, depth in OWN.items():
        if Path(name).is_relative_to(place):
            yield Path(name), depth
        elif place.is_relative_to(name):
            yield place, depth - len(place.relative_to(name).parts)


def show(entry: Path, there: Path) -> None:
    """Something of the machine that the host may read only."""
    if entry.is_symlink():
        link(entry, there)
    elif entry.is_dir() and os.access(entry, os.R_OK | os.X_OK):
        expose(entry, there)


def make_home(home: Path, root: Path) -> None:
    """An empty home where the machine has the user's, the way to package indexes in it, and the interpreter to run."""
    there = within(root, home)
    if home.parts[1] in HOMES:
        there.mkdir(parents=True, exist_ok=True)
    else:
        bind(disk(home, "plain"), there)
    for name in CARRIED:
        if os.access(home / name, os.R_OK) and not (there / name).exists():
            (there / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(home / name, there / name)
    expose_python(Path(sys.executable), root)


def make_dev(dev: Path) -> None:
    """The harmless nodes of the machine, terminals and shared memory of its own, and room for pretended cards."""
    dev.mkdir(exist_ok=True)
    mount("tmpfs", dev, "tmpfs", NO_SUID, "mode=755")  # sticky and open to all, it would refuse writes to the nodes
    for name in NODES:
        if Path("/dev", name).exists():
            (dev / name).touch()
            mount(f"/dev/{name}", dev / name, flags=BIND)
    for name, mode in (("pts", 0o755), ("shm", 0o1777)):
        (dev / name).mkdir()
        (dev / name).chmod(mode)
    mount("devpts", dev / "pts", "devpts", NO_SUID, "newinstance,ptmxmode=0666,mode=620")
    mount("tmpfs", dev / "shm", "tmpfs", NO_SUID | NO_DEV, "mode=1777")
    (dev / "ptmx").symlink_to("pts/ptmx")
    (dev / "fd").symlink_to("/proc/self/fd")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        (dev / name).symlink_to(f"/proc/self/fd/{number}")


def make_run(run: Path, folder: Path) -> None:
    """An empty /run with the way to the keeper in it, and the name servers where /etc/resolv.conf points into /run."""
    servers = Path(os.path.realpath("/etc/resolv.conf"))
    said = servers.read_bytes() if servers.is_relative_to("/run") and servers.exists() else None
    run.mkdir(exist_ok=True)
    mount("tmpfs", run, "tmpfs", NO_SUID | NO_DEV, "mode=755")
    bind(folder / "run", run / "rehearsal")
    (run / "lock").mkdir()
    if said is not None:
        there = run / servers.relative_to("/run")
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(said)


def dress() -> None:
    """What a login shell and programs that ask for python3 need."""
    profile = Path("/etc/profile.d")
    profile.mkdir(exist_ok=True)
    (profile / "rehearsal.sh").write_text(f"PATH={FAKES}/bin:$PATH\n")
    if shutil.which("python3", path=SYSTEM_PATH) is None:
        python = Path("/usr/local/bin/python3")
        python.parent.mkdir(exist_ok=True)
        python.unlink(missing_ok=True)
        python.symlink_to(Path(sys.executable).resolve())


def furnish(scenario: str, home: str) -> None:
    """Let the scenario write what this host shall look like, then put its files of /proc and /sys in place."""
    ids = {"PATH": f"{FAKES}/bin:{SYSTEM_PATH}", "HOME": "/root", "LANG": "C.UTF-8"}
    python = shutil.which("python3", path=SYSTEM_PATH) or sys.executable
    words = [python, f"{FAKES}/furnish.py", scenario, f"--work={home}/ascend-pilot"]
    done = subprocess.run(words, env=ids, cwd="/", capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"furnish.py {scenario}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    bind(Path("/proc/sys"), Path("/proc/sys"))
    read_only(Path("/proc/sys"))
    mount(f"{RUN}/boot_id", Path("/proc/sys/kernel/random/boot_id"), flags=BIND)
    for system in ("proc", "sys"):
        for path in files(Path(RUN, system)):
            there = Path("/", path.relative_to(RUN))
            if there.exists():
                mount(str(path), there, flags=BIND)
            else:
                print(f"{there} is not there, so it cannot be played", file=sys.stderr)


def protect() -> None:
    """What would reach the machine although it belongs to the kernel: only root on the machine could, and may not."""
    for name in ("sysrq-trigger", "kcore"):
        if Path("/proc", name).exists():
            mount("/dev/null", Path("/proc", name), flags=BIND)


def files(folder: Path) -> Iterator[Path]:
    for where, _, names in os.walk(folder):
        yield from (Path(where, name) for name in names)


def disk(place: Path, part: str) -> str:
    """The folder that keeps changes of `place`, relative to the host's own: the options of a mount need no quotes."""
    found = Path("disk", str(place).strip("/").replace("/", "+").translate({ord(one): "_" for one in ",:\\"}), part)
    found.mkdir(parents=True, exist_ok=True)
    return str(found)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
