"""A plan as one commented shell script that does the same without the console, and says what became of each step."""

import hashlib
import json
import shlex
from collections.abc import Sequence

from console.plans.results import BEGIN, CHECKED, END, KEPT_LINES, LOG
from console.plans.step import Step

HEAD = """#!/bin/sh
# {count} steps. Each is skipped when its check succeeds beforehand; the script stops at the first that fails.
# A step that must ask ends with code 75 and its question in the file `ask`; run again with PILOT_ANSWER=yes.
# After each step it prints a block “{begin} ...”. Paste what it printed on the Install page, or bring the file with all
# blocks there: pilot-results-{token}.txt in the folder where this was started, or below PILOT_RESULTS.
set -u
token={token}; count={count}; host={host}
results=${{PILOT_RESULTS:-$PWD}}/pilot-results-$token.txt
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
up() {{ cut -d . -f 1 /proc/uptime 2>/dev/null || echo 0; }}  # the clock of the host may be set meanwhile

report() {{  # report NUMBER NAME STATE CODE: the block of a step; its sum holds whatever becomes of blanks on the way
  {{
    echo "{begin} $token $1/$count"; echo "step $2"; echo "state $3"; echo "code $4"; echo "seconds $(($(up) - began))"
    echo "for $host"; echo "on $(uname -n)"
    if [ "$3" = failed ] || [ "$3" = asks ]; then
      tail -n {kept} "$work/log" | LC_ALL=C sed "s/$(printf '\\033')\\[[0-9;]*[A-Za-z]//g; s/^/{log} /"
    fi
  }} >"$work/block"
  echo "{end} $(LC_ALL=C tr -cd '{checked}' <"$work/block" | cksum | cut -d ' ' -f 1)" >>"$work/block"
  cat "$work/block"
  cat "$work/block" 2>/dev/null >>"$results" || echo "$results cannot be written: keep what is printed here." >&2
}}

step() {{  # step NUMBER NAME TITLE [restarts]
  began=$(up); : >"$work/log"; rm -f "$work/ask"
  if [ -s "$work/verify.sh" ] && sh "$work/verify.sh" >/dev/null 2>&1; then
    echo "== $1 $3: already done"; report "$1" "$2" satisfied 0; return
  fi
  echo "== $1 $3"
  echo 1 >"$work/code"
  {{ (cd "$work" && sh ./run.sh); echo $? >"$work/code"; }} 2>&1 | tee "$work/log"
  code=$(cat "$work/code")
  if [ "$code" -eq 75 ]; then
    cat "$work/ask"; echo; cat "$work/ask" >>"$work/log"; report "$1" "$2" asks 75; exit 75
  fi
  [ "$code" -eq 0 ] || {{ report "$1" "$2" failed "$code"; exit "$code"; }}
  if [ "${{4:-}}" = restarts ]; then
    report "$1" "$2" restarts 0
    echo "The host restarts. Run this script again once it is back."; exit 0
  fi
  if [ -s "$work/verify.sh" ] && ! sh "$work/verify.sh" >>"$work/log" 2>&1; then
    echo "step $1: its result is not there" >&2; report "$1" "$2" failed 0; exit 1
  fi
  report "$1" "$2" ok 0
}}
"""


def token(host: str, steps: Sequence[Step]) -> str:
    """Twelve hex digits that stand for these very steps on this host."""
    stored = json.dumps([host, *(step.to_json() for step in steps)], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(stored.encode()).hexdigest()[:12]


def runbook(steps: Sequence[Step], host: str = "") -> str:
    """Only steps that act on the host with a script are in it; what the console does itself is named in a comment.

    `host` is its name in the inventory; it stands in the results. A restart ends the script: run again, it goes on
    behind it.
    """
    head = HEAD.format(
        count=len(steps), token=token(host, steps), host=shlex.quote(" ".join(host.split())), begin=BEGIN, end=END,
        kept=KEPT_LINES, log=LOG, checked=CHECKED,
    )  # fmt: skip
    parts = [head]
    for number, step in enumerate(steps, start=1):
        title = str(step.title).replace("'", "’").replace("\n", " ")
        if step.action and not step.script:
            parts.append(f"# {number}. {title}: done by the console itself ({step.action})\n")
            continue
        parts.append(
            f"# {number}. {title}\n"
            + _back(step)
            + _file("run.sh", step.script, number)
            + _file("verify.sh", step.verify, number)
            + f"step {number} {shlex.quote(step.name)} '{title}'{' restarts' if step.action else ''}\n"
        )
    return "\n".join(parts)


def _back(step: Step) -> str:
    return "" if step.rollback is None else f"# To take it back: {' '.join(str(step.rollback).split())}\n"


def _file(name: str, content: str, number: int) -> str:
    end = f"END_OF_STEP_{number}"
    return f"cat > \"$work/{name}\" <<'{end}'\n{content.rstrip()}\n{end}\n" if content else f': > "$work/{name}"\n'
