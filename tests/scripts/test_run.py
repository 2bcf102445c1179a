"""Starting the console from a checkout: what the start does, and what it says when it cannot."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.running import free_port
from tests.scripts.checkout import Checkout, end, read_until, silent_index, wheel, without_ensurepip

NO_NETWORK = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple/", "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"}


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "check out 检出")


@pytest.fixture
def wheels(checkout: Checkout) -> Path:
    return checkout.stand_in()


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Installed once; a checkout may be copied and moved with its environment."""
    made = Checkout(tmp_path_factory.mktemp("pattern") / "checkout")
    code, said = made.told("--port", str(free_port()), "--wheels", made.stand_in(), STAND_IN_ENDS="0", **NO_NETWORK)
    assert code == 0, said
    return made


@pytest.fixture
def installed(pattern: Checkout, tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "check out 检出", like=pattern)


@pytest.fixture
def ending() -> Iterator[ExitStack]:
    """Ends the processes given to it, whatever the test came to."""
    with ExitStack() as stack:
        yield stack


@pytest.mark.e2e
def test_a_fresh_checkout_becomes_a_running_console_and_starts_again_without_network(
    checkout: Checkout, tmp_path: Path, ending: ExitStack
) -> None:
    port, data = str(free_port()), tmp_path / "data"
    ordinary = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    options = ("--no-browser", "--port", port, "--data", data)

    first = checkout.start(*options, **ordinary)
    ending.callback(stop_worker, checkout, data)
    ending.callback(end, first)
    said = read_until(first.stdout, f"http://127.0.0.1:{port}/")
    assert "Installed" in said
    again = checkout.told(*options, **NO_NETWORK)
    assert again[0] == 0, again[1]
    link = re.findall(r"http://\S+", again[1])[0]
    assert link in said
    end(first, signal.SIGTERM)

    second = checkout.start(*options, **NO_NETWORK)
    ending.callback(end, second)
    assert "Making" not in read_until(second.stdout, link)
    with httpx.Client(follow_redirects=True, trust_env=False, timeout=60) as browser:  # keeps the cookie of the gate
        assert browser.get(answering(link)).status_code == 200

    target = tmp_path / "site"
    pip = [
        checkout.venv / "bin" / "python",
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--target",
        target,
        checkout.folder,
    ]
    subprocess.run(pip, check=True)
    installed = {path.name.partition("-")[0] for path in target.iterdir()}
    assert installed == {"bin", "ascend_pilot_console"}
    assert list(target.glob("*.py")) == []


def answering(link: str) -> str:
    """The link, once its server takes connections."""
    port = int(re.findall(r":(\d+)/", link)[0])
    for _ in range(600):
        with socket.socket() as place:
            if place.connect_ex(("127.0.0.1", port)) == 0:
                return link
        subprocess.run(["sleep", "0.1"], check=True)
    raise AssertionError(f"nobody listens at {link}")


def stop_worker(checkout: Checkout, data: Path) -> None:
    command = [checkout.venv / "bin" / "pilot", "worker", "--stop", "--data", data]
    subprocess.run(command, cwd="/", check=True, stdout=subprocess.DEVNULL)


def test_the_first_start_installs_and_the_next_does_not(checkout: Checkout, wheels: Path) -> None:
    options = ("--no-browser", "--port", str(free_port()), "--data", "tmp/somewhere")
    code, said = checkout.told(*options, "--wheels", wheels, STAND_IN_ENDS="3", **NO_NETWORK)
    assert code == 3
    assert [words in said for words in ("Making .venv", "1 packages fetched", "Installed")] == [True] * 3
    again = checkout.told(*options, STAND_IN_ENDS="3", **NO_NETWORK)
    words = ["up", "--port", options[2], "--no-browser", "--data", "/tmp/somewhere"]
    assert again == (3, f"up {words} {checkout.folder}\n")


def test_another_lock_is_installed_anew(installed: Checkout) -> None:
    with (installed.folder / "requirements.lock.txt").open("a") as lock:
        lock.write(f"another==2.0 --hash=sha256:{'0' * 64}\n")
    wheels = installed.folder / "my wheels"
    code, said = installed.told("--port", str(free_port()), "--wheels", wheels, STAND_IN_ENDS="0", **NO_NETWORK)
    assert code == 1
    assert f"The folder {wheels} lacks another==2.0" in said


def test_the_pilot_command_works_from_anywhere_and_after_a_move(installed: Checkout, tmp_path: Path) -> None:
    moved = installed.folder.rename(tmp_path / "moved")
    (tmp_path / "pilot").symlink_to(moved / ".venv" / "bin" / "pilot")
    (tmp_path / "console.py").write_text("raise SystemExit('the wrong console')")
    assert subprocess.run([tmp_path / "pilot", "end", "7"], cwd=tmp_path, check=False).returncode == 7


