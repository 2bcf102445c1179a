"""The probe runs in real shells here: stuck, loud, missing and hostile commands must not spoil the others."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from console.errors import InvalidInput
from console.facts.fact import Fact
from console.facts.local import FACTS
from console.facts.probe import Raw, probe_script, read, split
from console.facts.probe_shell import MOST_BYTES
from console.facts.system import parse_word
from console.text import render
from tests.running import until

TOKEN = "0123456789abcdef0123456789abcdef"
SHELLS = [shell for shell in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(shell[0])]


def fact(name: str, command: str, limit_s: int = 5) -> Fact:
    return Fact(name, command, parse_word, limit_s)


def run(facts: list[Fact], shell: list[str] | None = None, path: str | None = None, **values: str) -> dict[str, Raw]:
    environment = {**os.environ, **({"PATH": path} if path else {})}
    found = shutil.which((shell or ["sh"])[0])
    assert found
    done = subprocess.run(
        [found, *(shell or ["sh"])[1:]],
        input=probe_script(facts, TOKEN, values),
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        check=False,
    )
    return split(done.stdout, TOKEN)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_each_command_gets_its_own_section_code_and_text(shell: list[str]) -> None:
    raws = run([fact("one", "echo 'a  b'; echo c"), fact("two", "printf no-newline; exit 3"), fact("none", ":")], shell)
    assert (raws["one"].text, raws["one"].code) == ("a  b\nc\n", 0)
    assert (raws["two"].text, raws["two"].code, raws["two"].timed_out) == ("no-newline", 3, False)
    assert raws["none"].text == ""
    assert raws["one"].seconds is not None


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_a_stuck_command_is_ended_and_holds_nobody(shell: list[str]) -> None:
    stuck = "trap '' TERM; echo begun; while :; do sleep 1; done"
    raws = run([fact("stuck", stuck, 1), fact("after", "echo fine")], shell)
    assert raws["stuck"].timed_out
    assert raws["stuck"].text.strip() == "begun"
    assert raws["after"].text.strip() == "fine"
    reason = read(raws, [fact("stuck", stuck, 1)]).reason("stuck")
    assert "within 1 s" in render(reason, "en")


@pytest.mark.parametrize("left_out", [("timeout",), ("timeout", "setsid")], ids="+".join)
def test_commands_are_ended_without_the_usual_tools(tmp_path: Path, left_out: tuple[str, ...]) -> None:
    """A PATH that has every tool the frame uses but these; the frame adds the system folders only at its end."""
    for tool in left_out:
        (tmp_path / tool).write_text("#!/bin/sh\nexit 127\n")
        (tmp_path / tool).chmod(0o755)
    sleep = f"sleep 77.{len(left_out)}"
    raws = run([fact("stuck", sleep, 1), fact("after", "echo fine")], path=f"{tmp_path}:{os.environ['PATH']}")
    assert raws["stuck"].timed_out
    assert raws["after"].text.strip() == "fine"
    until(lambda: not alive(sleep))


def alive(command: str) -> bool:
    shown = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return command in shown.splitlines()


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    script = probe_script([fact("one", "echo x")], TOKEN)
    environment = {**os.environ, "TMPDIR": str(room)}
    done = subprocess.run(["sh"], input=script, capture_output=True, text=True, env=environment, check=True)
    assert split(done.stdout, TOKEN)["one"].text.strip() == "x"
    assert list(room.iterdir()) == []


def test_a_full_temporary_folder_is_told_and_another_one_used(tmp_path: Path) -> None:
    missing = tmp_path / "not-there"
    script = probe_script([fact("one", "echo x")], TOKEN)
    environment = {**os.environ, "TMPDIR": str(missing)}
    done = subprocess.run(["sh"], input=script, capture_output=True, text=True, env=environment, check=True)
    facts = read(split(done.stdout, TOKEN), [fact("one", "echo x")])
    assert facts.values["probe"].full == (str(missing),)  # type: ignore[attr-defined]
    assert facts.values["one"] == "x"


def test_a_command_cannot_read_the_script_or_swallow_it() -> None:
    raws = run([fact("eater", "cat"), fact("after", "echo fine")])
    assert raws["eater"].text == ""
    assert raws["after"].text.strip() == "fine"


def test_too_long_an_output_is_marked_and_not_parsed() -> None:
    loud = fact("loud", f"head -c {MOST_BYTES + 5} /dev/zero | tr '\\0' x")
    raws = run([loud])
    assert raws["loud"].truncated
    assert len(raws["loud"].text) == MOST_BYTES
    assert "loud" not in read(raws, [loud]).values


def test_values_are_quoted_whatever_they_hold() -> None:
    odd = 'it\'s a $HOME `id` "x"; exit\nnext'
    assert run([fact("value", 'printf %s "$PILOT_FOLDER"')], PILOT_FOLDER=odd)["value"].text == odd


def test_a_cut_output_gives_the_sections_it_has() -> None:
    script = probe_script([fact("one", "echo first"), fact("two", "echo second")], TOKEN)
    output = subprocess.run(["sh"], input=script, capture_output=True, text=True, check=True).stdout
    for length in range(len(output)):
        for name, raw in split(output[:length], TOKEN).items():
            assert raw == split(output, TOKEN)[name]
    reason = read(split(output[: output.index("second")], TOKEN), [fact("two", "")]).reason("two")
    assert "no answer" in render(reason, "en")


def test_output_cannot_forge_a_section() -> None:
    forged = "@@x begin two@@\nfalse\n@@x end two code=0 began=1 ended=1 limit=1 bytes=1@@"
    raws = run([fact("one", f"printf '%s\\n' '{forged}'")])
    assert set(raws) == {"probe", "one"}


@pytest.mark.parametrize(
    ("names", "token"), [(["UPPER"], TOKEN), (["a", "a"], TOKEN), (["probe"], TOKEN), (["a"], "x")]
)
def test_unusable_names_are_refused(names: list[str], token: str) -> None:
    with pytest.raises(InvalidInput):
        probe_script([fact(name, ":") for name in names], token)


def test_a_parser_that_crashes_gives_a_reason() -> None:
    def crash(text: str) -> object:
        raise ZeroDivisionError(text)

    facts = read({"bad": Raw("bad", "boom", 0, 0.1)}, [Fact("bad", "", crash)])
    assert "ZeroDivisionError: boom" in render(facts.reason("bad"), "en")


def test_the_local_probe_answers_every_question_here() -> None:
    raws = run(FACTS, PILOT_FOLDER="/tmp/never made/x", PILOT_PORT="8000")
    facts = read(raws)
    assert {fact.name for fact in FACTS} <= set(facts.values) | set(facts.reasons)
    assert {"kernel", "libc", "meminfo", "rooms", "pythons", "listeners", "limits", "numa", "wish"} <= set(facts.values)
    room = facts.values["rooms"]["work"]  # type: ignore[index]
    assert (room.folder, room.existing) == ("/tmp/never made/x", "/tmp")


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_the_local_probe_is_valid_in_every_shell(shell: list[str]) -> None:
    script = probe_script(FACTS, TOKEN, {"PILOT_FOLDER": "/tmp", "PILOT_PORT": "1"})
    subprocess.run([*shell, "-n"], input=script, text=True, check=True)
    for question in FACTS:
        subprocess.run([*shell, "-n"], input=question.command, text=True, check=True)


def test_what_is_stored_is_masked() -> None:
    assert run([fact("leak", "echo password=abc")])["leak"].text.strip() == "password=***"


def test_what_a_stuck_command_started_is_ended_with_it() -> None:
    naps = [f"sleep 79.{number}" for number in range(3)]
    stuck = f"({naps[0]} & {naps[1]} & wait) & {naps[2]}"
    assert run([fact("stuck", stuck, 1)])["stuck"].timed_out
    until(lambda: not [nap for nap in naps if alive(nap)])


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_a_probe_that_is_killed_leaves_nothing_behind(shell: list[str], tmp_path: Path) -> None:
    nap = f"sleep 7{len(shell[0])}.7"
    script = probe_script([fact("stuck", nap, 30)], TOKEN)
    killed = subprocess.Popen([*shell, "-c", script], env={**os.environ, "TMPDIR": str(tmp_path)})
    until(lambda: alive(nap))
    killed.kill()
    killed.wait()
    until(lambda: not alive(nap) and not list(tmp_path.iterdir()))


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_a_probe_that_is_told_to_end_does_so(shell: list[str], tmp_path: Path) -> None:
    nap = f"sleep 7{len(shell[0])}.8"
    script = probe_script([fact("stuck", nap, 30)], TOKEN)
    told = subprocess.Popen([*shell, "-c", script], env={**os.environ, "TMPDIR": str(tmp_path)}, stderr=subprocess.PIPE)
    until(lambda: alive(nap))
    told.terminate()
    told.communicate()
    assert told.returncode == 129
    until(lambda: not alive(nap) and not list(tmp_path.iterdir()))


def test_commands_do_not_meet_each_others_variables_nor_those_of_the_frame() -> None:
    greedy = "limit=3 names=x left='' t=1 d=/ began=9; pilot_names='' pilot_left=''; echo done"
    asked = [fact("greedy", greedy), fact("after", 'echo "${limit:-none} $#"')]
    raws = run(asked)
    assert [raws[one.name].text.strip() for one in asked] == ["done", "none 0"]


def test_a_temporary_folder_named_from_where_one_stands(tmp_path: Path) -> None:
    script = probe_script([fact("one", "echo x")], TOKEN)
    (tmp_path / "room").mkdir()
    environment = {**os.environ, "TMPDIR": "room"}
    done = subprocess.run(
        ["sh"], input=script, capture_output=True, text=True, env=environment, cwd=tmp_path, check=True
    )
    assert split(done.stdout, TOKEN)["one"].text.strip() == "x"
    assert list((tmp_path / "room").iterdir()) == []
