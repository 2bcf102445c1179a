"""A plan as one commented shell script that does the same without the console, and says what became of each step.

What it says itself is in the language of whoever exported it; what the scripts of the steps print stays as it is.
"""

import hashlib
import json
import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence

from console.plans.results import BEGIN, CHECKED, END, KEPT_LINES, LOG
from console.plans.step import Step
from console.text import catalog, render, say

HEAD = """#!/bin/sh
{about}
set -u
token={token}; count={count}; host={host}
{told}
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
  cat "$work/block" 2>/dev/null >>"$results" || echo "$results: $told_lost" >&2
}}

{question}

step() {{  # step NUMBER NAME TITLE [restarts]
  began=$(up); : >"$work/log"; rm -f "$work/ask"
  if [ -s "$work/verify.sh" ] && sh "$work/verify.sh" >/dev/null 2>&1; then
    echo "== $1/$count $2: $3 ($told_done)"; report "$1" "$2" satisfied 0; return
  fi
  echo "== $1/$count $2: $3"
  echo 1 >"$work/code"
  {{ (cd "$work" && sh ./run.sh); echo $? >"$work/code"; }} 2>&1 | tee "$work/log"
  code=$(cat "$work/code")
  if [ "$code" -eq 75 ]; then
    question <"$work/ask" | tee -a "$work/log"; report "$1" "$2" asks 75; echo "$told_answer"; exit 75
  fi
  [ "$code" -eq 0 ] || {{ report "$1" "$2" failed "$code"; exit "$code"; }}
  if [ "${{4:-}}" = restarts ]; then
    report "$1" "$2" restarts 0
    echo "$told_restarts"; exit 0
  fi
  if [ -s "$work/verify.sh" ] && ! sh "$work/verify.sh" >>"$work/log" 2>&1; then
    echo "$1 $2: $told_missing" >&2; report "$1" "$2" failed 0; exit 1
  fi
  report "$1" "$2" ok 0
}}
"""
QUESTION = r"""question() {  # what a step asks, as a sentence: its file holds {"sentence": "...", "values": {...}}
  LC_ALL=C awk '
    function taken(  out, c) {  # the string that rest begins with, behind its first quote; rest is then what follows
      while (rest != "") {
        c = substr(rest, 1, 1); rest = substr(rest, 2)
        if (c == "\"") break
        if (c == "\\") { c = substr(rest, 1, 1); rest = substr(rest, 2); if (c == "n" || c == "t") c = " " }
        out = out c
      }
      return out
    }
    { whole = whole $0 }
    END {
      if (!match(whole, /"sentence": "/)) { print whole; exit }
      rest = substr(whole, RSTART + RLENGTH); said = taken()
      if (match(rest, /"values": [{]/)) rest = substr(rest, RSTART + RLENGTH); else rest = ""
      while (match(rest, /^[, ]*"/)) {
        rest = substr(rest, RLENGTH + 1); name = "{" taken() "}"
        if (match(rest, /^: *"/)) { rest = substr(rest, RLENGTH + 1); value = taken() }
        else if (match(rest, /^: *[^,}]*/)) { value = substr(rest, 2, RLENGTH - 1); rest = substr(rest, RLENGTH + 1) }
        else break
        for (full = ""; at = index(said, name); said = substr(said, at + length(name)))
          full = full substr(said, 1, at - 1) value
        said = full said
      }
      print said
    }'
}"""
TOLD = {
    "done": say("already done"),
    "answer": say("Run this script again with PILOT_ANSWER=yes in front of sh to agree, or with PILOT_ANSWER=no."),
    "restarts": say("The host restarts. Run this script again once it is back."),
    "missing": say("its result is not there"),
    "lost": say("This file cannot be written: keep what is printed here."),
}
"""Shell variable behind told_ -> what it says."""


def token(host: str, steps: Sequence[Step]) -> str:
    """Twelve hex digits that stand for these very steps on this host."""
    stored = json.dumps([host, *(step.to_json() for step in steps)], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(stored.encode()).hexdigest()[:12]


def runbook(steps: Sequence[Step], host: str = "", language: str = "en") -> str:
    """Only steps that act on the host with a script are in it; what the console does itself is named in a comment.

    `host` is its name in the inventory; it stands in the results. A restart ends the script: run again, it goes on
    behind it.
    """
    name = token(host, steps)
    head = HEAD.format(
        about="\n".join(_about(len(steps), name, language)), count=len(steps), token=name, question=QUESTION,
        host=shlex.quote(_one_line(host)), told="\n".join(_told(language)), begin=BEGIN, end=END, kept=KEPT_LINES,
        log=LOG, checked=CHECKED,
    )  # fmt: skip
    parts = [head]
    for number, step in enumerate(steps, start=1):
        title = _one_line(render(step.title, language)).replace("'", "’")
        if step.action and not step.script:
            by_console = say("{title}: done by the console itself ({action})", title=title, action=step.action)
            parts.append(f"# {number}. {render(by_console, language)}\n")
            continue
        parts.append(
            f"# {number}. {title}\n"
            + _back(step, language)
            + _file("run.sh", asking_in(step.script, language), number)
            + _file("verify.sh", step.verify, number)
            + f"step {number} {shlex.quote(step.name)} '{title}'{' restarts' if step.action else ''}\n"
        )
    return "\n".join(parts)


def _about(count: int, name: str, language: str) -> Iterator[str]:
    """The comment at its head."""
    file = f"pilot-results-{name}.txt"
    sentences = (
        say("{count} steps. Each is skipped when its check succeeds beforehand; the script stops at the first that "
            "fails.", count=count),
        say("A step that must ask shows its question and ends the script; run it again with PILOT_ANSWER=yes in front "
            "of sh, or with PILOT_ANSWER=no."),
        say("After each step it prints a block “{begin} …”. Paste what it printed on the Install page, or bring the "
            "file with all blocks there: {file} in the folder where this was started, or below PILOT_RESULTS.",
            begin=BEGIN, file=file),
    )  # fmt: skip
    for one in sentences:
        for line in textwrap.wrap(render(one, language), 116, break_long_words=False, break_on_hyphens=False):
            yield f"# {line}"


def _told(language: str) -> Iterator[str]:
    """Shell variables with what the script says while it runs."""
    for name, text in TOLD.items():
        yield f"told_{name}={shlex.quote(render(text, language))}"


def asking_in(script: str, language: str) -> str:
    """The script with the question among the values at its head in this language, its named places kept."""

    def spoken(found: re.Match[str]) -> str:
        value = shlex.split(found[1])[0]
        if not value.startswith("{"):
            return f"question={shlex.quote(_template(value, language))}"
        asked = json.loads(value)
        asked["sentence"] = _template(asked["sentence"], language)
        return f"question={shlex.quote(json.dumps(asked, ensure_ascii=False))}"

    return script if language == "en" else re.sub(r"^question=('.*')$", spoken, script, count=1, flags=re.M)


def _template(sentence: str, language: str) -> str:
    return catalog(language).get(sentence, sentence)


def _one_line(words: str) -> str:
    return " ".join(words.split())


def _back(step: Step, language: str) -> str:
    if step.rollback is None:
        return ""
    return f"# {_one_line(render(say('To take it back: {how}', how=step.rollback), language))}\n"


def _file(name: str, content: str, number: int) -> str:
    end = f"END_OF_STEP_{number}"
    return f"cat > \"$work/{name}\" <<'{end}'\n{content.rstrip()}\n{end}\n" if content else f': > "$work/{name}"\n'
