"""Which settings a release of vllm-ascend takes, with what each means: only these are offered in a form."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from console.catalog import flags, parsers
from console.catalog.flags import Flag
from console.catalog.parsers import Option
from console.serving import ascend
from console.serving.asked import ServeSpec
from console.serving.conflicts import DRAFTS as DRAFTS
from console.serving.conflicts import GRAPH_MODES as GRAPH_MODES
from console.serving.known import method_trouble
from console.serving.options import FIELDS, UNSET

GRAPH_MODES_SINCE = "0.11.0"
"""vLLM of the releases before knows no cudagraph_mode (vllm/config/compilation.py)."""
NEED_A_MODEL = ("eagle", "eagle3", "medusa", "draft_model", "dflash", "dspark")


@dataclass(frozen=True)
class Offered:
    """One setting. about: what it means, where the catalog says so; until: None while the newest release knows it."""

    field: str
    flag: str
    option: Option
    about: Flag | None
    since: str | None
    until: str | None

    @property
    def can_be_off(self) -> bool:
        return self.option.kind in ("toggle", "maybe")


OF_CONTAINERS = ("image", "mounts", "shm_gib", "network")
OF_CPUS = ("kv_space_gib", "core_ids")


def fitting(stated: Mapping[str, Any], backend: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What a paste or an address states, without fields that a server of this backend on NPUs has not, and those."""
    foreign = OF_CPUS if backend == ascend.DOCKER else (*OF_CPUS, *OF_CONTAINERS)
    return {name: value for name, value in stated.items() if name not in foreign}, tuple(
        name for name in stated if name in foreign
    )


@functools.cache
def offered(release: str) -> Mapping[str, Offered]:
    """By field of ServeSpec, what this release takes. NotFound when its options are not known."""
    by_name = parsers.parser_of(release).by_name
    about = flags.flags().options
    return {
        name: Offered(name, flag, by_name[flag], about.get(flag), flags.since(flag), flags.until(flag))
        for name, flag in FIELDS.items()
        if flag in by_name
    }


def without_unknown(spec: ServeSpec) -> tuple[ServeSpec, tuple[str, ...]]:
    """The spec without settings that its release does not take, and the options that were left out."""
    known = offered(spec.release)
    gone = [name for name in FIELDS if name not in known and getattr(spec, name) != UNSET[name]]
    unset: dict[str, Any] = {name: UNSET[name] for name in gone}
    return replace(spec, **unset), tuple(FIELDS[name] for name in gone)


def methods(release: str, family: str | None) -> list[str]:
    """Values of --quantization that run on chips of this family with this release."""
    return [name for name in flags.flags().methods if method_trouble(name, release, family) is None]


def graph_modes(release: str) -> tuple[str, ...]:
    """Values of cudagraph_mode this release takes."""
    return GRAPH_MODES if parsers.order(release) >= parsers.order(GRAPH_MODES_SINCE) else ()
