"""The whole checklist on many hosts against other tools that run the very same script there, in one run.

    python scripts/bench/many_hosts.py [--hosts 1 10 100] [--rounds 3] [--pyinfra PROGRAM] [--ansible PROGRAM]

SSH servers listen on loopback addresses, each of them a host. Ours is the checklist as the worker runs it: log in, ask,
store, judge. The OpenSSH client, pyinfra and Ansible (its script module) only run the script
and bring its output. All begin without a connection and work at the same number of hosts at once. pyinfra and Ansible
are left out, and it is said, when their program is not there: `pip install pyinfra ansible-core` somewhere.
"""

import argparse
import getpass
import os
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from console.facts import ascend  # noqa: E402
from console.facts.probe import probe_script, split  # noqa: E402
from console.hosts import inventory, known_hosts, observe  # noqa: E402
from console.hosts.connection import connection  # noqa: E402
from console.hosts.observe import SIDE_BY_SIDE  # noqa: E402
from console.hosts.reach import Reach  # noqa: E402
from tests.hosts.sshd import MOST_ADDRESSES, Sshd  # noqa: E402


@dataclass(frozen=True)
class Field:
    """The hosts of this run: addresses with their ports, one key, and the script that all tools run."""

    scratch: Path
    hosts: Sequence[tuple[str, int]]
    key: Path
    script: Path
    token: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pyinfra", default=shutil.which("pyinfra") or "")
    parser.add_argument("--ansible", default=shutil.which("ansible") or "")
    chosen = parser.parse_args()
    ways: dict[str, Callable[[Field], None]] = {"checklist": ours, "ssh": openssh}
    for name, program, way in (("pyinfra", chosen.pyinfra, pyinfra), ("ansible", chosen.ansible, ansible)):
        if program:
            ways[name] = lambda field, program=program, way=way: way(field, program)
        else:
            print(f"{name} is left out: it is not installed")
    with tempfile.TemporaryDirectory(prefix="many-hosts-") as scratch:
        os.environ["PILOT_DATA"] = f"{scratch}/data"
        for count in chosen.hosts:
            compare(Path(scratch) / str(count), count, ways, chosen.rounds)
    return 0


def compare(scratch: Path, count: int, ways: dict[str, Callable[[Field], None]], rounds: int) -> None:
    """Every way `rounds` times in turn; medians, and ours as a ratio to each."""
    took: dict[str, list[float]] = {name: [] for name in ways}
    servers: list[Sshd] = []
    try:
        for first in range(0, count, MOST_ADDRESSES):
            servers.append(Sshd(scratch / f"sshd-{first}", "MaxStartups 500", "Subsystem sftp internal-sftp"))
            numbers = range(first, min(count, first + MOST_ADDRESSES))
            servers[-1].under([f"127.1.{number // 200}.{number % 200 + 1}" for number in numbers]).start()
        field = prepared(scratch, servers)
        for _ in range(rounds):
            for name, way in ways.items():
                begun = time.monotonic()
                way(field)
                took[name].append(time.monotonic() - begun)
    finally:
        for server in servers:
            server.stop()
    medians = {name: statistics.median(times) for name, times in took.items()}
    for name, median in medians.items():
        ratio = medians["checklist"] / median
        print(f"{count:4} hosts  {name:12} {median:7.2f} s   ours is {ratio:.2f} times that", flush=True)


def prepared(scratch: Path, servers: Sequence[Sshd]) -> Field:
    hosts: list[tuple[str, int]] = []
    for server in servers:
        key = server.host_key()
        shutil.copy(servers[0].folder / "user_key.pub", server.folder / "authorized_keys")
        for address in server.addresses:
            known_hosts.accept(known_hosts.HostKey(address, server.port, key.algorithm, key.blob))
            reach = Reach(address, server.port, getpass.getuser(), str(servers[0].folder / "user_key"), agent=False)
            inventory.add_host(f"h{server.port}-{address}", reach, work_folder="/tmp/pilot-nowhere", actor="bench")
            hosts.append((address, server.port))
    token = secrets.token_hex(16)
    script = scratch / "probe.sh"
    asked = {"PILOT_FOLDER": "/tmp/pilot-nowhere", "PILOT_PORT": "8000"}
    script.write_text("#!/bin/sh\n" + probe_script(ascend.FACTS, token, asked))
    script.chmod(0o755)
    return Field(scratch, hosts, servers[0].folder / "user_key", script, token)


def ours(field: Field) -> None:
    """What the worker does for a check of every host: log in, ask, store, judge. No connection is left from before."""
    hosts = [
        one for one in inventory.hosts() if one.reach is not None and (one.reach.address, one.reach.port) in field.hosts
    ]
    for one in hosts:
        assert one.reach is not None
        connection(one.reach).close()
    for host, error in observe.probe_all(hosts, actor="bench"):
        assert error is None, f"{host.name}: {error}"
        checked = observe.judged(host)
        assert checked is not None
        assert len(checked.judged) > 30


def openssh(field: Field) -> None:
    words = field.script.read_bytes()

    def one(host: tuple[str, int]) -> None:
        address, port = host
        command = ["ssh", "-F", "none", "-i", str(field.key), "-p", str(port), "-o", "BatchMode=yes",
                   "-o", "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={field.scratch}/known",
                   "-o", "IdentitiesOnly=yes", "-o", "LogLevel=ERROR", address, "sh", "-s"]  # fmt: skip
        said = subprocess.run(command, input=words, capture_output=True, check=True).stdout.decode("utf-8", "replace")
        assert split(said, field.token)

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        list(pool.map(one, field.hosts))


def pyinfra(field: Field, program: str) -> None:
    """Its `exec` with the script as a file: the way its documentation runs one command everywhere."""
    listed = field.scratch / "inventory.py"
    hosts = [
        (address, {"ssh_port": port, "ssh_key": str(field.key), "ssh_user": getpass.getuser()})
        for address, port in field.hosts
    ]
    listed.write_text(f"hosts = {hosts!r}\n")
    deploy = field.scratch / "deploy.py"
    deploy.write_text(
        "from pyinfra.operations import server\n"
        f"server.script(src={str(field.script)!r})\n"
    )  # fmt: skip
    quietly([program, "-y", "--parallel", str(SIDE_BY_SIDE), str(listed), str(deploy)], field)


def ansible(field: Field, program: str) -> None:
    listed = field.scratch / "hosts.ini"
    key = f"ansible_ssh_private_key_file={field.key}"
    listed.write_text("".join(f"{address} ansible_port={port} {key}\n" for address, port in field.hosts))
    command = [program, "all", "-i", str(listed), "-f", str(SIDE_BY_SIDE), "-m", "script", "-a", str(field.script)]
    quietly(command, field)


def quietly(command: Sequence[str], field: Field) -> None:
    (field.scratch / ".ssh").mkdir(exist_ok=True)
    (field.scratch / ".ssh" / "known_hosts").touch()
    environment = {
        **os.environ,
        "ANSIBLE_HOST_KEY_CHECKING": "False",
        "ANSIBLE_SSH_ARGS": f"-F none -o ControlMaster=no -o UserKnownHostsFile={field.scratch}/known",
        "HOME": str(field.scratch),
    }
    done = subprocess.run(command, cwd=field.scratch, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} failed:\n{(done.stdout + done.stderr)[-2000:]}")


if __name__ == "__main__":
    sys.exit(main())
