# -*- coding: utf-8 -*-
"""Start the console: `python3 scripts/run.py` installs what it needs into .venv and runs it (see --help).

This file stays readable for every Python back to 2.7, so that an old one gets a sentence instead of a syntax error.
"""

from __future__ import unicode_literals

import os
import platform
import subprocess
import sys

OLDEST, NEWEST = (3, 11), (3, 14)
ASKED = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    if OLDEST <= sys.version_info[:2] <= NEWEST and platform.python_implementation() == "CPython":
        sys.path.insert(0, here)
        import launch

        return launch.main(sys.argv[1:])
    other = another_python()
    if other:
        sys.stdout.flush()
        os.execv(other, [other, os.path.join(here, "run.py")] + sys.argv[1:])
    complain()
    return 1


def another_python():
    """A Python on PATH that can make the environment, newest first; None if there is none."""
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        for folder in os.environ.get("PATH", "").split(os.pathsep):
            program = os.path.join(folder, "python3.%d" % minor)
            if os.access(program, os.X_OK) and answers(program, "3.%d" % minor):
                return program
    return None


def answers(program, version):
    """True if `program` really is Python `version` with venv and ensurepip (a pyenv shim may be neither)."""
    with open(os.devnull, "w") as nowhere:
        try:
            said = subprocess.Popen([program, "-c", ASKED], stdout=subprocess.PIPE, stderr=nowhere).communicate()[0]
        except OSError:
            return False
    return said.decode("ascii", "replace").strip() == version


def complain():
    values = {
        "name": platform.python_implementation(),
        "found": platform.python_version(),
        "path": sys.executable,
        "oldest": "%d.%d" % OLDEST,
        "newest": "%d.%d" % NEWEST,
    }
    english = (
        "The console needs CPython %(oldest)s to %(newest)s. This is %(name)s %(found)s (%(path)s), and no suitable "
        "python3.x with its venv module is on PATH.\n"
        "Install one and start again, for example:\n"
        "  openEuler 24.03 and newer   sudo dnf install python3\n"
        "  Ubuntu 24.04, Debian 12     sudo apt-get install python3 python3-venv\n"
        "  Ubuntu 22.04                sudo apt-get install python3.11 python3.11-venv\n"
        "Elsewhere conda or a Python built from source will do: put its bin folder on PATH."
    )
    chinese = (
        "控制台需要 CPython %(oldest)s 到 %(newest)s。当前是 %(name)s %(found)s（%(path)s），"
        "PATH 中也没有带 venv 模块的可用 python3.x。\n"
        "请安装后重新启动，例如：\n"
        "  openEuler 24.03 及更新版本   sudo dnf install python3\n"
        "  Ubuntu 24.04、Debian 12      sudo apt-get install python3 python3-venv\n"
        "  Ubuntu 22.04                 sudo apt-get install python3.11 python3.11-venv\n"
        "其他系统可以使用 conda 或自行编译的 Python，只需把它的 bin 目录加入 PATH。"
    )
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    sentence = (chinese if locale.lower().startswith("zh") else english) % values
    stream = getattr(sys.stderr, "buffer", sys.stderr)
    stream.write(sentence.encode("utf-8") + b"\n")


if __name__ == "__main__":
    sys.exit(main())
