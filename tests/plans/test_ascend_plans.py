"""The plans for hosts with NPUs: their lists, their shell, and that nothing a person typed is ever run."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.errors import InvalidInput
from console.plans import ascend_docker, ascend_removal, ascend_venv
from console.plans.ascend import SCRIPTS, AsRoot, Options, Source, file_of, version_in
from console.plans.ascend_pins import lock, pins
from console.plans.refusals import Route
from console.plans.resolve import Stack
from console.plans.step import Step
from console.plans.target import Target
from tests.plans.resolving import KNOWN, on, target

BARE = target(driver=None)
HEALTHY = target(driver="25.5.1", firmware="7.8.0.6.201")
PROOF = ["list", "torch", "triton", "dependencies", "vllm", "plugin", "level-packages", "level-torch", "level-plugin",
         "level-server"]  # fmt: skip
HERE = Options("/data/a b")
ODD = " ;&|<>()[]{}*?!#~=%^,.@-_aZ9é汉字"


SEEN: dict[str, Stack] = {}


def best(host: Target, route: Route) -> Stack:
    """The best stable stack; resolving takes its time, so it is done once for each host."""
    asked = f"{host} {route}"
    if asked not in SEEN:
        SEEN[asked] = next(one for one in on(route, **vars(host)).stacks if one.release.stable)
    return SEEN[asked]


def venv(host: Target, options: Options = HERE) -> list[Step]:
    return ascend_venv.plan(host, best(host, Route.VENV), options, KNOWN)


def docker(host: Target, options: Options = HERE) -> list[Step]:
    return ascend_docker.plan(host, best(host, Route.DOCKER), options, KNOWN)


def names(steps: list[Step]) -> list[str]:
    return [one.name for one in steps]


def every(options: Options = HERE) -> Iterator[Step]:
    """Each step of each plan, from a bare host."""
    yield from venv(BARE, options)
    yield from docker(BARE, options)[-4:]
    yield from ascend_removal.plan(BARE, best(BARE, Route.VENV), options, KNOWN, with_driver=True)


def test_a_bare_host_gets_driver_before_firmware_and_one_restart() -> None:
    assert names(venv(BARE)) == [
        "packages", "system", "user", "headers", "driver", "firmware", "restart", "level-driver", "toolkit", "ops",
        "nnal", "venv", *PROOF,
    ]  # fmt: skip
    assert names(docker(BARE)) == [
        "packages", "system", "user", "headers", "driver", "firmware", "restart", "level-driver", "engine", "image",
        "devices", "level-container",
    ]  # fmt: skip


def test_an_upgrade_begins_with_the_firmware() -> None:
    host = target(driver="24.1.rc2", firmware="7.3.0.1.231")
    stack = next(one for one in on(Route.VENV, **vars(host)).stacks if one.driver.state == "upgrade")
    steps = names(ascend_venv.plan(host, stack, Options("/data"), KNOWN))
    assert steps[steps.index("headers") + 1 :][:3] == ["firmware", "driver", "restart"]


def test_a_healthy_host_keeps_its_driver() -> None:
    assert names(venv(HEALTHY)) == ["packages", "system", "restart", "level-driver", "toolkit", "ops", "nnal", "venv",
                                    *PROOF]  # fmt: skip


def test_a_driver_without_firmware_gets_that_too() -> None:
    assert "firmware" in names(venv(target(driver="25.5.1", firmware=None)))


def test_names_of_operators_follow_the_release() -> None:
    old = ascend_venv.plan(
        HEALTHY, next(s for s in on(Route.VENV).stacks if s.variant.cann < "8.5"), Options("/d"), KNOWN
    )
    assert "file=Ascend-cann-kernels-910b_8.3" in next(one for one in old if one.name == "ops").script
    new = next(one for one in venv(HEALTHY) if one.name == "ops")
    assert "file=Ascend-cann-910b-ops_9.1.0_linux-aarch64.run" in new.script


def test_what_is_removed_is_the_last_first_and_the_driver_only_if_wished() -> None:
    stack = best(HEALTHY, Route.VENV)
    kept = ascend_removal.plan(HEALTHY, stack, Options("/d"), KNOWN)
    assert names(kept) == ["remove-venv", "remove-image", "remove-nnal", "remove-ops", "remove-toolkit"]
    all_of_it = ascend_removal.plan(HEALTHY, stack, Options("/d"), KNOWN, with_driver=True)
    assert names(all_of_it)[0] == "cards-free"
    assert names(all_of_it)[1:6] == names(kept)
    assert names(all_of_it)[6:] == ["remove-firmware", "remove-driver", "restart-after"]


def test_without_root_cann_goes_below_the_home() -> None:
    steps = {one.name: one.script for one in venv(HEALTHY, Options("/d", "pilot", AsRoot.NONE))}
    assert "\nprefix=''\n" in steps["toolkit"]
    assert "prefix=${prefix:-$HOME/Ascend}" in steps["toolkit"]


def test_nothing_unpinned_is_taken_from_an_index() -> None:
    host = target(arch="x86_64", driver="25.5.1")
    assert not lock(best(host, Route.VENV), "x86_64")
    with pytest.raises(InvalidInput, match="not pinned"):
        ascend_venv.plan(host, best(host, Route.VENV), Options("/d", source=Source.INDEX), KNOWN)


def test_from_indexes_vllm_is_built_for_no_device() -> None:
    host = target(driver="25.5.1", firmware="7.8.0.6.201")
    steps = ascend_venv.plan(host, best(host, Route.VENV), Options("/d", source=Source.INDEX), KNOWN)
    scripts = {one.name: one.script for one in steps}
    assert "\nvllm==0.23.0\n" in scripts["list"]
    assert "from_source=yes" in scripts["vllm"]
    assert "from_source=''" in scripts["torch"]


def test_a_stack_names_what_its_list_must_hold() -> None:
    listed = pins(best(HEALTHY, Route.VENV), "aarch64").splitlines()
    assert {"vllm==0.23.0", "vllm-ascend==0.23.0", "torch-npu==2.10.0.post4", "triton-ascend==3.2.2"} <= set(listed)


@pytest.mark.parametrize("name", ["Ascend-cann-toolkit_9.1.0_linux-aarch64.run", "x_9.1.0.run"])
def test_the_version_stands_in_the_name(name: str) -> None:
    assert version_in(name) == "9.1.0"
    assert version_in("") == file_of(best(HEALTHY, Route.VENV), "driver") == ""


@pytest.mark.parametrize("as_root", list(AsRoot))
def test_every_script_is_shell(as_root: AsRoot) -> None:
    for one in every(Options("/data/it is", "pilot", as_root)):
        assert one.expected_s < one.timeout_s
        for text in (one.script, one.verify):
            for shell in ("sh", "bash"):
                checked = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True, check=False)
                assert (checked.returncode, checked.stderr) == (0, ""), one.name


def test_every_script_can_be_verified_and_belongs_to_a_step() -> None:
    stems = {path.name for path in SCRIPTS.glob("*.sh")}
    shared = {"common.sh", "answering.sh", "archive_words.sh", "cann_words.sh", "cards_seen.sh", "engine_words.sh",
              "system_names.sh", "with_env.sh"}  # fmt: skip
    assert [name for name in stems - shared if f"{name.split('.')[0]}.verify.sh" not in stems] == []
    assert all(one.script and one.verify for one in every())


def test_a_step_survives_the_database() -> None:
    steps = list(every())
    assert any(one.rollback for one in steps)
    assert [Step.from_json(json.loads(json.dumps(one.to_json()))) for one in steps] == steps


def without_values(script: str) -> str:
    """The script behind the assignments it begins with."""
    return script[script.index("# Shared by every step") :]


CONSTANT = {(one.name, part): without_values(getattr(one, part)) for one in every() for part in ("script", "verify")}


@settings(max_examples=25)
@given(
    st.text(st.sampled_from(ODD), max_size=20),
    st.text(st.characters(min_codepoint=32, exclude_categories=["Cs"]), max_size=30),
)
def test_what_is_typed_stands_in_quoted_values_only(folder: str, packages: str) -> None:
    try:
        options = Options(f"/pilot/{folder}", packages=f"/{packages}$(touch evil)`touch evil`;touch evil'\"")
    except InvalidInput:
        return
    for one in every(options):
        for part in ("script", "verify"):
            assert without_values(getattr(one, part)) == CONSTANT[one.name, part]


@settings(max_examples=40)
@given(st.text(st.characters(min_codepoint=32, exclude_categories=["Cs"]), max_size=40))
def test_nothing_typed_is_executed(tmp_path_factory: pytest.TempPathFactory, typed: str) -> None:
    folder = tmp_path_factory.mktemp("typed")
    words = f"/{typed}'$(touch evil)`touch evil`;touch evil\""
    try:
        options = Options("/pilot", packages=words)
    except InvalidInput:
        return
    script = next(iter(every(options))).script
    values = script[: script.index("# Shared by every step")]
    shown = subprocess.run(["sh"], input=f"{values}printf %s \"$packages\"", cwd=folder, capture_output=True, text=True,
                           check=False)  # fmt: skip
    assert (shown.stdout, shown.stderr) == (words, "")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("folder", ["pilot", "~/x", "/a:b", "/a'b", '/a"b', "/a$(x)", "/a`x`", "/a\\b", "/a\nb", ""])
def test_work_folders_that_are_refused(folder: str) -> None:
    with pytest.raises(InvalidInput):
        Options(folder)


@pytest.mark.parametrize("packages", ["here", "/a\nb", "/a\x00b", "/a\tb"])
def test_package_folders_that_are_refused(packages: str) -> None:
    with pytest.raises(InvalidInput):
        Options("/pilot", packages=packages)


@pytest.mark.parametrize("login", ["", "a b", "$(x)", "a\nb", "-x", "a;b"])
def test_logins_that_are_refused(login: str) -> None:
    with pytest.raises(InvalidInput):
        Options("/pilot", login)


def pinned(tmp_path: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["python3", SCRIPTS / "pinned.py", *words], capture_output=True, text=True, check=False)


def test_the_wheels_of_a_folder_are_the_list(tmp_path: Path) -> None:
    for name in ("vllm-0.23.0+empty-py3-none-any.whl", "torch_npu-2.10.0.post4-cp311-cp311-any.whl"):
        (tmp_path / name).touch()
    done = pinned(tmp_path, "list", str(tmp_path), "", "vllm==0.23.0\ntorch-npu==2.10.0.post4")
    assert (done.returncode, done.stdout) == (0, "torch-npu==2.10.0.post4\nvllm==0.23.0+empty\n")
    done = pinned(tmp_path, "list", str(tmp_path), "", "vllm==0.18.0\nnumpy==1.0")
    assert done.returncode == 1
    assert "vllm: the stack needs 0.18.0, here is 0.23.0+empty" in done.stderr
    assert "numpy: the stack needs 1.0, here is none" in done.stderr
    (tmp_path / "vllm-0.18.0-py3-none-any.whl").touch()
    assert "several versions" in pinned(tmp_path, "list", str(tmp_path), "", "").stderr
    assert "no wheels" in pinned(tmp_path, "list", str(tmp_path / "none"), "", "").stderr


def test_groups_part_the_list(tmp_path: Path) -> None:
    file = tmp_path / "pinned.txt"
    file.write_text("numpy==2.0\ntorch==2.10.0\ntorch-npu==2.10.0.post4\nvllm==0.23.0\n")
    assert pinned(tmp_path, "part", str(file), "torch torch-npu").stdout.split() == [
        "torch==2.10.0",
        "torch-npu==2.10.0.post4",
    ]
    assert pinned(tmp_path, "part", str(file), "-torch torch-npu vllm").stdout.split() == ["numpy==2.0"]


def common(body: str) -> str:
    step = venv(HEALTHY)[0].script
    return step[: step.index("# Everything is looked at")] + body


@pytest.mark.parametrize(
    ("seen", "wanted", "fits"),
    [
        ("25.5.1", "25.5.1", True), ("25.5.2", "25.5.1", True), ("25.0.rc1.1", "25.5.1", False), ("", "25.5.1", False),
        ("26.0.RC1", "26.0.rc1", True), ("26.0.1", "26.0.RC1", True), ("26.0.RC1", "26.0.1", False),
        ("9.1.0", "8.5", True), ("8.3.RC2", "8.5", False), ("25.10.0", "25.9.0", True),
    ],
)  # fmt: skip
def test_versions_in_the_shell(seen: str, wanted: str, fits: bool) -> None:
    words = ["sh", "-c", common(f"at_least '{seen}' '{wanted}'")]
    done = subprocess.run(
        words, env={"PATH": "/usr/bin:/bin", "HOME": "/"}, capture_output=True, text=True, check=False
    )
    assert (done.returncode == 0) is fits, done.stderr


def test_no_script_ends_in_a_place_for_a_value() -> None:
    assert not [one.name for one in every() if re.search(r"\{[a-z_]+\}", str(one.title))]
