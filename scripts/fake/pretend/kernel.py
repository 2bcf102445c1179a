"""What is loaded and bound: `lsmod`, `modinfo`, `dkms`, `numactl`, `ldconfig`."""

import os
import shutil
import subprocess
import sys

from pretend import cards, place, processor

MODULES = ("drv_pcie_host", "drv_devmm_host", "drv_davinci_intf_host", "drv_virtmng_host", "ascend_event_sched_host")


def main(name: str, words: list[str]) -> int:
    return {"lsmod": _lsmod, "modinfo": _modinfo, "dkms": _dkms, "numactl": _numactl, "ldconfig": _ldconfig}[name](
        words
    )


def _lsmod(words: list[str]) -> int:
    rows = [("xfs", 2039808, "1"), ("hns3", 204800, "0")]
    if cards.driver().get("loaded"):
        rows += [(name, 131072 + 4096 * number, "0") for number, name in enumerate(MODULES)]
    print(f"{'Module':<24}{'Size':>8}  Used by")
    print("\n".join(f"{name:<24}{size:>8}  {used}" for name, size, used in rows))
    return 0


def _modinfo(words: list[str]) -> int:
    name = next((word for word in words if not word.startswith("-")), "")
    release = place.scenario()["kernel"]["release"]
    version = cards.driver().get("driver")
    if name not in MODULES or not version:
        print(f"modinfo: ERROR: Module {name} not found.", file=sys.stderr)
        return 1
    print(f"filename:       /lib/modules/{release}/updates/{name}.ko\nversion:        {version}\nlicense:        GPL")
    print(f"vermagic:       {release} SMP mod_unload modversions aarch64")
    return 0


def _dkms(words: list[str]) -> int:
    version = cards.driver().get("driver")
    if words[:1] == ["--version"]:
        print("dkms-2.8.7")
    elif words[:1] == ["status"]:
        release = place.scenario()["kernel"]["release"]
        print(f"davinci_ascend/1.0, {release}, aarch64: installed" if version else "", end="\n" if version else "")
    else:
        print(f"dkms: {' '.join(words[:1])} is not simulated on a rehearsal host.", file=sys.stderr)
        return 1
    return 0


def _numactl(words: list[str]) -> int:
    """Bindings are passed over: the processors of the scenario are more than the machine has."""
    played = place.scenario()
    if words[:1] in (["--hardware"], ["-H"]):
        nodes = processor.node_cpus(played)
        print(f"available: {len(nodes)} nodes (0-{len(nodes) - 1})")
        for number, cpus in enumerate(nodes):
            low, _, high = cpus.partition("-")
            print(f"node {number} cpus: {' '.join(map(str, range(int(low), int(high) + 1)))}")
            print(f"node {number} size: {played['memory']['total_kb'] // len(nodes) // 1024} MB")
        return 0
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word in ("-N", "-m", "-C", "-p", "-i"):
            words = words[1:]
    if not words:
        print(
            "usage: numactl [--interleave= | -i <nodes>] [--cpunodebind= | -N <nodes>] command args ...",
            file=sys.stderr,
        )
        return 1
    program = shutil.which(words[0])
    if program is None:
        print(f"execution of `{words[0]}': No such file or directory", file=sys.stderr)
        return 1
    os.execv(program, words)
    return 126


def _ldconfig(words: list[str]) -> int:
    """The machine's own answer, and the libraries of installed packages that are simulated."""
    program = place.real("ldconfig") or "/sbin/ldconfig"
    done = subprocess.run([program, *words], check=False, stdout=subprocess.PIPE if "-p" in words else None, text=True)
    if "-p" in words:
        packages = place.read("packages").get("installed", {})
        print(done.stdout, end="")
        if {"libjemalloc2", "jemalloc"} & set(packages) and "libjemalloc" not in done.stdout:
            print("\tlibjemalloc.so.2 (libc6,AArch64) => /lib/aarch64-linux-gnu/libjemalloc.so.2")
    return done.returncode
