"""A program named sudo that asks for its password as the real one does; who it is run by is not changed."""

import os
import sys
from pathlib import Path

SUDO = r"""#!{python} -IS
import os, subprocess, sys
words, ask, stdin, kill = sys.argv[1:], False, False, False
free = os.path.exists(os.path.join({folder!r}, "free"))
def attempt(given):
    with open(os.path.join({folder!r}, "tried"), "a") as file:
        file.write("right\n" if given == {password!r} else "wrong\n")
    return given == {password!r}
while words and words[0].startswith("-"):
    word = words.pop(0)
    if word == "--":
        break
    if word == "-p":
        words.pop(0)
    elif word == "-n" and not free:
        sys.exit("sudo: a password is required")
    ask, stdin = ask or word == "-A", stdin or word == "-S"
for again in range(3):
    if free:
        break
    if ask:
        given = subprocess.run([os.environ["SUDO_ASKPASS"], "Password:"], stdout=subprocess.PIPE).stdout.decode()
    elif stdin:
        given = b""
        while not given.endswith(b"\n") and (one := os.read(0, 1)):
            given += one
        given = given.decode()
    else:
        sys.exit("sudo: a terminal is required to read the password")
    if not given:
        sys.exit("sudo: no password was provided")
    if attempt(given.rstrip("\n")):
        break
    print("Sorry, try again.", file=sys.stderr)
else:
    sys.exit("sudo: 3 incorrect password attempts")
os.environ["PRETENDED_ROOT"] = "yes"
os.execvp(words[0], words)
"""


class PretendedSudo:
    """Stands first on PATH. `free` = it wants no password; `tried` is how each password fared."""

    def __init__(self, folder: Path, password: str) -> None:
        self.folder = folder
        folder.mkdir()
        self.wants(password)
        os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"

    def wants(self, password: str) -> None:
        """From now on this is the password."""
        program = self.folder / "sudo.new"
        program.write_text(SUDO.format(python=sys.executable, folder=str(self.folder), password=password))
        program.chmod(0o755)
        program.rename(self.folder / "sudo")

    def free(self) -> None:
        (self.folder / "free").touch()

    @property
    def tried(self) -> list[str]:
        tried = self.folder / "tried"
        return tried.read_text().split() if tried.exists() else []
