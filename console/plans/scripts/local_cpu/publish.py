"""Write pilot-model.json into a finished model folder and give the folder its final name."""

import json
import shutil
import sys
from pathlib import Path

part, target = Path(sys.argv[1]), Path(sys.argv[2])
recipe = json.loads(sys.argv[3])
if target.exists() and not (target / "pilot-model.json").is_file():
    sys.exit(f"{target} exists already and was not made by this console. Move it away, then run this job again.")
for file in part.iterdir():
    file.chmod(0o644)  # safetensors writes files only their owner can read
sizes = {file.name: file.stat().st_size for file in sorted(part.iterdir()) if file.is_file()}
(part / "pilot-model.json").write_text(json.dumps({**recipe, "files": sizes}, indent=1, ensure_ascii=False), "utf-8")
if target.exists():
    shutil.rmtree(target)
part.rename(target)
print(f"{target}: {sum(sizes.values()) / 1e6:.0f} MB in {len(sizes)} files")
