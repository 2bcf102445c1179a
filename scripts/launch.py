"""From a fresh checkout to a running console: environment, port, then the console itself in this process's place."""

import argparse
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from port_owner import Owner, console_for, owner_of
from tell import Stop, either
from venv_folder import MIB, Environment, Progress, make

ROOT = Path(__file__).resolve().parent.parent
ADDRESS, PORT = "127.0.0.1", 8501
CONSOLE = Environment(
    folder=ROOT / ".venv",
    lock=ROOT / "requirements.lock.txt",
    needs=650 * MIB,
    imports="streamlit.web.bootstrap, starlette, uvicorn, sqlalchemy.orm, plotly.graph_objects, paramiko, httpx, "
    "prometheus_client.parser, rich.table, babel.messages.pofile, yaml",
)
LAUNCHER = """\
#!/bin/sh
# Written by scripts/run.py: runs the console of the checkout around this folder, wherever it is called from.
bin=$(dirname -- "$(readlink -f -- "$0")")
exec "$bin/python" -P -c 'import runpy, sys
sys.path.insert(0, sys.argv.pop(1))
runpy.run_module("console", run_name="__main__", alter_sys=True)' "$bin/../.." "$@"
"""
WRONG_INPUT, INTERRUPTED = 2, 130


def main(arguments: list[str]) -> int:
    """Returns only when the console does not start; otherwise this process becomes it."""
    try:
        chosen = _chosen(arguments)
        _take_port(chosen)
        if not CONSOLE.complete():
            make(CONSOLE, chosen.wheels, Progress())
            _take_port(chosen)
        _write_launcher()
        _become(chosen)
    except Stop as stop:
        print(f"{_on_new_line()}{stop}", file=sys.stderr)
        return 1
    except _Running as running:
        print(running)
        return 0
    except KeyboardInterrupt:
        stopped = either("Stopped. The next start goes on from here.", "已停止。下次启动会继续。")
        print(_on_new_line() + stopped, file=sys.stderr)
        return INTERRUPTED


