"""The checklist as one HTML file: no script, nothing loaded from anywhere, made to be printed too."""

from collections.abc import Iterator, Sequence
from html import escape

from console.checks.check import Judged
from console.checks.report import STANDINGS, Report, details, head, title_words
from console.text import Text, render, say

STYLE = """
:root { color-scheme: light; }
body { font: 14px/1.5 system-ui, -apple-system, "Segoe UI", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC",
  sans-serif; color: #1b1f24; background: #fff; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .75rem; } h2 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; }
section.host + section.host { margin-top: 3rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid #d8dee4;
  overflow-wrap: anywhere; }
th { font-weight: 600; }
table.head { width: auto; } table.head th { font-weight: 400; color: #57606a; white-space: nowrap; }
article { border-bottom: 1px solid #d8dee4; padding: .5rem 0; break-inside: avoid; }
article h3 { font-size: 1rem; margin: 0 0 .15rem; display: flex; gap: .75rem; }
dl { display: grid; grid-template-columns: 9rem 1fr; gap: .1rem .75rem; margin: 0; }
dt { color: #57606a; } dd { margin: 0; overflow-wrap: anywhere; }
pre { background: #f3f5f7; border: 1px solid #d8dee4; padding: .4rem .6rem; margin: .35rem 0 0; white-space: pre-wrap;
  overflow-wrap: anywhere; font: 12.5px/1.45 ui-monospace, Menlo, Consolas, monospace; }
.standing { white-space: nowrap; font-weight: 600; }
.fail { color: #b42318; } .warn { color: #9a5b00; } .unknown, .waived { color: #57606a; } .pass { color: #1a7f37; }
@page { margin: 16mm; }
@media print { body { margin: 0; max-width: none; padding: 0; } h2 { break-after: avoid; } }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .3rem; } }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Even if something slipped through, a browser would load and run nothing."""


def html(reports: Sequence[Report], language: str) -> str:
    """One document about these hosts; whatever a host or a person said is escaped."""
    title = ", ".join(render(title_words(one), language) for one in reports)
    body = "\n".join(line for one in reports for line in _host(one, language))
    return f"""<!DOCTYPE html>
<html lang="{"zh-CN" if language == "zh" else "en"}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
{body}
</body>
</html>
"""


def _said(text: Text | str, language: str) -> str:
    return escape(render(text, language) if isinstance(text, Text) else text)


def _standing(name: str, language: str, count: int | None = None) -> str:
    shape, word = STANDINGS[name]
    number = "" if count is None else f" {count}"
    return f'<span class="standing {name}">{shape} {_said(word, language)}{number}</span>'


def _host(report: Report, language: str) -> Iterator[str]:
    yield f'<section class="host">\n<h1>{_said(title_words(report), language)}</h1>'
    cells = [(_said(label, language), _said(value, language)) for label, value in head(report, language)]
    counts = " · ".join(_standing(name, language, count) for name, count in report.counts().items())
    cells.append((_said(say("Result"), language), counts))
    yield '<table class="head">'
    yield from (f"<tr><th>{label}</th><td>{value}</td></tr>" for label, value in cells)
    yield "</table>"
    yield from _open(report, language)
    for area, judged in report.areas():
        yield f"<h2>{_said(area, language)}</h2>"
        for one in judged:
            yield from _check(report, one, language)
    yield "</section>"


def _open(report: Report, language: str) -> Iterator[str]:
    """In short what did not pass, the worst first: what a reader of the mail has to act on."""
    order = list(STANDINGS)
    mine = sorted((one for one in report.judged if not one.passed), key=lambda one: order.index(one.standing))
    if not mine:
        return
    yield f"<h2>{_said(say('What did not pass'), language)}</h2>\n<table>"
    heads = (say("Result"), say("Check"), say("Seen"), say("Wanted"))
    yield "<tr>" + "".join(f"<th>{_said(one, language)}</th>" for one in heads) + "</tr>"
    for one in mine:
        words = (one.title, one.verdict.seen, one.verdict.wanted)
        cells = "".join(f"<td>{_said(text, language)}</td>" for text in words)
        yield f"<tr><td>{_standing(one.standing, language)}</td>{cells}</tr>"
    yield "</table>"


def _check(report: Report, one: Judged, language: str) -> Iterator[str]:
    mark = _standing(one.standing, language)
    yield f"<article>\n<h3>{mark}<span>{_said(one.title, language)}</span></h3>\n<dl>"
    for label, value in details(report, one):
        yield f"<dt>{_said(label, language)}</dt><dd>{_said(value, language)}</dd>"
    yield "</dl>"
    if one.verdict.fix_command and not one.passed:
        yield f"<pre>{escape(one.verdict.fix_command)}</pre>"
    yield "</article>"
