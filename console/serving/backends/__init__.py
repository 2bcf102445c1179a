"""How vLLM lives on a host: one file per backend, each with one value named BACKEND."""

import pkgutil
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from console.errors import NotFound
from console.text import Text, say

if TYPE_CHECKING:
    from console.serving.command import Command
    from console.serving.spec import Machine, ModelFacts, Refusal, ServeSpec


@dataclass(frozen=True)
class Site:
    """What a host decides about the command of a server, beside the folder of its runtime.

    cann   folder in which CANN and NNAL were installed; "" = the usual one
    root   words before `docker`, where its user may not talk to Docker as itself
    """

    cann: str = ""
    root: tuple[str, ...] = ()


USUAL = Site()


class Backend(Protocol):
    """One way to run vLLM: what it needs, what it refuses and the command it takes. All of it is pure.

    name      what stands in `ServeSpec.backend`, and the name of its file
    title     what a person reads
    needs     sentences about what must be on the host before
    """

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> Text: ...
    @property
    def needs(self) -> tuple[Text, ...]: ...

    def runtime_folder(self, work_folder: str, arch: str | None = None) -> str:
        """Where the installed runtime is, below the folder the console owns on the host.

        arch is what `uname -m` says there; None = the same as here.
        """
        ...

    def command(self, spec: "ServeSpec", runtime_folder: str, site: Site = USUAL) -> "Command":
        """The command of `spec`, which has no refusals, as it is on a host like `site`."""
        ...

    def refusals(self, spec: "ServeSpec", model: "ModelFacts", machine: "Machine") -> "list[Refusal]":
        """The reasons of this backend alone; those common to all are in console/serving/spec.py."""
        ...


def names() -> list[str]:
    """The backends there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def backend(name: str) -> Backend:
    """The backend called `name`. Raises NotFound."""
    if name not in names():
        raise NotFound(say("There is no backend '{name}'. There are: {names}.", name=name, names=", ".join(names())))
    found: Backend = import_module(f"{__name__}.{name}").BACKEND
    return found
