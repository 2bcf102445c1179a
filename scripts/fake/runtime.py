"""Makes a folder that looks like an installed vLLM runtime, whose `bin/vllm` is the pretended one.

    python scripts/fake/runtime.py FOLDER [MISFORTUNE ...]

The misfortunes stand in FOLDER/misfortunes, one line of words, read at each start: rewrite it between two attempts.
"""

import shlex
import sys
from pathlib import Path

SERVER = Path(__file__).resolve().parent / "vllm_server.py"


def make(folder: Path, misfortunes: str = "") -> Path:
    """`folder` with bin/vllm and bin/python in it."""
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    (folder / "misfortunes").write_text(misfortunes + "\n")
    python = shlex.quote(sys.executable)
    _program(folder / "bin" / "python", f'exec {python} "$@"\n')
    told = f'FAKE_VLLM="${{FAKE_VLLM:-$(cat {shlex.quote(str(folder / "misfortunes"))})}}"'
    _program(folder / "bin" / "vllm", f'{told}\nexport FAKE_VLLM\nexec {python} {shlex.quote(str(SERVER))} "$@"\n')
    return folder


def _program(path: Path, script: str) -> None:
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)


if __name__ == "__main__":
    print(make(Path(sys.argv[1]), shlex.join(sys.argv[2:])))
