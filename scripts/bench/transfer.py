"""How fast a bundle's file reaches a host, against scp and rsync, on loopback in one run; and what a cut costs.

    python scripts/bench/transfer.py [--mb 256] [--rounds 5]

Needs sshd, ssh and scp; rsync is left out where it is not installed. The console's figure includes SHA-256 of the file
on both sides; scp and rsync verify nothing. The rounds are interleaved, the ratios are of medians.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from console.hosts.reach import Reach

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
MB = 1_000_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PILOT_DATA"] = f"{folder}/data"
        measure(Path(folder), chosen.mb * MB, chosen.rounds)
    return 0


def measure(folder: Path, size: int, rounds: int) -> None:
    source = folder / "source.bin"
    with source.open("wb") as file:
        for _ in range(0, size, MB):
            file.write(os.urandom(min(MB, size)))
    with server(folder) as (port, reach):
        ways: dict[str, Callable[[Path], object]] = {
            "scp": lambda target: scp(folder, port, source, target),
            "console": lambda target: console(reach, source, target),
        }
        if shutil.which("rsync"):
            ways["rsync"] = lambda target: rsync(folder, port, source, target)
        rates: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(rounds):
            for name, way in ways.items():
                rates[name].append(size / MB / timed(way, folder / f"there-{name}-{number}"))
                print(f"round {number + 1}: {name} {rates[name][-1]:.0f} MB/s", flush=True)
        after_a_cut(reach, folder, source, size)
    ours = statistics.median(rates["console"])
    for name in rates:
        print(f"{name}: {statistics.median(rates[name]):.0f} MB/s", flush=True)
    for name in rates.keys() - {"console"}:
        print(f"the console is {ours / statistics.median(rates[name]):.2f} times as fast as {name}")


def timed(way: Callable[[Path], object], target: Path) -> float:
    target.mkdir()
    begun = time.monotonic()
    way(target)
    took = time.monotonic() - begun
    shutil.rmtree(target)
    return took


def console(reach: "Reach", source: Path, target: Path) -> None:
    """With a login of its own, as scp and rsync have."""
    from console.hosts import transfer
    from console.hosts.connection import Connection
    from console.hosts.ssh import SshRunner

    with Connection(reach) as own:
        transfer.send(SshRunner(own), str(target), transfer.parcel(source))


def scp(folder: Path, port: int, source: Path, target: Path) -> None:
    subprocess.run(["scp", "-q", *options(folder), "-P", str(port), source, f"127.0.0.1:{target}/"], check=True)


def rsync(folder: Path, port: int, source: Path, target: Path) -> None:
    shell = " ".join(["ssh", *options(folder), "-p", str(port)])
    subprocess.run(["rsync", "-W", "-e", shell, source, f"127.0.0.1:{target}/"], check=True)


def options(folder: Path) -> list[str]:
    return ["-i", f"{folder}/sshd/user_key", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
            "-o", "LogLevel=ERROR"]  # fmt: skip


def after_a_cut(reach: "Reach", folder: Path, source: Path, size: int) -> None:
    """Break the connection at half, go on, and count the bytes that went over twice."""
    from console.errors import HostError
    from console.hosts import transfer
    from console.hosts.connection import Connection
    from console.hosts.ssh import SshRunner

    one, target, sent = transfer.parcel(source), str(folder / "cut"), 0
    with Connection(reach) as first:

        def stop(count: int) -> None:
            nonlocal sent
            sent = count
            if count >= size // 2:
                first.close()

        with suppress(HostError):
            transfer.send(SshRunner(first), target, one, told=stop)
    with Connection(reach) as second:
        again = transfer.send(SshRunner(second), target, one)
    print(f"cut at half: {(sent + again.bytes - size) / size:.2%} of the file was sent twice")


@contextmanager
def server(folder: Path) -> Iterator[tuple[int, "Reach"]]:
    from tests.hosts.sshd import Sshd

    one = Sshd(folder / "sshd", "Subsystem sftp /usr/lib/openssh/sftp-server").start().trust()
    try:
        yield one.port, one.reach()
    finally:
        one.stop()


if __name__ == "__main__":
    sys.exit(main())
