"""Resolve every stack that can be had from package indexes, for aarch64 and x86_64, and write the list it resolves to.

Needs `uv` and an index. vLLM counts as built for no device: its requirements/common.txt, read from its source archive,
stand for it. Packages that only the vendor's index has, or that are only source, are left out and pinned by hand
("emulated"); on x86_64 PyTorch comes from its own index, and what cannot be asked is "unreachable", never "fails".
The torch-npu of a stack wins over what the plugin declares, since everything is installed with --no-deps.
    python scripts/prove_stacks.py [--release 0.13.0] [--write]
With --write the complete lists go to console/catalog, as an installation and a bundle read them.
"""

import argparse
import datetime
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from packaging.utils import canonicalize_name, parse_wheel_filename  # noqa: E402

from console.bundles.fetch import Address, client, fetch  # noqa: E402
from console.bundles.index import Index, Wish, tags  # noqa: E402
from console.catalog.knowledge import Knowledge, known  # noqa: E402
from console.errors import ConsoleError  # noqa: E402
from console.plans import ascend_pins  # noqa: E402
from console.plans.refusals import Route  # noqa: E402
from console.plans.resolve import Stack, resolve  # noqa: E402
from console.plans.target import Target  # noqa: E402

CHIP, SYSTEM, ARCHS = "910B4", "ubuntu-22.04", ("aarch64", "x86_64")
SOURCE_ONLY = re.compile(r"Because ([\w.-]+)==(\S+) has no usable wheels")
UNREACHABLE = re.compile(r"failed to fetch|error sending request|dns|timed out|connect|403|401", re.IGNORECASE)


@dataclass(frozen=True)
class Verdict:
    """`verdict` as the catalog writes it; `lines` is the list, empty where it did not resolve."""

    release: str
    arch: str
    python: str
    verdict: str
    why: str
    lines: tuple[str, ...] = ()

    def plain(self) -> dict[str, object]:
        return {"release": self.release, "arch": self.arch, "python": self.python, "verdict": self.verdict,
                "packages": len(self.lines), "why": self.why, "date": datetime.date.today().isoformat()}  # fmt: skip


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--release", action="append", default=[], help="only this one; repeat it for more")
    asked.add_argument("--index", default="https://pypi.org/simple")
    asked.add_argument("--write", action="store_true", help="keep the lists that resolved")
    chosen = asked.parse_args()
    uv = shutil.which("uv") or sys.exit("uv was not found; install it first (pip install uv).")
    catalog, failed = known(), False
    for stack, arch in stacks(catalog, chosen.release):
        with tempfile.TemporaryDirectory() as folder:
            found = prove(uv, catalog, stack, arch, chosen.index, Path(folder))
        print(json.dumps(found.plain(), ensure_ascii=False), flush=True)
        failed |= found.verdict == "fails"
        if chosen.write and found.lines:
            keep(stack, arch, found)
    return int(failed)


def stacks(catalog: Knowledge, releases: list[str]) -> Iterator[tuple[Stack, str]]:
    """Every stack of the venv route, with each Python it may have."""
    for arch in ARCHS:
        for minor in (12, 11, 10):
            found = resolve(Target(CHIP, arch, SYSTEM, pythons=((3, minor),)), catalog, [Route.VENV])
            for one in found.stacks:
                if not releases or one.release.vllm_ascend in releases:
                    yield one, arch


