"""What checks print is told in the reader's language, whichever script prints it."""

import re

import pytest

from console.plans.ascend import SCRIPTS
from console.plans.check_said import SENTENCES, check_said
from console.text import render

PRINTED = re.compile(r"""echo (?:'([^']*)'|"((?:[^"$]|\$\{[^}]*\}|\$\((?:[^()]|\([^)]*\))*\)|\$\w+)*)")""")
"""What follows `echo` in a script: single quotes, or double quotes with variables and commands in them."""
VALUE = re.compile(r"\$\{[^}]*\}|\$\((?:[^()]|\([^)]*\))*\)|\$\w+")


def printed() -> list[tuple[str, str]]:
    """Script -> each line that its check prints, with a word in the place of what is only known on a host."""
    found = []
    for file in sorted(SCRIPTS.parent.glob("*/*.verify.sh")):
        for one in PRINTED.finditer(file.read_text("utf-8")):
            whole = one[0].removeprefix("echo ")[1:-1]
            found.append((file.name, VALUE.sub("1.2", whole)))
    return found


def test_every_line_that_a_check_prints_is_known() -> None:
    lines = printed()
    assert len(lines) > 40
    assert [one for one in lines if check_said(one[1]).sentence == "{words}"] == []
    assert [one for one in lines if not re.search("[一-鿿]", render(check_said(one[1]), "zh"))] == []
    assert [one for one in lines if render(check_said(one[1]), "en") != one[1]] == [], "English stays as it was printed"


def test_nothing_is_kept_that_no_check_prints() -> None:
    said = {check_said(line).sentence for _, line in printed()} | {"{good} of {all} packages as wished"}
    assert [one.sentence for one in SENTENCES if one.sentence not in said] == []


@pytest.mark.parametrize(
    ("line", "zh"),
    [
        ("Driver: none, wanted 25.5.1", "驱动：无，需要 25.5.1"),
        (
            "CANN toolkit in /usr/local/Ascend: none, wanted 9.1.0",
            "/usr/local/Ascend 中的 CANN toolkit：无，需要 9.1.0",
        ),
        ("0 of 3 packages as wished", "3 个软件包中有 0 个符合要求"),
        ("Traceback (most recent call last):", "Traceback (most recent call last):"),
        ("", ""),
    ],
)
def test_a_line_is_told_in_chinese(line: str, zh: str) -> None:
    assert render(check_said(line), "zh") == zh
