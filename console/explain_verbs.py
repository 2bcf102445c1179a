"""What `pilot explain` does."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from console.errors import InvalidInput, NotFound
from console.terminal import FAILED, OK, WRONG_INPUT, language, t, words

if TYPE_CHECKING:
    from rich.table import Table


def options(one: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The words of `pilot explain`; the command itself comes from standard input."""
    one.add_argument("--release", help=t("release of vllm-ascend it is for (default: the newest stable)"))
    one.add_argument("--chip", help=t("chip as npu-smi prints it, such as 910B4"))
    return one


def explain(chosen: argparse.Namespace) -> int:
    """Explain a pasted command; 0 nothing wrong, 1 something is, 2 nothing that looks like a command."""
    from console.catalog.named import release_named
    from console.serving.ask_fit import chip_named
    from console.serving.explain import report, understand

    try:
        release = "" if chosen.release is None else release_named(chosen.release)
        if chosen.chip is not None:
            chip_named(chosen.chip)
    except (NotFound, InvalidInput) as error:
        print(f"pilot: {words(error.text)}", file=sys.stderr)
        return WRONG_INPUT
    text = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    found = understand(text, release, chosen.chip or "")
    if chosen.json:
        print(json.dumps(report(found, language()), ensure_ascii=False, indent=2))
    elif found.kind or found.findings:
        _show(report(found, language()))
    if not found.kind:
        print(f"pilot: {t('Nothing in this text starts a vLLM server.')}", file=sys.stderr)
        return WRONG_INPUT
    return FAILED if found.findings else OK


def _show(told: dict[str, object]) -> None:
    """Findings first, then what was understood, then what changes nothing."""
    from rich.console import Console

    from console.serving.labels import label

    console = Console(soft_wrap=False, highlight=False)
    spec, stated = told["spec"], told["stated"]
    findings, ignored = told["findings"], told["ignored"]
    assert isinstance(spec, dict)
    assert isinstance(stated, list)
    assert isinstance(findings, list)
    assert isinstance(ignored, list)
    if findings:
        table = _table(t("Written"), t("What is wrong"), t("Instead"))
        for one in findings:
            table.add_row(*(_plain(one[key]) for key in ("token", "problem", "instead")))
        console.print(table)
    else:
        console.print(t("Nothing is wrong with it."))
    table = _table(t("Setting"), t("Value"))
    for name in stated:
        if name in spec:
            table.add_row(_plain(words(label(name))), _plain(spec[name]))
    console.print(table)
    if ignored:
        table = _table(t("Changes nothing"), t("Why"))
        for one in ignored:
            table.add_row(_plain(one["token"]), _plain(one["why"]))
        console.print(table)


def _table(*headings: str) -> "Table":
    from rich.table import Table

    table = Table(show_lines=True)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _plain(value: object) -> str:
    from rich.markup import escape

    return escape(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