def test_a_stopped_install_is_repaired(checkout: Checkout, wheels: Path, ending: ExitStack) -> None:
    port = str(free_port())
    with silent_index() as index:
        process = checkout.start("--port", port, **{**NO_NETWORK, "PIP_INDEX_URL": index})
        ending.callback(end, process)
        until_pip_runs(checkout)
        os.killpg(process.pid, signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Stopped. The next start goes on from here." in said
    assert "Traceback" not in said.partition("Stopped")[2]
    code, said = checkout.told("--port", port, "--wheels", wheels, STAND_IN_ENDS="0", **NO_NETWORK)
    assert code == 0
    assert "Installed" in said


def until_pip_runs(checkout: Checkout) -> None:
    log = checkout.venv / "install.log"
    for _ in range(600):
        if log.exists():
            return
        subprocess.run(["sleep", "0.1"], check=True)
    raise AssertionError("pip never started")


def test_two_starts_at_once_do_not_disturb_each_other_even_if_one_is_killed(
    checkout: Checkout, wheels: Path, ending: ExitStack
) -> None:
    with silent_index() as index:
        first = checkout.start("--port", str(free_port()), **{**NO_NETWORK, "PIP_INDEX_URL": index})
        ending.callback(end, first)
        until_pip_runs(checkout)
        second = checkout.start("--port", str(free_port()), "--wheels", wheels, STAND_IN_ENDS="0", **NO_NETWORK)
        ending.callback(end, second)
        read_until(second.stdout, "Another start is installing")
        # Its parent killed, pip goes on alone and must not be disturbed.
        first.kill()
        assert second.poll() is None
        end(first)
    said, _ = second.communicate(timeout=120)
    assert second.returncode == 0
    assert "Installed" in said


def test_a_taken_port_names_its_owner_and_a_free_one(checkout: Checkout) -> None:
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = place.getsockname()[1]
        code, said = checkout.told("--port", str(port))
    assert code == 1
    assert f"Port {port} is taken by process {os.getpid()} (" in said
    spare = int(re.findall(r"--port (\d+)", said)[0])
    assert spare > port
    assert not checkout.venv.exists()


def test_a_console_that_runs_already_shows_its_link_again(installed: Checkout, ending: ExitStack) -> None:
    port = str(free_port())
    running = installed.start("--port", port, **NO_NETWORK)
    ending.callback(end, running)
    read_until(running.stdout, "listening")
    code, said = installed.told("--port", port)
    assert code == 0
    assert said == f"The console runs already (process {running.pid}): http://127.0.0.1:{port}/?token=abc\n"


def test_a_console_of_another_checkout_is_named_as_such(installed: Checkout, tmp_path: Path, ending: ExitStack) -> None:
    port = str(free_port())
    running = installed.start("--port", port, **NO_NETWORK)
    ending.callback(end, running)
    read_until(running.stdout, "listening")
    code, said = Checkout(tmp_path / "other").told("--port", port)
    assert code == 1
    assert f"another copy of this console, in {installed.folder} (process {running.pid})" in said


def test_no_network_and_nothing_cached(checkout: Checkout, wheels: Path) -> None:
    code, said = checkout.told("--port", str(free_port()), **NO_NETWORK)
    assert code == 1
    assert "The package index does not answer; pip tries again" in said
    assert "No package index answered, and the packages are not cached on this machine." in said
    assert "Traceback" not in said


def test_packages_that_do_not_run_here(checkout: Checkout, wheels: Path) -> None:
    path = wheel(wheels, ["streamlit"])
    lock = checkout.folder / "requirements.lock.txt"
    pip = [sys.executable, "-m", "pip", "hash", path]
    digest = subprocess.run(pip, capture_output=True, text=True, check=True).stdout.split("--hash=")[1].strip()
    lock.write_text(f"stand-in==1.0 --hash={digest}\n")
    code, said = checkout.told("--port", str(free_port()), "--wheels", wheels, **NO_NETWORK)
    assert code == 1
    assert "do not run here: ModuleNotFoundError: No module named 'streamlit.web'" in said
    assert not (checkout.venv / "complete").exists()


def test_a_python_without_ensurepip(checkout: Checkout, wheels: Path, tmp_path: Path) -> None:
    python = without_ensurepip(tmp_path / "split")
    code, said = checkout.told("--port", str(free_port()), "--wheels", wheels, python=python, PATH="/nowhere")
    assert code == 1
    assert f"sudo apt-get install python{sys.version_info[0]}.{sys.version_info[1]}-venv" in said
    assert "openEuler" in said


@pytest.mark.needs_root
def test_a_disk_without_room(tmp_path: Path, ending: ExitStack) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", small], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.strip()}")
    ending.callback(subprocess.run, ["umount", small], check=True)
    checkout = Checkout(small / "checkout")
    code, said = checkout.told("--port", str(free_port()))
    assert code == 1
    assert re.search(r"The disk of \S+ has \d+ MiB left; the install needs \d+ MiB there", said)


@pytest.mark.parametrize(
    ("language", "words"), [("zh_CN.UTF-8", "启动昇腾试点控制台"), ("C.UTF-8", "Start the Ascend pilot")]
)
def test_help_speaks_the_language_of_the_terminal(checkout: Checkout, language: str, words: str) -> None:
    code, said = checkout.told("--help", LANG=language, PYTHONIOENCODING="utf-8")
    assert code == 0
    assert words in said


def test_chinese_is_not_printed_where_it_would_be_noise(checkout: Checkout) -> None:
    assert "Start the Ascend pilot" in checkout.told("--help", LANG="zh_CN.UTF-8", PYTHONIOENCODING="ascii")[1]


@pytest.mark.parametrize("words", [["--port", "0"], ["--port", "x"], ["--prot", "1"], ["--wheels", "/nowhere"]])
def test_wrong_options_change_nothing(checkout: Checkout, words: list[str]) -> None:
    code, said = checkout.told(*words)
    assert code == 2
    assert len(said.splitlines()) == 1
    assert not checkout.venv.exists()
