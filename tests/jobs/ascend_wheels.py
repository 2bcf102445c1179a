"""Packages for a rehearsal host: installers that behave, and tiny real wheels under the names of the engine's parts."""

import hashlib
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

from tests.running import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "fake"))
import make_package  # type: ignore[import-not-found]

TORCH = """
import glob, os, types
__version__ = "2.10.0"
def _there():
    return bool(os.environ.get("ASCEND_HOME_PATH") and os.environ.get("ATB_HOME_PATH"))
npu = types.SimpleNamespace(
    is_available=_there, device_count=lambda: len(glob.glob("/dev/davinci[0-9]*")) if _there() else 0
)
"""
SERVER = """
import http.server, json, signal, sys
__version__ = "0.23.0"
class Surface(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"data": [{"id": "tiny"}]}).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
def main():
    import torch
    if not torch.npu.is_available():
        sys.exit("RuntimeError: Failed to infer device type")
    json.load(open(sys.argv[2] + "/config.json"))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    print("INFO Platform plugin ascend is activated", flush=True)
    port = int(sys.argv[sys.argv.index("--port") + 1])
    http.server.HTTPServer(("127.0.0.1", port), Surface).serve_forever()
"""
WHEELS: Mapping[str, tuple[str, str]] = {
    "torch": ("2.10.0", TORCH),
    "torch_npu": ("2.10.0.post4", ""),
    "torchvision": ("0.25.0", ""),
    "torchaudio": ("2.10.0", ""),
    "triton_ascend": ("3.2.2", ""),
    "transformers": ("5.5.4", ""),
    "arctic_inference": ("0.1.1", ""),
    "vllm": ("0.23.0+empty", SERVER),
    "vllm_ascend": ("0.23.0", ""),
    "pandas": ("2.3.3", ""),
}
RUNS = (
    ("driver", "25.5.1", {}),
    ("firmware", "7.8.0.6.201", {"bundle": "25.5.1"}),
    ("toolkit", "9.1.0", {}),
    ("ops", "9.1.0", {}),
    ("nnal", "9.1.0", {}),
)


def wheel(folder: Path, name: str, version: str, code: str) -> Path:
    """A wheel that real pip installs: one module, and for vllm its program."""
    about = f"{name}-{version}.dist-info"
    files = {
        f"{name}/__init__.py": code,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if name == "vllm":
        files[f"{about}/entry_points.txt"] = "[console_scripts]\nvllm = vllm:main\n"
    files[f"{about}/RECORD"] = "".join(f"{one},,\n" for one in [*files, f"{about}/RECORD"])
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for one, text in files.items():
            packed.writestr(one, text)
    return path


def packages(folder: Path, *, chip: str = "910b") -> Path:
    """A folder as a bundle leaves it on a host: installers, and wheels below `wheels`."""
    (folder / "wheels").mkdir(parents=True)
    for kind, version, more in RUNS:
        make_package.write(kind, version, chip, folder, size_mb=0.01, **more)
    for name, (version, code) in WHEELS.items():
        wheel(folder / "wheels", name, version, code)
    return folder


def damage(package: Path) -> None:
    """One byte of the payload is another."""
    content = package.read_bytes()
    package.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert hashlib.sha256(package.read_bytes()).digest() != hashlib.sha256(content).digest()
