"""Say which torch file pip would take, and how large it is, without downloading it (exit code 1: none).

The environment holds one known version of pip, so its own finder can be asked. `pip install --dry-run` is no answer:
it downloads the whole wheel when the index serves no metadata beside it.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any


def main(version: str, options: list[str]) -> int:
    command: Any = importlib.import_module("pip._internal.commands").create_command("install")
    specifiers: Any = importlib.import_module("pip._vendor.packaging.specifiers")
    parsed, _ = command.parse_args(["--quiet", "--quiet", "--only-binary", ":all:", *options])
    with command.main_context():
        session = command.get_default_session(parsed)
        finder = command._build_package_finder(options=parsed, session=session)
        best = finder.find_best_candidate("torch", specifiers.SpecifierSet(f"=={version}")).best_candidate
        if best is None:
            return 1
        print(json.dumps({"file": best.link.filename, "bytes": size(best.link, session), "from": place(best.link)}))
    return 0


def size(link: Any, session: Any) -> int | None:
    """Bytes of the file, None when the server does not say."""
    if link.is_file:
        return Path(link.file_path).stat().st_size
    answer = session.head(link.url_without_fragment, allow_redirects=True, headers={"Accept-Encoding": "identity"})
    length = answer.headers.get("Content-Length") if answer.ok else None
    return int(length) if length else None


def place(link: Any) -> str:
    """The server or folder, without a password that may stand in the address."""
    return str(Path(link.file_path).parent) if link.is_file else str(link.netloc).rpartition("@")[2]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
