"""An environment of its own with exactly the packages of one lock file, made once and repaired when incomplete."""

import fcntl
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pip_words
import run
from tell import Stop, either

MIB = 1024 * 1024
WHEELS_BYTES = 200 * MIB
"""pip keeps the packed wheels in TMPDIR until they are installed; measured 147 MiB for the console."""
OLDEST_GLIBC = (2, 28)
"""numpy and pyarrow publish no wheels for an older one."""
MACHINES = ("x86_64", "aarch64")
STAMP = "complete"


@dataclass(frozen=True)
class Environment:
    """`folder` holds what `lock` lists; `needs` is its size in bytes; `imports` are tried before it counts as done."""

    folder: Path
    lock: Path
    needs: int
    imports: str

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def stamp(self) -> str:
        """Changes with the lock, the processor and the Python below; a moved checkout keeps it."""
        digest = hashlib.sha256(self.lock.read_bytes()).hexdigest()
        return f"{digest} {platform.machine()} {os.path.realpath(self.python)}\n"

    def complete(self) -> bool:
        """True if an install for this very lock ran to its end, and its Python still exists."""
        try:
            return self.python.exists() and (self.folder / STAMP).read_text() == self.stamp()
        except OSError:
            return False


@dataclass
class Progress:
    """A line per phase with the seconds since the start; on a terminal also one line that moves."""

    started: float = field(default_factory=time.monotonic)

    def line(self, words: str) -> None:
        print(f"{self._clear()}[{time.monotonic() - self.started:6.1f} s] {words}", flush=True)

    def passing(self, words: str) -> None:
        if sys.stdout.isatty():
            room = shutil.get_terminal_size().columns - 12
            print(f"{self._clear()}[{time.monotonic() - self.started:6.1f} s] {words[:room]}", end="", flush=True)

    @staticmethod
    def _clear() -> str:
        return "\r\033[K" if sys.stdout.isatty() else ""


def make(environment: Environment, wheels: Path | None, progress: Progress) -> None:
    """Bring `environment` to completeness. Raises Stop with what to do when that cannot be."""
    _refuse_other_machines()
    with _alone(environment.folder, progress) as lock_file:
        if environment.complete():
            return
        progress.line(
            either(
                f"Making {environment.folder.name} (once; later starts need no network)",
                f"正在创建 {environment.folder.name}（仅此一次，以后启动无需网络）",
            )
        )
        shutil.rmtree(environment.folder, ignore_errors=True)
        _refuse_small_disk(environment)
        _bare(environment, lock_file)
        _install(environment, wheels, progress, lock_file)
        progress.line(either("Trying the packages", "正在检查软件包"))
        _try(environment)
        (environment.folder / STAMP).write_text(environment.stamp())
        progress.line(either("Installed", "安装完成"))


