"""How long until the first answer through the console, against the same commands typed by hand, in one run.

    python scripts/bench/first_answer.py --work FOLDER [--rounds 3] [--install]

FOLDER is the console's data folder for this measurement. Without --install it must hold an installed runtime (run
`pilot run --data FOLDER` once); with --install both sides begin from nothing. By hand means: the installation as the
downloadable shell script, the very `vllm serve` line the console shows, a loop over /health, and one question.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
QUESTION = {
    "messages": [{"role": "user", "content": "What is the capital of France?"}],
    "max_tokens": 64,
    "temperature": 0,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--install", action="store_true")
    chosen = parser.parse_args()
    os.environ["PILOT_DATA"] = str(chosen.work.resolve())
    console, hand = [], []
    for number in range(chosen.rounds):
        for side, measure in ((console, by_console), (hand, by_hand)):
            if chosen.install:
                for folder in ("runtimes", "models"):
                    shutil.rmtree(chosen.work / folder, ignore_errors=True)
            side.append(measure(install=chosen.install))
            print(f"round {number + 1}: {measure.__name__} {side[-1]:.1f} s", flush=True)
    ours, typed = statistics.median(console), statistics.median(hand)
    print(f"median: console {ours:.1f} s, by hand {typed:.1f} s, ratio {ours / typed:.2f}")
    return 0


def by_console(*, install: bool) -> float:
    """Seconds from asking for the pilot to the end of the job that got the first answer."""
    pilot = [sys.executable, "-m", "console"]
    subprocess.run([*pilot, "stop", "--all"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    from console.hosts import inventory
    from console.jobs import history, jobs, path
    from console.jobs.supervise import ensure_worker

    host = inventory.this_machine()
    ensure_worker()
    begun = time.time()
    journey = history.job(path.start_pilot(host.id, actor="bench")).journey
    while True:
        chain = history.journey(journey)
        if any(job.state in ("failed", "cancelled") for job in chain):
            raise SystemExit(f"the pilot did not get there: {chain[-1].reason}")
        answered = [job for job in chain if job.kind == "try" and job.state == "succeeded"]
        if answered:
            break
        time.sleep(0.2)
    for job in history.journey(journey):
        if job.active:
            jobs.cancel(job.id, actor="bench")
    subprocess.run([*pilot, "stop", "--all"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return (answered[0].ended or time.time()) - begun


def by_hand(*, install: bool) -> float:
    """Seconds for the same with a shell: install when asked, serve, wait for /health, ask."""
    from console.hosts import inventory
    from console.jobs.path import target
    from console.plans import local_cpu
    from console.plans.runbook import runbook
    from console.serving import instances

    begun = time.time()
    if install:
        script = runbook(local_cpu.plan(target(inventory.this_machine())))
        subprocess.run(["sh", "-c", script], check=True, stdout=subprocess.DEVNULL)
    attempt = instances.attempts(instances.instances()[-1].id)[0]
    spec = instances.instances()[-1].spec
    server = subprocess.Popen(
        ["setsid", "sh", "-c", attempt.command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        ask(spec.port, spec.served_name)
        return time.time() - begun
    finally:
        subprocess.run(["pkill", "-TERM", "-s", str(server.pid)], check=False)
        server.wait()
        time.sleep(2)


def ask(port: int, name: str) -> None:
    """Until /health says 200, then one question."""
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
                break
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/chat/completions",
        data=json.dumps({**QUESTION, "model": name}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        print("  ", json.load(answer)["choices"][0]["message"]["content"][:60])


if __name__ == "__main__":
    sys.exit(main())
