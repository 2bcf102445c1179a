"""Where CANN lies on a host and how its user gets at Docker, with programs on PATH that say what real ones say."""

import shlex
from pathlib import Path

import pytest

from console.errors import InvalidInput
from console.hosts import inventory
from console.serving import place
from console.serving.backends import Site
from console.serving.command import command, shell
from tests.jobs.conftest import data
from tests.serving.test_ascend_backends import npus

__all__ = ["data"]
DOWN = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
NEWER_DOWN = "failed to connect to the docker API at unix:///var/run/docker.sock; check if the daemon is running"
DENIED = "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock"
NO_SUDO = "sudo: a password is required"
NO_ENV = "sudo: sorry, you are not allowed to preserve the environment"
IMAGE = "quay.io/ascend/vllm-ascend:v0.23.0.post1"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs that stands first on PATH, and a home of its own."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path / "a home"))
    return folder


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def docker(folder: Path, *, says: str = "", root: str = "", images: str = IMAGE, key: bool = True) -> None:
    """`says` and `root` are what it answers to the user and by sudo; "" = it works. `key`: sudo hands on variables."""
    answer = f'[ "$1 $2" != "image inspect" ] || [ "$3" = {shlex.quote(images)} ]'
    refuse = "[ -z {0} ] || {{ echo {0} >&2; exit 1; }}"
    as_root = refuse.format(shlex.quote(root))
    program(
        folder, "docker", f'if [ -n "$BY_SUDO" ]; then {as_root}; else {refuse.format(shlex.quote(says))}; fi\n{answer}'
    )
    kept = "" if key else f"case $2 in --preserve*) echo {shlex.quote(NO_ENV)} >&2; exit 1 ;; esac\n"
    program(folder, "sudo", f'{kept}while [ "${{1#-}}" != "$1" ]; do shift; done\nBY_SUDO=1 exec "$@"')


def found(**changes: object) -> Site:
    return place.site(inventory.this_machine(), npus(backend="ascend_docker", **changes))


def test_docker_is_used_as_the_user_itself_where_that_works(data: Path, programs: Path) -> None:
    docker(programs)
    assert found() == Site()


def test_docker_is_used_by_sudo_where_only_that_works(data: Path, programs: Path) -> None:
    docker(programs, says=DENIED)
    around = found(api_key=True)
    assert around == Site(root=("sudo", "-n"))
    made = command(npus(backend="ascend_docker", api_key=True), "/r", around)
    assert made.argv[:5] == ("sudo", "-n", "--preserve-env=VLLM_API_KEY", "docker", "run")
    assert "\n  --preserve-env=VLLM_API_KEY docker run \\\n" in shell(made)
    plain = command(npus(backend="ascend_docker"), "/r", around)
    assert plain.argv[:4] == ("sudo", "-n", "docker", "run")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"says": DOWN}, "its daemon does not run. Start it there with: sudo systemctl start docker"),
        ({"says": NEWER_DOWN}, "its daemon does not run"),
        ({"says": DENIED, "root": DOWN}, "its daemon does not run"),
        ({"says": DENIED, "root": NO_SUDO}, "a password is required. Add root to the group docker"),
        ({"says": DENIED, "key": False}, "not allowed to preserve the environment"),
        ({"images": "another:1"}, f"The image {IMAGE} is not on "),
        ({"says": DENIED, "images": "another:1"}, f"The image {IMAGE} is not on "),
    ],
)
def test_what_keeps_a_container_from_starting_is_said_before(
    changes: dict[str, object], words: str, data: Path, programs: Path
) -> None:
    docker(programs, **changes)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput) as refused:
        found(api_key=True)
    assert words in str(refused.value)


def test_a_host_without_docker_is_told_so(data: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sh", "sed", "cat", "setsid", "base64", "timeout"):
        (programs / name).symlink_to(f"/usr/bin/{name}" if Path(f"/usr/bin/{name}").exists() else f"/bin/{name}")
    monkeypatch.setenv("PATH", str(programs))
    with pytest.raises(InvalidInput, match="There is no Docker on"):
        found()


def cann(folder: Path, *, older: bool = False, nnal: bool = True) -> Path:
    """An environment script of each part, which says where it lies."""
    parts = {"CANN_AT": "ascend-toolkit" if older else "cann", **({"NNAL_AT": "nnal/atb"} if nnal else {})}
    for variable, name in parts.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "set_env.sh").write_text(f"export {variable}={shlex.quote(str(folder))}\n")
    return folder


@pytest.mark.parametrize("older", [False, True])
def test_cann_in_the_home_of_the_user_is_found_and_loaded(
    older: bool, data: Path, programs: Path, tmp_path: Path
) -> None:
    there = cann(tmp_path / "a home" / "Ascend", older=older)
    around = place.site(inventory.this_machine(), npus())
    assert around == Site(cann=str(there))
    runtime = tmp_path / "runtime"
    (runtime / "bin").mkdir(parents=True)
    program(runtime / "bin", "vllm", 'echo "$CANN_AT|$NNAL_AT|$1"')
    outcome = inventory.runner(inventory.this_machine()).run(shell(command(npus(), str(runtime), around)))
    assert outcome.out == f"{there}|{there}|serve\n"


def test_cann_without_nnal_and_no_cann_are_refused(data: Path, programs: Path, tmp_path: Path) -> None:
    host = inventory.this_machine()
    with pytest.raises(InvalidInput, match=r"CANN was not found on .* in /usr/local/Ascend, .*/a home/Ascend\."):
        place.site(host, npus())
    cann(tmp_path / "a home" / "Ascend", nnal=False)
    with pytest.raises(InvalidInput, match=r"NNAL is not beside it"):
        place.site(host, npus())
