"""How fast the files of a bundle reach a host, against scp and rsync, on loopback in one run; and what a cut costs.

    python scripts/bench/transfer.py [--files 4] [--mb 256] [--rounds 5]

Needs sshd, ssh and scp; rsync is left out where it is not installed. As with a bundle, whose manifest holds the SHA-256
of each file, the console is told the sums, and verifies them on the host; "with hashing here" is what it takes where
they are not known yet. scp and rsync verify nothing. The rounds are interleaved, the ratios are of medians.
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
    from console.hosts.transfer import Parcel

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
MB = 1_000_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--mb", type=int, default=256, help="the size of each file")
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PILOT_DATA"] = f"{folder}/data"
        measure(Path(folder), chosen.files, chosen.mb * MB, chosen.rounds)
    return 0


def measure(folder: Path, files: int, size: int, rounds: int) -> None:
    sources = [made(folder / f"source-{number}.bin", size) for number in range(files)]
    with server(folder) as (port, reach):
        sums = parcels(sources)
        ways: dict[str, Callable[[Path], object]] = {
            "scp": lambda target: scp(folder, port, sources, target),
            "console": lambda target: console(reach, sums, target),
            "console with hashing here": lambda target: console(reach, parcels(sources), target),
        }
        if shutil.which("rsync"):
            ways["rsync"] = lambda target: rsync(folder, port, sources, target)
        rates: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(rounds):
            for name, way in ways.items():
                rates[name].append(files * size / MB / timed(way, folder / f"there-{number}"))
                print(f"round {number + 1}: {name} {rates[name][-1]:.0f} MB/s", flush=True)
        after_a_cut(reach, folder, sources[0], size)
    medians = {name: statistics.median(found) for name, found in rates.items()}
    for name, rate in medians.items():
        print(f"{name}: {rate:.0f} MB/s")
    for ours in ("console", "console with hashing here"):
        for other in medians.keys() & {"scp", "rsync"}:
            print(f"{ours}: {medians[ours] / medians[other]:.2f} times as fast as {other}")


def made(source: Path, size: int) -> Path:
    with source.open("wb") as file:
        for _ in range(0, size, MB):
            file.write(os.urandom(min(MB, size)))
    return source


def parcels(sources: list[Path]) -> list["Parcel"]:
    from console.hosts import transfer

    return [transfer.parcel(one) for one in sources]


def timed(way: Callable[[Path], object], target: Path) -> float:
    target.mkdir()
    begun = time.monotonic()
    way(target)
    took = time.monotonic() - begun
    shutil.rmtree(target)
    return took


def console(reach: "Reach", files: list["Parcel"], target: Path) -> None:
    """With a login of its own, as scp and rsync have."""
    from console.hosts import transfer
    from console.hosts.connection import Connection
    from console.hosts.sending import send_all
    from console.hosts.ssh import SshRunner

    with Connection(reach) as own:
        runner = SshRunner(own)
        send_all(runner, str(target), files, transfer.look(runner, str(target), files))


def scp(folder: Path, port: int, sources: list[Path], target: Path) -> None:
    subprocess.run(["scp", "-q", *options(folder), "-P", str(port), *sources, f"127.0.0.1:{target}/"], check=True)


def rsync(folder: Path, port: int, sources: list[Path], target: Path) -> None:
    shell = " ".join(["ssh", *options(folder), "-p", str(port)])
    subprocess.run(["rsync", "-W", "-e", shell, *sources, f"127.0.0.1:{target}/"], check=True)


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