class _Running(Exception):
    """This console runs there already; its words are the link."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(either(f"run.py: {message} (see --help)", f"run.py：{message}（见 --help）"), file=sys.stderr)
        sys.exit(WRONG_INPUT)

    def format_help(self) -> str:
        return either(_HELP, _HELP_ZH)


def _chosen(arguments: list[str]) -> argparse.Namespace:
    parser = _Parser(prog="run.py", allow_abbrev=False)
    parser.add_argument("--port", type=_port, default=PORT)
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--data", type=_absolute)
    parser.add_argument("--wheels", type=_absolute)
    chosen = parser.parse_args(arguments)
    if chosen.wheels and not chosen.wheels.is_dir():
        parser.error(either(f"there is no folder {chosen.wheels}", f"目录 {chosen.wheels} 不存在"))
    return chosen


def _absolute(words: str) -> Path:
    return Path(words).expanduser().absolute()


def _port(words: str) -> int:
    if words.isdecimal() and 1 <= int(words) <= 65535:
        return int(words)
    raise argparse.ArgumentTypeError(either(f"{words} is not a port (1 to 65535)", f"{words} 不是端口号（1 到 65535）"))


def _take_port(chosen: argparse.Namespace) -> None:
    """Raises Stop, or _Running, unless the port is free; asked as the web server will ask."""
    owner = console_for(chosen.port)
    if _free(chosen.port) and not owner.pid:
        return
    owner = owner if owner.pid else owner_of(chosen.port)
    if owner.is_console() and Path(owner.folder) == ROOT:
        raise _Running(_shown_again(chosen.port, owner))
    spare = next((port for port in range(chosen.port + 1, min(chosen.port + 50, 65536)) if _free(port)), 0)
    raise Stop(
        either(
            f"Port {chosen.port} is taken by {_named(owner)}. End that program, or start on another port: "
            f"scripts/run.py --port {spare}",
            f"端口 {chosen.port} 已被{_named(owner)}占用。请结束该程序，或换一个端口启动："
            f"scripts/run.py --port {spare}",
        )
    )


def _free(port: int) -> bool:
    with socket.socket() as place:
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            place.bind((ADDRESS, port))
        except PermissionError as error:
            raise Stop(
                either(
                    f"Port {port} may be used by root only. Choose one from 1024 up, for example --port {PORT}.",
                    f"端口 {port} 只有 root 可用。请选择 1024 及以上的端口，例如 --port {PORT}。",
                )
            ) from error
        except OSError:
            return False
    return True


def _named(owner: Owner) -> str:
    if not owner.pid:
        return either("a process of another user (root can see which)", "其他用户的进程（root 可查看）")
    if owner.is_console():
        return either(
            f"another copy of this console, in {owner.folder} (process {owner.pid})",
            f"另一份控制台（{owner.folder}，进程 {owner.pid}）",
        )
    command = " ".join(owner.command)[:80]
    return either(f"process {owner.pid} ({command})", f"进程 {owner.pid}（{command}）")


def _shown_again(port: int, owner: Owner) -> str:
    """The link of the console that runs, as its own `doctor` tells it."""
    command = [CONSOLE.python, "-m", "console", "doctor", "--json", "--port", str(port)]
    command += ["--data", owner.data] if owner.data else []
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    links = re.findall(rf"http://{re.escape(ADDRESS)}:{port}/[^\s\"\\]*", told.stdout)
    if not links:
        return either(
            f"The console runs already (process {owner.pid}), at port {port}. Its link, with the start "
            "token, is in the terminal where it was started.",
            f"控制台已在运行（进程 {owner.pid}），端口 {port}。带启动令牌的链接见启动它的终端。",
        )
    return either(
        f"The console runs already (process {owner.pid}): {links[0]}", f"控制台已在运行（进程 {owner.pid}）：{links[0]}"
    )


def _write_launcher() -> None:
    """`.venv/bin/pilot`; a read-only checkout goes without."""
    path = CONSOLE.folder / "bin" / "pilot"
    try:
        if not path.exists() or path.read_text() != LAUNCHER:
            path.write_text(LAUNCHER)
            path.chmod(0o755)
    except OSError as error:
        words = either(f"{path} could not be written: {error.strerror}", f"无法写入 {path}：{error.strerror}")
        print(words, file=sys.stderr)


def _become(chosen: argparse.Namespace) -> NoReturn:
    words = [str(CONSOLE.python), "-m", "console", "up", "--port", str(chosen.port)]
    words += ["--no-browser"] if chosen.no_browser else []
    words += ["--data", str(chosen.data)] if chosen.data else []
    sys.stdout.flush()
    os.chdir(ROOT)
    os.execv(words[0], words)


def _on_new_line() -> str:
    return "\n" if sys.stdout.isatty() else ""


_HELP = f"""\
Start the Ascend pilot console. The first start installs its packages into .venv (about 150 MB to fetch); later starts
need no network. It listens on {ADDRESS} only; the link it prints carries a start token.

  python3 scripts/run.py [--port N] [--no-browser] [--data FOLDER] [--wheels FOLDER]

  --port N          port of the web pages (default {PORT})
  --no-browser      do not open a browser
  --data FOLDER     where the console keeps its data (default $PILOT_DATA, else ~/.local/share/ascend-pilot)
  --wheels FOLDER   install from this folder of wheels, for rooms without a network
  --help            show this help

pip's own configuration counts: mirrors (PIP_INDEX_URL or pip.conf), proxies, certificates.
"""
_HELP_ZH = f"""\
启动昇腾试点控制台。首次启动会把软件包安装到 .venv（约需下载 150 MB），以后启动无需网络。
控制台只监听 {ADDRESS}；它打印的链接带有启动令牌。

  python3 scripts/run.py [--port 端口] [--no-browser] [--data 目录] [--wheels 目录]

  --port 端口       网页端口（默认 {PORT}）
  --no-browser      不打开浏览器
  --data 目录       控制台数据存放位置（默认 $PILOT_DATA，否则 ~/.local/share/ascend-pilot）
  --wheels 目录     从该目录中的 wheel 安装，用于没有网络的机房
  --help            显示本帮助

pip 自身的配置有效：镜像（PIP_INDEX_URL 或 pip.conf）、代理、证书。
"""
