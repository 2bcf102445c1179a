"""The command line of `pilot` in the language of the terminal: argparse knows English alone."""

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from typing import NoReturn

from console.terminal import WRONG_INPUT, t

Found = Mapping[str, str]
ARGUMENT = re.compile(r"argument (?P<name>.+?): (?P<why>.+)", re.DOTALL)
REASONS: Mapping[str, Callable[[Found], str]] = {
    r"the following arguments are required: (?P<names>.+)": lambda found: t("Missing: {names}", **found),
    r"unrecognized arguments: (?P<words>.+)": lambda found: t("Not understood: {words}", **found),
    r"one of the arguments (?P<names>.+) is required": lambda found: t("One of these is needed: {names}", **found),
    r"ambiguous option: (?P<option>.+) could match (?P<options>.+)": lambda found: t(
        "{option} may mean {options}: write it in full", **found
    ),
    r"(?:invalid choice|unknown parser): ?(?P<value>.+) \(cho(?:ose from|ices:) (?P<choices>.+)\)": lambda found: t(
        "{value} is none of {choices}", **found
    ),
    r"expected one argument": lambda found: t("a value is missing behind it"),
    r"expected at least one argument": lambda found: t("at least one value is missing behind it"),
    r"expected (?P<count>\d+) arguments?": lambda found: t("{count} values must stand behind it", **found),
    r"ignored explicit argument (?P<value>.+)": lambda found: t("it takes no value, and {value} was given", **found),
    r"not allowed with argument (?P<other>.+)": lambda found: t("it cannot stand together with {other}", **found),
    r"invalid int value: (?P<value>.+)": lambda found: t("{value} is no whole number", **found),
    r"invalid float value: (?P<value>.+)": lambda found: t("{value} is no number", **found),
}
"""What argparse of Python 3.11 to 3.14 says -> how we say it."""


def told(message: str) -> str:
    """An error of argparse for the user; what is none of REASONS, as our own errors are, stays as it is."""
    named = ARGUMENT.fullmatch(message)
    why = named["why"] if named else message
    for pattern, tell in REASONS.items():
        if found := re.fullmatch(pattern, why, re.DOTALL):
            why = tell(found.groupdict())
            break
    return f"{named['name']}: {why}" if named else why


class Parser(argparse.ArgumentParser):
    """argparse with its own headings and errors."""

    def __init__(self, *arguments: object, **named: object) -> None:
        named["add_help"] = False
        super().__init__(*arguments, **named)  # type: ignore[arg-type]
        self._positionals.title, self._optionals.title = t("what"), t("options")
        self.add_argument("-h", "--help", action="help", help=t("show this help and exit"))
        self.add_argument(
            "--data",
            metavar=t("FOLDER"),
            default=argparse.SUPPRESS,  # else the verb's own default would undo what stands before the verb
            help=t("data folder of the console (default: $PILOT_DATA, else ~/.local/share/ascend-pilot)"),
        )

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(WRONG_INPUT, f"{self.prog}: {told(message)}\n")

    def format_usage(self) -> str:
        return super().format_usage().replace("usage:", t("usage:"), 1)

    def format_help(self) -> str:
        return super().format_help().replace("usage:", t("usage:"), 1)
