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
    with server(folder) as (port, runner):
        ways: dict[str, Callable[[Path], object]] = {
            "scp": lambda target: scp(folder, port, source, target),
            "console": lambda target: console(runner, source, target),
        }
        if shutil.which("rsync"):
            ways["rsync"] = lambda target: rsync(folder, port, source, target)
        rates: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(rounds):
            for name, way in ways.items():
                rates[name].append(size / MB / timed(way, folder / f"there-{name}-{number}"))
                print(f"round {number + 1}: {name} {rates[name][-1]:.0f} MB/s", flush=True)
        after_a_cut(folder, source, size)
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


def console(runner: object, source: Path, target: Path) -> None:
    from console.hosts import transfer

    transfer.send(runner, str(target), transfer.parcel(source))  # type: ignore[arg-type]


def scp(folder: Path, port: int, source: Path, target: Path) -> None:
    subprocess.run(["scp", "-q", *options(folder), "-P", str(port), source, f"127.0.0.1:{target}/"], check=True)


def rsync(folder: Path, port: int, source: Path, target: Path) -> None:
    shell = " ".join(["ssh", *options(folder), "-p", str(port)])
    subprocess.run(["rsync", "-W", "-e", shell, source, f"127.0.0.1:{target}/"], check=True)


def options(folder: Path) -> list[str]:
    return ["-i", f"{folder}/sshd/user_key", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
            "-o", "LogLevel=ERROR"]  # fmt: skip


def after_a_cut(folder: Path, source: Path, size: int) -> None:
    """Stop at half, go on, and count what went over the second time beyond the missing half."""
    from console.hosts import transfer
    from console.hosts.local import LocalRunner

    class Cut(Exception):
        pass

    def stop(count: int) -> None:
        if count >= size // 2:
            raise Cut

    one, target = transfer.parcel(source), str(folder / "cut")
    with suppress(Cut):
        transfer.send(LocalRunner(), target, one, told=stop)
    again = transfer.send(LocalRunner(), target, one)
    print(f"cut at half: {(again.bytes - size / 2) / size:.2%} of the file was sent twice")


@contextmanager
def server(folder: Path) -> Iterator[tuple[int, object]]:
    from console.hosts import connection
    from console.hosts.ssh import SshRunner
    from tests.hosts.sshd import Sshd

    one = Sshd(folder / "sshd", "Subsystem sftp /usr/lib/openssh/sftp-server").start().trust()
    try:
        yield one.port, SshRunner(connection.connection(one.reach()))
    finally:
        connection.forget(one.reach())
        one.stop()


if __name__ == "__main__":
    sys.exit(main())