@contextmanager
def _alone(folder: Path, progress: Progress) -> Iterator[IO[str]]:
    """One install at a time. pip inherits the lock, so one that outlives its killed parent still holds it."""
    path = folder.with_name(folder.name + ".lock")
    try:
        file = path.open("a")
    except OSError as error:
        raise Stop(
            either(
                f"The folder {folder.parent} cannot be written ({error.strerror}). Start as the user it belongs to, "
                "or copy it to a place of your own.",
                f"目录 {folder.parent} 不可写（{error.strerror}）。请以其所有者身份启动，或复制到您自己的目录。",
            )
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.line(either("Another start is installing; waiting for it", "另一个启动过程正在安装，等待其完成"))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def _refuse_other_machines() -> None:
    library, version = platform.libc_ver()
    if platform.system() != "Linux" or platform.machine() not in MACHINES:
        raise Stop(
            either(
                f"The console runs on Linux on x86_64 or aarch64; this is {platform.system()} on "
                f"{platform.machine()}. Install it on a Linux machine and open it through ssh -L.",
                f"控制台运行在 x86_64 或 aarch64 的 Linux 上；本机是 {platform.machine()} 的 {platform.system()}。"
                "请安装到 Linux 机器上，再通过 ssh -L 打开。",
            )
        )
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if library != "glibc" or numbers < OLDEST_GLIBC:
        raise Stop(
            either(
                f"The packages need glibc 2.28 or newer; this system has {library or 'another C library'} "
                f"{version}. openEuler 20.03, Ubuntu 20.04, Debian 10 and anything newer will do.",
                f"软件包需要 glibc 2.28 或更新版本；本系统是 {library or '其他 C 库'} {version}。"
                "openEuler 20.03、Ubuntu 20.04、Debian 10 及更新的系统均可。",
            )
        )


def _refuse_small_disk(environment: Environment) -> None:
    home, temporary = environment.folder.parent, Path(tempfile.gettempdir())
    wanted = {home: environment.needs}
    if home.stat().st_dev == temporary.stat().st_dev:
        wanted[home] += WHEELS_BYTES
    else:
        wanted[temporary] = WHEELS_BYTES
    for folder, needed in wanted.items():
        free = shutil.disk_usage(folder).free
        if free < needed:
            raise Stop(
                either(
                    f"The disk of {folder} has {free // MIB} MiB left; the install needs {needed // MIB} MiB there. "
                    "Make room and start again (TMPDIR chooses the folder for temporary files).",
                    f"{folder} 所在磁盘剩余 {free // MIB} MiB；安装在此需要 {needed // MIB} MiB。"
                    "请清理空间后重新启动（TMPDIR 可指定临时文件目录）。",
                )
            )


def _bare(environment: Environment, lock_file: IO[str]) -> None:
    made = subprocess.run(
        [_maker(), "-I", "-m", "venv", environment.folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        pass_fds=[lock_file.fileno()],
    )
    if made.returncode:
        cause = "" if "ensurepip" in made.stdout else made.stdout
        raise Stop(pip_words.explain(cause, lock="", wheels="") if cause.strip() else _no_ensurepip())


def _maker() -> str:
    """This Python, or another on PATH if a distribution split venv or ensurepip from this one."""
    if all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")):
        return sys.executable
    other = run.another_python()
    if other is None:
        raise Stop(_no_ensurepip())
    return str(other)


def _no_ensurepip() -> str:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return either(
        f"This Python ({sys.executable}, {version}) came without its modules venv and ensurepip, which make the "
        "console's environment. Install them and start again:\n"
        f"  Debian, Ubuntu   sudo apt-get install python{version}-venv\n"
        "  openEuler        sudo dnf install python3 python3-pip",
        f"当前 Python（{sys.executable}，{version}）缺少创建控制台环境所需的 venv 和 ensurepip 模块。"
        "请安装后重新启动：\n"
        f"  Debian、Ubuntu   sudo apt-get install python{version}-venv\n"
        "  openEuler        sudo dnf install python3 python3-pip",
    )


def _install(environment: Environment, wheels: Path | None, progress: Progress, lock_file: IO[str]) -> None:
    """pip with the user's own configuration and mirrors; for -I, packages on PYTHONPATH do not count as installed."""
    command = [environment.python, "-I", "-m", "pip", "install", "--require-hashes", "--no-deps", "--no-user"]
    command += ["--only-binary", ":all:", "--no-compile", "--no-input", "--progress-bar", "off"]
    command += ["--disable-pip-version-check", "-r", environment.lock]
    if wheels:
        command += ["--no-index", "--find-links", wheels]
    total = len(set(re.findall(r"^([\w.-]+)==", environment.lock.read_text(), re.MULTILINE)))
    log = environment.folder / "install.log"
    pip = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=[lock_file.fileno()],
    )
    with pip, log.open("w") as kept:
        assert pip.stdout is not None
        for line in _shown(pip.stdout, total, progress):
            kept.write(line)
    if pip.returncode:
        words = pip_words.explain(log.read_text(), lock=environment.lock.name, wheels=str(wheels or ""))
        raise Stop(words + "\n" + either(f"All that pip said is in {log}.", f"pip 的全部输出见 {log}。"))


def _shown(lines: IO[str], total: int, progress: Progress) -> Iterator[str]:
    """Passes pip's lines on and tells the reader how far it is."""
    collected, warned = 0, False
    for line in lines:
        yield line
        if line.startswith(("Collecting ", "Processing ")):
            collected += 1
            name = re.split(r"==|-\d", Path(line.split()[1]).name)[0]
            progress.passing(
                either(f"Fetching {collected} of {total}: {name}", f"正在获取 {collected}/{total}：{name}")
            )
        elif line.startswith("Installing collected"):
            progress.line(either(f"{collected} packages fetched; unpacking", f"已获取 {collected} 个软件包；正在解包"))
        elif "Retrying (Retry" in line and not warned:
            warned = True
            progress.line(
                either(
                    "The package index does not answer; pip tries again a few times",
                    "软件包索引没有应答；pip 会再重试几次",
                )
            )


def _try(environment: Environment) -> None:
    """Importing also compiles, once, what every start needs."""
    tried = subprocess.run(
        [environment.python, "-I", "-W", "ignore", "-c", f"import {environment.imports}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if tried.returncode:
        last = tried.stdout.strip().splitlines()[-1:] or [str(tried.returncode)]
        raise Stop(
            either(
                f"The packages were installed but do not run here: {last[0]}",
                f"软件包已安装，但在本机无法运行：{last[0]}",
            )
        )
