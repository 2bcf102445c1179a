"""A plan as one commented shell script that does the same without the console."""

from collections.abc import Sequence

from console.plans.step import Step

HEAD = """#!/bin/sh
# {count} steps. Each is skipped when its check succeeds beforehand; the script stops at the first that fails.
# A step that must ask ends with code 75 and its question in the file `ask`; run again with PILOT_ANSWER=yes.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

step() {{  # step NUMBER TITLE [restarts]
  if [ -s "$work/verify.sh" ] && sh "$work/verify.sh" >/dev/null 2>&1; then echo "== $1 $2: already there"; return; fi
  echo "== $1 $2"
  (cd "$work" && sh ./run.sh) || {{ code=$?; [ $code -eq 75 ] && cat "$work/ask"; exit $code; }}
  if [ "${{3:-}}" = restarts ]; then echo "The host restarts. Run this script again once it is back."; exit 0; fi
  if [ -s "$work/verify.sh" ]; then
    sh "$work/verify.sh" >/dev/null || {{ echo "step $1: its result is not there" >&2; exit 1; }}
  fi
}}
"""


def runbook(steps: Sequence[Step]) -> str:
    """Only steps that act on the host with a script are in it; what the console does itself is named in a comment.

    A restart ends the script: run again, it goes on behind it.
    """
    parts = [HEAD.format(count=len(steps))]
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
            + f"step {number} '{title}'{' restarts' if step.action else ''}\n"
        )
    return "\n".join(parts)


def _back(step: Step) -> str:
    return "" if step.rollback is None else f"# To take it back: {' '.join(str(step.rollback).split())}\n"


def _file(name: str, content: str, number: int) -> str:
    end = f"END_OF_STEP_{number}"
    return f"cat > \"$work/{name}\" <<'{end}'\n{content.rstrip()}\n{end}\n" if content else f': > "$work/{name}"\n'
