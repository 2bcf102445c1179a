"""What a runbook prints is read back to the letter, through what terminals do to it; damage is told and never used."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.errors import InvalidInput
from console.plans.results import Result, cksum, problem, results
from console.plans.runbook import runbook, token
from console.plans.step import Step
from console.text import verbatim

STEPS = [
    Step("one", verbatim("One"), "echo 你好; echo done"),
    Step("two", verbatim("Two"), "exit 9", verify="true"),
    Step("three", verbatim("It's three"), "printf 'a\\tb  c \\033[31mred\\033[0m é\\n' >&2; exit 7"),
    Step("four", verbatim("Four"), "echo never"),
]


def printed(tmp_path: Path, steps: list[Step] = STEPS, host: str = "node 1", **more: str) -> str:
    (tmp_path / "run it.sh").write_text(runbook(steps, host))
    done = subprocess.run(
        ["sh", "run it.sh"], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path), **more},
    )  # fmt: skip
    return done.stdout


def test_each_step_that_was_reached_is_told(tmp_path: Path) -> None:
    out = printed(tmp_path)
    found = results(out)
    assert [(one.number, one.name, one.state, one.code) for one in found] == [
        (1, "one", "ok", 0),
        (2, "two", "satisfied", 0),
        (3, "three", "failed", 7),
    ]
    assert {(one.token, one.count, one.host) for one in found} == {(token("node 1", STEPS), 4, "node 1")}
    assert found[0].machine
    assert "red é" in found[2].log
    assert "\033" not in found[2].log
    file = tmp_path / f"pilot-results-{token('node 1', STEPS)}.txt"
    assert results(file.read_text()) == found


def test_the_file_keeps_what_was_done_over_several_runs(tmp_path: Path) -> None:
    steps = [Step("one", verbatim("One"), f"touch '{tmp_path}/made'", verify=f"test -e '{tmp_path}/made'"), *STEPS[:1]]
    printed(tmp_path, steps)
    printed(tmp_path, steps)
    file = tmp_path / f"pilot-results-{token('node 1', steps)}.txt"
    assert [one.state for one in results(file.read_text())] == ["ok", "ok"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\n".join(f"  {line}   " for line in text.split("\n")),
        lambda text: text.replace("\t", "        "),
        lambda text: f"root@node:~# sh install.sh\n{text}\nroot@node:~# ",
        lambda text: text + text,
    ],
    ids=["crlf", "indented", "tabs", "prompts", "twice"],
)
def test_what_terminals_do_to_it_does_no_harm(tmp_path: Path, damage: Callable[[str], str]) -> None:
    out = printed(tmp_path)
    assert [one.state for one in results(damage(out))] == [one.state for one in results(out)]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: "", "no result of a runbook"),
        (lambda text: "hello\nworld", "no result of a runbook"),
        (lambda text: text[: text.rindex("pilot-end")], "step 3 is cut"),
        (lambda text: text[text.index("step one") :], "in the middle of the text"),
        (lambda text: text.replace("state failed", "state ok"), "step 3 was changed"),
        (lambda text: text.replace("code 0", "code O", 1), "step 1 was changed"),
        (lambda text: text.replace("3/4", "4/4"), "step 4 was changed"),
        (lambda text: re.sub(r"pilot-end (\d+)", r"pilot-end 12", text, count=1), "step 1 was changed"),
        (lambda text: text.replace("pilot-end ", "pilot-end", 1), "step 1 is cut"),
        (lambda text: text.replace("pilot-result ", "pilot-result: ", 1).replace("pilot-result: ", "pilot-result  "),
         "in the middle"),
    ],
)  # fmt: skip
def test_damage_is_told_and_nothing_is_used(tmp_path: Path, damage: Callable[[str], str], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        results(damage(printed(tmp_path)))


def test_results_of_two_runbooks_are_not_mixed(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="2 different runbooks"):
        results(printed(tmp_path) + printed(tmp_path, host="node 2"))


def test_a_question_is_told(tmp_path: Path) -> None:
    steps = [Step("ask", verbatim("Ask"), "echo 'Restart?' >ask; exit 75"), Step("two", verbatim("Two"), "true")]
    (one,) = results(printed(tmp_path, steps))
    assert (one.state, one.code) == ("asks", 75)
    assert "Restart?" in one.log


def test_another_plan_is_told() -> None:
    one = Result("a" * 12, 1, 2, "one", "ok", 0, 1, "h", "m")
    assert problem([one], "a" * 12, ["one", "two"]) is None
    assert problem([one], "b" * 12, ["one", "two"]) is not None
    assert problem([one], "a" * 12, ["one"]) is not None
    assert "not one" in str(problem([one], "a" * 12, ["two", "one"]))


@given(st.text(max_size=300))
def test_the_sum_is_that_of_cksum(text: str) -> None:
    kept = bytes(byte for byte in text.encode() if 0x21 <= byte <= 0x7E)
    told = subprocess.run(["cksum"], input=kept, capture_output=True, check=True).stdout.split()[0]
    assert cksum([text]) == int(told)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        results(f"{text}\npilot-result 0123456789ab 1/2\nstep one\n")
