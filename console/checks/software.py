"""Checks of what has to be there before anything is installed: a Python, and a free port."""

from console.catalog.profiles import Profile
from console.checks.check import Level, Verdict, check
from console.facts.listeners import Listener
from console.facts.os_release import OsRelease
from console.facts.pythons import Python
from console.facts.system import Wish
from console.text import say, verbatim

_DEBIAN = frozenset({"debian", "ubuntu"})


@check(
    area="python",
    title=say("Python"),
    why=say("The engine gets a Python environment of its own, made by a Python of a version that vLLM supports."),
)
def python_with_venv(pythons: tuple[Python, ...], profile: Profile, os_release: OsRelease | None = None) -> Verdict:
    lowest, highest = profile.versions("pythons")
    wanted = say(
        "Python {lowest} to {highest} with the modules venv and ensurepip",
        lowest=_dotted(lowest),
        highest=_dotted(highest),
    )
    fitting = [python for python in pythons if lowest <= python.version[:2] <= highest]
    ready = [python for python in fitting if python.makes_venvs]
    evidence = tuple(f"{python.path} {_dotted(python.version)}" for python in pythons)
    if ready:
        seen = say("Python {version} at {path}", version=_dotted(ready[0].version), path=verbatim(ready[0].path))
        return Verdict(Level.PASS, seen, wanted, evidence=evidence)
    is_debian = bool(os_release and {os_release.id or "", *(os_release.id_like or "").split()} & _DEBIAN)
    if fitting:
        version = _dotted(fitting[0].version[:2])
        seen = say(
            "Python {version} at {path}, but it cannot make environments",
            version=version,
            path=verbatim(fitting[0].path),
        )
        fix = say("Install the package that brings venv and ensurepip.")
        command = f"sudo apt install python{version}-venv" if is_debian else "sudo dnf install python3-pip"
        return Verdict(Level.FAIL, seen, wanted, fix, command, evidence)
    shown = ", ".join(_dotted(python.version) for python in pythons)
    seen = say("Only other versions: {versions}", versions=shown) if pythons else say("No Python on the PATH")
    fix = say("Install a Python of a fitting version beside the one that is there.")
    command = "sudo apt install python3.12 python3.12-venv" if is_debian else "sudo dnf install python3.11"
    return Verdict(Level.FAIL, seen, wanted, fix, command, evidence)


@check(
    area="network",
    title=say("Port of the server"),
    why=say("Two servers cannot listen on one port; requests would reach the other one."),
)
def port_is_free(listeners: tuple[Listener, ...], wish: Wish) -> Verdict:
    wanted = say("Port {port} is free", port=wish.port)
    taken = [listener for listener in listeners if listener.port == wish.port]
    if not taken:
        return Verdict(Level.PASS, say("Nothing listens on port {port}", port=wish.port), wanted)
    evidence = tuple(f"{listener.address}:{listener.port}" for listener in taken)
    owner = next((listener for listener in taken if listener.process), None)
    seen = say("Port {port} is in use", port=wish.port)
    if owner:
        seen = say(
            "Port {port} is in use by {process} (process {pid})",
            port=wish.port,
            process=verbatim(owner.process or ""),
            pid=owner.pid,
        )
    fix = say("Nothing has to be done if that is an instance of yours; a new one is given another port.")
    return Verdict(Level.WARN, seen, wanted, fix, "ss -ltnp", evidence)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
