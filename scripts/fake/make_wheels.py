"""Makes the wheels of a stack for a rehearsal host: real pip installs them, and they know simulated cards only.

    python scripts/fake/make_wheels.py FOLDER NAME==VERSION ...

Each is a small py3-none-any wheel of exactly that name and version. torch, torch-npu, vllm and vllm-ascend behave as
far as installing, proving and starting an engine need it; the others can only be imported. Elsewhere than on a
rehearsal host they refuse to be imported, and their summary says what they are.
"""

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

SUMMARY = "Stand-in of a rehearsal host for {name}: it computes nothing, and works on a rehearsal host only."
TAG = "py3-none-any"
BEGIN = '''\
"""{summary}"""

import os
import sys

__version__ = "{version}"
try:
    with open(os.environ.get("REHEARSAL_ROOT", "") + "/run/rehearsal/fake") as told:
        fake = told.read().strip()
except OSError:
    raise ImportError("{name} is simulated here. It works on a rehearsal host only.") from None
if fake not in sys.path:
    sys.path.append(fake)
'''
TORCH = """
if os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "1":
    from importlib.metadata import entry_points

    for found in entry_points(group="torch.backends"):
        try:
            found.load()()
        except Exception as error:
            raise RuntimeError(
                f"Failed to load the backend extension: {found.name}. You can disable extension auto-loading with "
                "TORCH_DEVICE_BACKEND_AUTOLOAD=0."
            ) from error
"""
TORCH_NPU = '''
import torch
from pretend import npu_python

npu_python.load_libraries()
torch.npu = npu = npu_python
sys.modules["torch.npu"] = sys.modules["torch_npu.npu"] = npu_python


def _autoload():
    """Loading this module was all."""
'''
VLLM_ASCEND = '''

def register():
    """The platform, for vLLM."""
    from pretend import npu_python

    npu_python.load_transformer_library()
    return "vllm_ascend.platform.NPUPlatform"
'''
VLLM = """
import torch

if hasattr(torch, "npu"):
    from importlib.metadata import entry_points

    for found in entry_points(group="vllm.platform_plugins"):
        found.load()()
"""
VLLM_MAIN = '''\
"""The command `vllm`."""

import sys
from importlib.metadata import PackageNotFoundError, version

from pretend import engine


def main():
    try:
        plugin = version("vllm-ascend")
    except PackageNotFoundError:
        plugin = ""
    sys.exit(engine.run(sys.argv[1:], vllm=version("vllm"), plugin=plugin))
'''
CODE = {"torch": TORCH, "torch-npu": TORCH_NPU, "vllm": VLLM, "vllm-ascend": VLLM_ASCEND}
MORE = {
    "vllm": {"vllm/entrypoints/__init__.py": "", "vllm/entrypoints/cli/__init__.py": "",
             "vllm/entrypoints/cli/main.py": VLLM_MAIN},
}  # fmt: skip
ENTRIES = {
    "torch-npu": "[torch.backends]\ntorch_npu = torch_npu:_autoload\n",
    "vllm": "[console_scripts]\nvllm = vllm.entrypoints.cli.main:main\n",
    "vllm-ascend": "[vllm.platform_plugins]\nascend = vllm_ascend:register\n",
}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def write(folder: Path, name: str, version: str) -> Path:
    """The wheel in `folder`; vLLM is built without code for a device, which its version says."""
    name = normal(name)
    if name == "vllm" and "+" not in version:
        version += "+empty"
    module, summary = name.replace("-", "_"), SUMMARY.format(name=name)
    about = f"{module}-{version}.dist-info"
    begin = BEGIN.format(summary=summary, version=version, name=name)
    files = {f"{module}/__init__.py": begin + CODE.get(name, ""), **MORE.get(name, {})}
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {summary}\n"
    files[f"{about}/METADATA"] = metadata
    files[f"{about}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: rehearsal\nRoot-Is-Purelib: true\nTag: {TAG}\n"
    if name in ENTRIES:
        files[f"{about}/entry_points.txt"] = ENTRIES[name]
    record = f"{about}/RECORD"
    files[record] = "".join(_recorded(path, text) for path, text in files.items()) + f"{record},,\n"
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{module}-{version}-{TAG}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, text in files.items():
            packed.writestr(path, text)
    return wheel


def _recorded(path: str, text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(text.encode())}\n"


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for pin in sys.argv[2:]:
        name, _, version = pin.partition("==")
        print(write(Path(sys.argv[1]), name, version))


if __name__ == "__main__":
    main()
