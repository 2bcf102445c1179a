"""Exit code 0 when the model folder was made by this recipe and every file has the size it was written with."""

import json
import sys
from pathlib import Path

folder, recipe = Path(sys.argv[1]), json.loads(sys.argv[2])
try:
    mark = json.loads((folder / "pilot-model.json").read_text("utf-8"))
except (OSError, ValueError):
    sys.exit(f"There is no finished model at {folder}")
if {**mark, "files": None} != {**recipe, "files": None}:
    sys.exit(f"{folder} was made by another recipe")
for name, size in mark["files"].items():
    if not (folder / name).is_file() or (folder / name).stat().st_size != size:
        sys.exit(f"{folder / name} is missing or was changed")