def prove(uv: str, catalog: Knowledge, stack: Stack, arch: str, index: str, folder: Path) -> Verdict:
    """One run of the resolver, on wheels alone."""
    release, by_hand = stack.release, vendor_only(stack)
    name = (release.vllm_ascend, arch, stack.python)
    try:
        common = requirements(release.vllm, index, folder)
    except ConsoleError as error:
        return Verdict(*name, "unreachable", str(error))
    own = [line for line in ascend_pins.pins(stack, arch).splitlines() if not line.startswith("vllm==")]
    wanted = [common, *own, *ascend_pins.CANN_PYTHON, *ascend_pins.BENCH]
    (folder / "wanted.in").write_text("\n".join(wanted) + "\n", "utf-8")
    said = resolved(uv, catalog, stack, arch, index, by_hand, own, folder)
    while found := SOURCE_ONLY.search(said):
        if found[1] in by_hand:
            break
        by_hand[found[1]] = found[2]
        said = resolved(uv, catalog, stack, arch, index, by_hand, own, folder)
    if said:
        return Verdict(*name, "unreachable" if UNREACHABLE.search(said) else "fails", said[:400])
    locked = tomllib.loads((folder / "pylock.toml").read_text("utf-8"))["packages"]
    lines = [line for one in locked for line in listed(one, arch, stack.python)]
    emulated = [f"{each}=={version}" for each, version in by_hand.items()]
    why = f"pinned by hand: {', '.join(emulated)}" if emulated else "every package from the index"
    return Verdict(*name, "emulated" if emulated else "proved", why, (*lines, *emulated, f"vllm=={release.vllm}"))


def resolved(
    uv: str,
    catalog: Knowledge,
    stack: Stack,
    arch: str,
    index: str,
    by_hand: dict[str, str],
    own: list[str],
    folder: Path,
) -> str:
    """Empty and a pylock.toml in `folder`, or what the resolver said against it."""
    # for this one package alone: of any other, what depends on it would no longer be held to it
    kept = [line for line in own if line.startswith("torch-npu==") and "torch-npu" not in by_hand]
    over = [*(f'{each} ; sys_platform == "never"' for each in [*by_hand, "vllm"]), *kept]
    (folder / "over.txt").write_text("\n".join(over) + "\n", "utf-8")
    words = [uv, "pip", "compile", "wanted.in", "--override", "over.txt", "--only-binary", ":all:", "--quiet",
             "--format", "pylock.toml", "-o", "pylock.toml", "--default-index", index, "--index-strategy",
             "unsafe-best-match", "--python-version", stack.python, "--python-platform",
             f"{arch}-manylinux_2_34"]  # fmt: skip
    if arch == "x86_64" and (cpu := catalog.places["torch_cpu"].address):
        words += ["--index", cpu]
    run = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return " ".join(run.stderr.split()) if run.returncode != 0 else ""


def listed(package: dict[str, Any], arch: str, python: str) -> list[str]:
    """One package as pip writes it, with the hashes of the wheels that load on glibc 2.34."""
    accepted = set(tags(arch, python, "2.34"))
    fitting = [
        wheel["hashes"]["sha256"]
        for wheel in package.get("wheels", ())
        if accepted & set(parse_wheel_filename(unquote(wheel["url"].rsplit("/", 1)[-1]))[3])
    ]
    head = f"{package['name']}=={package['version']}"
    hashes = [f"    --hash=sha256:{one}" for one in sorted(fitting)]
    return [" \\\n".join([head, *hashes])]


def vendor_only(stack: Stack) -> dict[str, str]:
    """Packages that no public index has."""
    found = {}
    for one in stack.packages:
        if one.kind == "python" and one.place in ("vendor_index", "by_hand"):
            name, _, version = one.name.partition("==")
            found[canonicalize_name(name)] = version
    return found | (
        {"arctic-inference": stack.release.pins["arctic-inference"]} if "arctic-inference" in stack.release.pins else {}
    )


def requirements(vllm: str, index: str, folder: Path) -> str:
    """requirements/common.txt of a release of vLLM."""
    with client() as http:
        link = Index(http, [index]).source(Wish("vllm", vllm))
        archive = folder / link.file
        fetch(http, Address(link.url, link.sha256, link.size), archive)
    with tarfile.open(archive) as packed:
        member = packed.extractfile(f"vllm-{vllm}/requirements/common.txt")
        assert member is not None
        return member.read().decode()


def keep(stack: Stack, arch: str, found: Verdict) -> None:
    name = f"runtime-ascend-{found.release}-cann{stack.variant.cann}-{arch}-py{found.python}.lock.txt"
    ordered = "\n".join(found.lines)
    (ascend_pins.CATALOG / name).write_text(ordered + "\n", "utf-8")
    print(f"  {name}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
