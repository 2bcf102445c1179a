"""Forget packages whose installation broke off, so that the installer does not take them for finished ones.

An installer that ends properly names its INSTALLER file in RECORD; a full disk or a kill leaves a folder without it.
"""

import shutil
import sysconfig
from pathlib import Path

for info in sorted(Path(sysconfig.get_path("purelib")).glob("*.dist-info")):
    record = info / "RECORD"
    if not record.is_file() or "INSTALLER" not in record.read_text("utf-8", "replace"):
        print(f"Removing what is left of an installation that broke off: {info.name}")
        shutil.rmtree(info)
