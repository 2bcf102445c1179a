"""The plan as one shell script: it does what the console would, and stops where it would."""

import json
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from console.plans import local_cpu
from console.plans.ascend import QUESTION
from console.plans.local_cpu import NOT_THE_CPU_BUILD, SCRIPTS
from console.plans.results import results
from console.plans.runbook import runbook
from console.plans.step import Step
from console.text import render, say, verbatim

SHELLS = ["sh", "bash"]


def step(name: str, script: str = "", verify: str = "", action: str = "") -> Step:
    return Step(name, verbatim(f"It's “{name}” $(touch evil) `touch evil` \\ \n second line"), script, verify, action)


def run(tmp_path: Path, steps: Sequence[Step], shell: str = "sh", **changes: str) -> subprocess.CompletedProcess[str]:
    folder = tmp_path / "scratch 文件夹"
    (folder / "tmp dir").mkdir(parents=True, exist_ok=True)
    (folder / "install.sh").write_text(runbook(steps))
    variables = {"PATH": "/usr/bin:/bin", "TMPDIR": str(folder / "tmp dir"), **changes}
    return subprocess.run(
        [shell, "install.sh"], cwd=folder, env=variables, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_real_plan_is_a_script_a_shell_can_read(tmp_path: Path, shell: str) -> None:
    plan = local_cpu.plan(local_cpu.LocalCpuTarget("/data/数据", machine="x86_64"))
    path = tmp_path / "install.sh"
    path.write_text(runbook(plan))
    assert subprocess.run([shell, "-n", str(path)], capture_output=True, check=False).stderr == b""
    assert re.findall(r"^step (\d+) ", path.read_text(), re.MULTILINE) == [
        str(number) for number in range(1, len(plan) + 1)
    ]
    for one in plan:
        assert one.script.rstrip() in path.read_text()


@pytest.mark.parametrize("shell", SHELLS)
def test_steps_run_in_order_and_leave_nothing_behind(tmp_path: Path, trace: Path, shell: str) -> None:
    done = run(
        tmp_path,
        [
            step("one", f"echo 1 >> {trace}; echo $PWD"),
            step("two", f"echo 2 >> {trace}"),
            step("three", action="probe"),
        ],
        shell,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert trace.read_text() == "1\n2\n"
    assert not list(tmp_path.rglob("evil")), "a title is no command"
    assert list((tmp_path / "scratch 文件夹" / "tmp dir").iterdir()) == []


def test_what_is_there_already_is_not_run(tmp_path: Path, trace: Path) -> None:
    done = run(tmp_path, [step("one", f"echo 1 >> {trace}", verify="true"), step("two", f"echo 2 >> {trace}")])
    assert done.returncode == 0
    assert "already done" in done.stdout
    assert trace.read_text() == "2\n"


def test_the_check_of_one_step_is_not_that_of_the_next(tmp_path: Path, trace: Path) -> None:
    run(tmp_path, [step("one", "true", verify="true"), step("two", f"echo 2 >> {trace}")])
    assert trace.read_text() == "2\n"


def test_it_stops_at_the_first_failure_with_its_code(tmp_path: Path, trace: Path) -> None:
    done = run(tmp_path, [step("one", "echo why >&2; exit 7"), step("two", f"echo 2 >> {trace}")])
    assert done.returncode == 7
    assert "why" in done.stdout
    assert not trace.exists()


def test_it_stops_when_the_result_is_not_there(tmp_path: Path, trace: Path) -> None:
    done = run(tmp_path, [step("one", "true", verify="false"), step("two", f"echo 2 >> {trace}")])
    assert done.returncode == 1
    assert "its result is not there" in done.stderr
    assert not trace.exists()


def test_a_result_that_came_about_goes_on(tmp_path: Path, trace: Path) -> None:
    steps = [step("one", f"echo 1 >> {trace}", verify=f"test -s {trace}"), step("two", f"echo 2 >> {trace}")]
    assert run(tmp_path, steps).returncode == 0
    assert run(tmp_path, steps[:1]).returncode == 0
    assert trace.read_text() == "1\n2\n"


def test_a_question_ends_it_with_75_and_an_answer_goes_on(tmp_path: Path, trace: Path) -> None:
    script = '[ "${PILOT_ANSWER:-}" = yes ] || { echo "Take 3 GB?" > ask; exit 75; }\n' + f"echo taken >> {trace}"
    steps = [step("one", script), step("two", f"echo 2 >> {trace}")]
    done = run(tmp_path, steps)
    assert (done.returncode, trace.exists()) == (75, False)
    assert "Take 3 GB?" in done.stdout
    assert run(tmp_path, steps, PILOT_ANSWER="yes").returncode == 0
    assert trace.read_text() == "taken\n2\n"


def test_scripts_arrive_to_the_letter(tmp_path: Path, trace: Path) -> None:
    script = f"cat > {trace} <<'EOF'\n$HOME `date` \\n 'single' \"double\" 中文 {{braces}} %s\n\tEND_OF_STEP_2\nEOF"
    assert run(tmp_path, [step("one", script)]).returncode == 0
    assert trace.read_text() == "$HOME `date` \\n 'single' \"double\" 中文 {braces} %s\n\tEND_OF_STEP_2\n"


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40),
    st.sampled_from(
        ["", "$(touch evil)", "`touch evil`", "'; touch evil; '", '"; touch evil; "', "\ntouch evil\n", "%s\\"]
    ),
)
def test_no_name_of_a_host_or_step_is_ever_run(tmp_path: Path, around: str, bad: str) -> None:
    name = f"{around}{bad}{around}"
    file = tmp_path / "install.sh"
    file.write_bytes(runbook([Step("one", verbatim(name), "echo done")], name).encode())
    ended = subprocess.run(["sh", file.name], cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines().count(b"done") == 1
    assert {found.name for found in tmp_path.iterdir()} == {
        file.name,
        *(one.name for one in tmp_path.glob("pilot-*.txt")),
    }


def test_no_steps_do_nothing(tmp_path: Path) -> None:
    assert (run(tmp_path, []).returncode, run(tmp_path, []).stdout) == (0, "")


OFFER = json.dumps({"bytes": 3000000000, "file": 't"{file} 文件', "from": "here"}, ensure_ascii=False)
RESTART = json.dumps({"sentence": QUESTION.sentence, "values": {}})
ASKING = {
    "restart": f"question={shlex.quote(RESTART)}\nprintf '%s' \"$question\" >ask; exit 75",
    "torch": f"question={shlex.quote(NOT_THE_CPU_BUILD.sentence)}\n"
    f'python3 -c "$ask" {shlex.quote(OFFER)} "$question" cpu >ask; exit 75',
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", list(ASKING))
def test_what_a_step_asks_is_a_sentence_in_the_readers_language(tmp_path: Path, name: str, language: str) -> None:
    values = {"file": 't"{file} 文件', "size": "3000 MB", "place": "here", "cpu_index": "cpu"}
    asked = {"restart": QUESTION, "torch": say(NOT_THE_CPU_BUILD.sentence, **values)}[name]
    file = tmp_path / "install.sh"
    file.write_text(runbook([step("one", ASKING[name])], "node-1", language))
    variables = {"PATH": "/usr/bin:/bin", "ask": (SCRIPTS / "ask.py").read_text()}
    done = subprocess.run(["sh", file.name], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 75, done.stderr
    assert render(asked, language) in done.stdout.splitlines()
    assert '"sentence"' not in done.stdout
    assert "PILOT_ANSWER=yes" in done.stdout.splitlines()[-1]
    (told,) = results(done.stdout)
    assert told.log.strip() == render(asked, language), "the console shows it too once the results are pasted"


def test_all_that_is_ours_in_it_is_chinese_for_a_chinese_reader() -> None:
    """Lines of the scripts themselves are what a program prints, and stay."""
    plan = local_cpu.plan(local_cpu.LocalCpuTarget("/data", machine="x86_64"))
    text = runbook([*plan, Step("restart", say("Install the driver"), "true", rollback=say("Look")),
                    Step("look", say("Note what is installed now"), action="probe")], "node-1", "zh")  # fmt: skip
    ours = re.sub(r"<<'(END_OF_STEP_\d+)'\n.*?\n\1\n", "\n", text, flags=re.DOTALL).partition("\nset -u\n")
    comments = [line for line in (ours[0] + ours[2]).splitlines() if line.startswith("# ")]
    spoken = [line for line in ours[2].splitlines() if line.startswith(("told_", "step "))]
    assert len(comments) >= len(plan) + 6
    assert len(spoken) == len(plan) + 1 + 5
    assert [line for line in [*comments, *spoken] if not re.search("[一-鿿]", line)] == []
    for shell in SHELLS:
        assert subprocess.run([shell, "-n"], input=text, capture_output=True, text=True, check=False).stderr == ""
