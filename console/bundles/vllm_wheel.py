"""vLLM built for no device: a wheel without a compiled part, from the source archive, for every architecture at once.

vLLM's own build asks PyTorch only which accelerator there is. For the device "empty" the answer does not matter, so a
stand-in of three lines takes its place, and the several hundred MB of PyTorch are not fetched for a build.
"""

import base64
import csv
import hashlib
import io
import shlex
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from console.errors import HostError, InvalidInput
from console.hosts.local import LocalRunner
from console.text import say, verbatim

TOOLS = ("setuptools>=77.0.3,<81", "setuptools-scm>=8", "setuptools-rust>=1.9", "wheel", "packaging>=24.2", "jinja2")
"""What the build itself asks for, in the bounds of vLLM 0.23.0 (pyproject.toml of its source archive)."""
BUILD_S = 1800
COMPILED = (".so", ".pyd", ".dylib", ".a", ".o")
_PURE = "py3-none-any"
_BUILD = r"""
set -e
cd "$work"
mkdir source tools stand_in stand_in/torch stand_in/torch/utils wheels
tar -xzf "$archive" -C source --strip-components 1
printf 'class version:\n    hip = xpu = cuda = None\n' >stand_in/torch/__init__.py
: >stand_in/torch/utils/__init__.py
printf 'CUDA_HOME = ROCM_HOME = None\n' >stand_in/torch/utils/cpp_extension.py
for one in "$python" python3; do
  if "$one" -m pip --version >/dev/null 2>&1; then pip=$one; break; fi
done
[ -n "${pip-}" ] || { echo 'No Python with pip was found.' >&2; exit 1; }
eval "$pip -m pip install -q --target tools $options $tools"
cd source
export PYTHONPATH="$work/stand_in:$work/tools" VLLM_TARGET_DEVICE=empty SETUPTOOLS_SCM_PRETEND_VERSION="$version"
"$pip" -c 'import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])' "$work/wheels"
"""


def build(archive: Path, version: str, folder: Path, *, index: str = "", tools: Sequence[str] = TOOLS) -> Path:
    """The wheel in `folder`, made of the source archive of vLLM `version`. HostError when the build fails;
    InvalidInput when what came out has a compiled part."""
    with tempfile.TemporaryDirectory(prefix="pilot-vllm-") as work:
        values = {
            "work": work,
            "archive": str(archive.resolve()),
            "version": version,
            "python": sys.executable,
            "options": f"--index-url {shlex.quote(index)}" if index else "",
            "tools": shlex.join(tools),
        }
        words = "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items())
        outcome = LocalRunner().run(words + _BUILD, timeout_s=BUILD_S)
        made = sorted(Path(work, "wheels").glob("*.whl")) if Path(work, "wheels").is_dir() else []
        if outcome.code != 0 or len(made) != 1:
            raise HostError(
                say(
                    "vLLM {version} could not be built for no device: {error}",
                    version=version,
                    error="\n".join((outcome.err.strip() or outcome.out.strip()).splitlines()[-5:]),
                )
            )
        return for_every_machine(made[0], folder)


def for_every_machine(wheel: Path, folder: Path) -> Path:
    """The same wheel in `folder`, tagged py3-none-any. Its name is given only when it is whole."""
    with zipfile.ZipFile(wheel) as packed:
        names = [one.filename for one in packed.infolist() if not one.is_dir()]
        if compiled := [one for one in names if one.endswith(COMPILED)]:
            raise InvalidInput(
                say(
                    "{wheel} has a compiled part ({files}), so it fits only machines like this one.",
                    wheel=wheel.name,
                    files=verbatim(", ".join(compiled[:3])),
                )
            )
        name, version = wheel.name.split("-")[:2]
        target = folder / f"{name}-{version}-{_PURE}.whl"
        part = target.with_name(f"{target.name}.part")
        folder.mkdir(parents=True, exist_ok=True)
        _repack(packed, names, part)
    part.replace(target)
    return target


def _repack(packed: zipfile.ZipFile, names: Sequence[str], part: Path) -> None:
    record = next(one for one in names if one.endswith(".dist-info/RECORD"))
    described = record.removesuffix("RECORD") + "WHEEL"
    tagged = _tagged(packed.read(described).decode())
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as taken:
        for one in names:
            content = packed.read(one)
            if one == described:
                content = tagged.encode()
            elif one == record:
                content = _recorded(content.decode(), described, tagged.encode())
            taken.writestr(packed.getinfo(one), content, zipfile.ZIP_DEFLATED)


def _tagged(words: str) -> str:
    kept = [line for line in words.splitlines() if line and not line.startswith(("Tag:", "Root-Is-Purelib:"))]
    return "\n".join([*kept, "Root-Is-Purelib: true", f"Tag: {_PURE}", ""])


def _recorded(words: str, name: str, content: bytes) -> bytes:
    """RECORD with the new hash and size of one file."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    rows = [[name, f"sha256={digest}", str(len(content))] if row[0] == name else row
            for row in csv.reader(io.StringIO(words)) if row]  # fmt: skip
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue().encode()
