"""Server CPU of open monitor tabs: live charts that pull their points, against a fragment that redraws its charts.

    python scripts/bench/monitor_tab.py [--tabs 10] [--seconds 20] [--rounds 2]

Starts a server with two pages that show the same six panels every two seconds, opens them in Chromium one after the
other, and prints the CPU time the server took as a share of one core. Ratios carry over to other machines, the
shares do not. Needs Linux (/proc), Chromium and playwright.
"""

import argparse
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402
from playwright.sync_api import Browser, sync_playwright  # noqa: E402

from console.metrics.exposition import parse  # noqa: E402
from console.metrics.store import Samples  # noqa: E402
from console.metrics.windows import CHARTED, INTERVAL_S, QUANTILES, Point, series  # noqa: E402
from console.surface.live_chart import LABELS, live_charts, routes  # noqa: E402
from tests.metrics.engine import PretendedEngine  # noqa: E402

MINUTES = 5
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--no-first-run"]  # fmt: skip
READY = {"route": ".pilot-live .main-svg", "fragment": ".stPlotlyChart .main-svg"}


def page(samples: Path) -> None:
    """What Streamlit runs: the same charts either way."""
    st.set_page_config(layout="wide")
    if st.query_params.get("way") == "fragment":
        st.fragment(redrawn, run_every=INTERVAL_S)(samples)
    else:
        live_charts(1, MINUTES, {name: str(text) for name, text in LABELS.items()}, key="live")


def redrawn(path: Path) -> None:
    """Six figures from the same scrapes, made anew at every tick."""
    import plotly.graph_objects as go

    now = time.time()
    with Samples(path) as samples:
        points = list(series(samples.between(1, now - MINUTES * 60, now)))
    times = [point.time * 1000 for point in points]
    columns = st.columns(2)
    for number, lines in enumerate(panels(points)):
        figure = go.Figure([go.Scatter(x=times, y=values, name=name) for name, values in lines.items()])
        figure.update_layout(height=168, margin={"l": 52, "r": 8, "t": 8, "b": 22}, xaxis={"type": "date"})
        columns[number % 2].plotly_chart(figure, key=f"panel-{number}")


def panels(points: list[Point]) -> Iterator[dict[str, list[float | None]]]:
    for name in CHARTED:
        found = {share: [(point.latency[name] or {}).get(share) for point in points] for share in QUANTILES}
        yield {share: [None if one is None else one.value for one in values] for share, values in found.items()}
    yield {"generated": [p.generation_rate for p in points], "prompt": [p.prompt_rate for p in points]}
    yield {"running": [p.running for p in points], "waiting": [p.waiting for p in points]}
    yield {"used": [p.kv_cache_usage for p in points]}


def measure(path: Path, stop: threading.Event) -> None:
    """A busy engine: its last minutes at once, then a scrape every two seconds."""
    chance, engine = random.Random(1), PretendedEngine(running=4, usage=0.4)

    def scrape(samples: Samples, moment: float) -> None:
        for _ in range(chance.choice([0, 1, 2])):
            engine.finish(chance.lognormvariate(-1.4, 0.5), chance.randint(20, 80), 0.03)
        samples.append(1, moment, 1, parse(engine.text()))

    with Samples(path) as samples:
        begin = time.time()
        for age in range(MINUTES * 60, 0, -2):
            scrape(samples, begin - age)
        while not stop.wait(INTERVAL_S):
            scrape(samples, time.time())


@contextmanager
def server(samples: Path) -> Iterator[tuple[int, int]]:
    """A server of its own; gives its process number and port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, __file__, "--serve", str(samples), str(port)]
    # In the checkout, so that the project's own .streamlit/config.toml counts.
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, env={**os.environ, "BENCH": str(samples)})
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5).close()
                break
            except OSError:
                time.sleep(0.2)
        yield process.pid, port
    finally:
        process.terminate()
        process.wait()


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def share(browser: Browser, process: int, port: int, way: str, tabs: int, seconds: float) -> float:
    """CPU time of the server per second with so many tabs open (none: idle), once they have settled."""
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    opened = [context.new_page() for _ in range(tabs)]
    for tab in opened:
        tab.set_default_timeout(120_000)
        tab.goto(f"http://127.0.0.1:{port}/?way={way}")
        tab.locator(READY[way]).first.wait_for()
    clock = opened[0] if opened else context.new_page()  # a plain sleep would stop Playwright's events
    clock.wait_for_timeout(6000)
    before, begin = cpu_seconds(process), time.monotonic()
    clock.wait_for_timeout(seconds * 1000)
    used, lasted = cpu_seconds(process) - before, time.monotonic() - begin
    context.close()
    return used / lasted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tabs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=2)
    wanted = parser.parse_args()
    stop, seen = threading.Event(), dict[tuple[int, str], list[float]]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples.sqlite"
        feeding = threading.Thread(target=measure, args=(path, stop))
        feeding.start()
        try:
            with server(path) as (process, port), sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
                for _ in range(wanted.rounds):  # interleaved, so that a busy machine is as unfair to both
                    for tabs in (0, 1, wanted.tabs):
                        for way in READY:
                            found = share(browser, process, port, way, tabs, wanted.seconds)
                            seen.setdefault((tabs, way), []).append(found)
                browser.close()
        finally:
            stop.set()
            feeding.join()
    report({case: statistics.median(values) for case, values in seen.items()})


def report(shares: dict[tuple[int, str], float]) -> None:
    busy = os.getloadavg()[0] / (os.cpu_count() or 1)
    print(f"load of this machine: {busy:.1f} per core; above 1 the browser falls behind and redrawing looks cheaper")
    print("open tabs   pulled points   redrawn by a fragment   ratio above idle")
    for tabs in sorted({tabs for tabs, _ in shares}):
        pulled, redrawn_share = shares[tabs, "route"], shares[tabs, "fragment"]
        above = pulled - shares[0, "route"], redrawn_share - shares[0, "fragment"]
        ratio = f"{above[1] / above[0]:.0f}x" if tabs and above[0] > 0 else "-"
        print(f"{tabs:9d}   {pulled:13.2%}   {redrawn_share:21.2%}   {ratio}")


if __name__ == "__main__":
    if st.runtime.exists():  # Streamlit runs this very file as the page
        page(Path(os.environ["BENCH"]))
    elif sys.argv[1:2] == ["--serve"]:
        application = st.App(Path(__file__).resolve(), routes=routes(lambda: Path(sys.argv[2])))
        application.run(config={"server.port": int(sys.argv[3]), "server.address": "127.0.0.1"})
    else:
        main()
