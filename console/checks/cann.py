"""Checks of CANN, of the engine's packages and of the container engine."""

from console.catalog.profiles import Profile
from console.checks.check import Level, Verdict, check
from console.facts.holders import Docker
from console.facts.packages import Packages
from console.facts.versions import VersionFile
from console.text import say, verbatim


@check(
    area="driver",
    title=say("CANN"),
    why=say("Toolkit, operators and NNAL have to be of one release and of the architecture of the host."),
)
def cann_complete(
    cann_toolkit: VersionFile | None,
    cann_operators: VersionFile | None,
    cann_nnal: VersionFile | None,
    arch: str,
    profile: Profile,
) -> Verdict:
    wanted = say("Toolkit, operators and NNAL of CANN {version} for {arch}", version=profile.text("cann"), arch=arch)
    parts = {"toolkit": _version(cann_toolkit), "ops": _operators(cann_operators), "nnal": _version(cann_nnal)}
    shown = verbatim(", ".join(f"{name} {version or '-'}" for name, version in parts.items()))
    if not any(parts.values()):
        fix = say("Install toolkit, operators and NNAL in this order, or use the container image, which has its own.")
        return Verdict(Level.WARN, say("CANN is not installed yet"), wanted, fix)
    if missing := [name for name, version in parts.items() if version is None]:
        seen = say("{parts}; missing: {missing}", parts=shown, missing=", ".join(missing))
        fix = say("Install what is missing, after sourcing set_env.sh of the toolkit.")
        return Verdict(Level.FAIL, seen, wanted, fix)
    strange = next((one.arch for one in (cann_toolkit, cann_nnal) if one and one.arch and one.arch != arch), None)
    if strange:
        fix = say("Remove it and install the packages for {arch}.", arch=arch)
        return Verdict(Level.FAIL, say("{parts}, built for {arch}", parts=shown, arch=strange), wanted, fix)
    if len({version.lower() for version in parts.values() if version}) > 1:
        fix = say("Install all three of one release; of two releases side by side, the one sourced last counts.")
        return Verdict(Level.FAIL, shown, wanted, fix)
    if parts["toolkit"] != profile.text("cann"):
        fix = say(
            "It can be right for another release of vLLM Ascend; this profile counts on {version}.",
            version=profile.text("cann"),
        )
        return Verdict(Level.WARN, shown, wanted, fix, evidence=(profile.limits["cann"].source,))
    return Verdict(Level.PASS, shown, wanted)


def _version(part: VersionFile | None) -> str | None:
    return (part.version or part.cann) if part else None


def _operators(part: VersionFile | None) -> str | None:
    """Up to CANN 8.3 the operators are named in the toolkit's own version file."""
    if part is None or part.kernels_installed is False:
        return None
    return _version(part)


@check(
    area="driver",
    title=say("Engine packages"),
    why=say("A release of vllm-ascend works with exactly one of vllm, and torch-npu with exactly one of torch."),
)
def engine_packages(packages: Packages | None) -> Verdict:
    wanted = say("Releases that belong together, or none yet")
    found = packages.packages if packages else {}
    names = ("vllm", "vllm-ascend", "torch", "torch-npu", "triton", "triton-ascend")
    shown = verbatim(", ".join(f"{name} {found[name]}" for name in names if name in found))
    if not found.keys() & {"vllm", "vllm-ascend", "torch-npu"}:
        return Verdict(Level.PASS, say("None is installed yet, so nothing is in conflict"), wanted)
    if packages and packages.mismatch:
        fix = say(
            "Install the releases named together in the release table of vllm-ascend, best into a fresh environment."
        )
        return Verdict(Level.FAIL, shown, wanted, fix, evidence=packages.mismatch)
    if missing := [name for name in names[:4] if name not in found]:
        seen = say("{parts}; missing: {missing}", parts=shown, missing=", ".join(missing))
        fix = say("Install what is missing into the same Python environment.")
        return Verdict(Level.FAIL, seen, wanted, fix)
    if {"triton", "triton-ascend"} <= found.keys():
        fix = say(
            "Remove both triton and triton-ascend, then install triton-ascend again: the plain one gets in its way."
        )
        return Verdict(Level.WARN, shown, wanted, fix, "pip uninstall -y triton triton-ascend")
    return Verdict(Level.PASS, shown, wanted)


@check(
    area="driver",
    title=say("Container engine"),
    why=say("The simplest way to run vLLM Ascend is its container image; without Docker only the other way remains."),
)
def container_engine(docker: Docker | None) -> Verdict:
    wanted = say("Docker, running; the Ascend runtime is optional")
    if docker is None:
        fix = say("Nothing has to be done if the engine is installed without containers; otherwise install Docker.")
        return Verdict(Level.WARN, say("Docker is not installed"), wanted, fix)
    if docker.version is None:
        fix = say("Start it.")
        return Verdict(
            Level.WARN, say("Docker is installed, but not running"), wanted, fix, "sudo systemctl start docker"
        )
    runtime = docker.default_runtime or "?"
    seen = say("Docker {version}, default runtime {runtime}", version=docker.version, runtime=runtime)
    if docker.has_ascend:
        seen = say(
            "Docker {version} with the Ascend runtime, default {runtime}", version=docker.version, runtime=runtime
        )
    return Verdict(Level.PASS, seen, wanted)
