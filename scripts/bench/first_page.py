"""How long from starting the console to its first page in a browser, and how much memory it then takes.

    python scripts/bench/first_page.py [--rounds 5]

Both against a bare Streamlit server with a one-line page, in the same run. "Warm": packages are installed and in the
page cache. Memory is the proportional share (PSS) of the web server and the worker after every page was opened once.
"""

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--no-first-run"]  # fmt: skip
PAGES = (
    "hosts",
    "checklist",
    "install",
    "models",
    "launch",
    "instances",
    "playground",
    "monitor",
    "history",
    "settings",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
        bare, ours, memory = [], [], []
        page = Path(scratch) / "bare.py"
        page.write_text("import streamlit as st\nst.title('bare')\n")
        for number in range(rounds):
            bare.append(bare_start(browser, page))
            seconds, share = console_start(browser, Path(scratch) / f"data{number}")
            ours.append(seconds)
            memory.append(share)
            print(f"round {number + 1}: bare {bare[-1]:.2f} s, console {seconds:.2f} s, {share:.0f} MB", flush=True)
        browser.close()
    first, second = statistics.median(ours), statistics.median(bare)
    print(f"median: console {first:.2f} s, bare Streamlit {second:.2f} s, ratio {first / second:.2f}")
    print(f"memory of web server and worker together: {statistics.median(memory):.0f} MB (PSS)")
    return 0


def bare_start(browser: Browser, page: Path) -> float:
    port = free_port()
    begun = time.monotonic()
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(page), "--server.port", str(port), "--server.headless", "true",
         "--server.address", "127.0.0.1", "--browser.gatherUsageStats", "false"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=page.parent,
    )  # fmt: skip
    try:
        return opened(browser, f"http://127.0.0.1:{port}/", begun)[0]
    finally:
        server.terminate()
        server.wait()


def console_start(browser: Browser, data: Path) -> tuple[float, float]:
    """Seconds to the first page, MB of both processes after all pages were open."""
    port = free_port()
    environment = {**os.environ, "PILOT_DATA": str(data)}
    begun = time.monotonic()
    pilot = [sys.executable, "-m", "console"]
    server = subprocess.Popen([*pilot, "up", "--no-browser", "--port", str(port)], cwd=ROOT, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # fmt: skip
    try:
        assert server.stdout is not None
        link = server.stdout.readline().split()[-1]
        seconds, context = opened(browser, link, begun)
        tab = context.pages[0]
        for name in PAGES:
            tab.goto(f"http://127.0.0.1:{port}/{name}")
            tab.wait_for_selector("h1", timeout=60_000)
        time.sleep(3)
        pids = [server.pid, int(subprocess.check_output(["pgrep", "-f", "-n", "console worker"]))]
        share = sum(pss(pid) for pid in pids)
        context.close()
        return seconds, share
    finally:
        server.terminate()  # first: it would start another worker in place of one that ended
        server.wait()
        subprocess.run([*pilot, "worker", "--stop"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False)


def opened(browser: Browser, link: str, begun: float):
    """Seconds until the page has its heading, and the browser context."""
    context = browser.new_context()
    tab = context.new_page()
    while True:
        try:
            tab.goto(link)
            break
        except Exception:
            time.sleep(0.05)
    tab.wait_for_selector("h1", timeout=60_000)
    return time.monotonic() - begun, context


def pss(pid: int) -> float:
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith("Pss:")) / 1000


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
