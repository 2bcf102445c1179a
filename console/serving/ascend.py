"""What the two Ascend backends have in common: the environment, and what a release or a chip does not do."""

import shlex
from collections.abc import Iterator

from console.catalog import parsers
from console.catalog.ascend import Chip
from console.catalog.knowledge import known
from console.serving.asked import Refusal, ServeSpec
from console.serving.conflicts import conflicts
from console.serving.known import config_troubles, limit_troubles, method_trouble, variable_trouble
from console.serving.options import QUIET
from console.serving.options import refusals as option_refusals
from console.serving.rules import chip_breaches
from console.text import Text, say

VENV, DOCKER = "ascend_venv", "ascend_docker"
BACKENDS = (VENV, DOCKER)
"""The backends that take cards."""

CANN = "/usr/local/Ascend"
"""Where CANN and NNAL usually lie: in the project's images always, on a host unless its user could not become root."""


def wrapped(cann: str = CANN) -> tuple[str, ...]:
    """Words that load the environment of CANN (its folder since 8.5, else the older one) and of NNAL before others."""
    at = shlex.quote(cann)
    setup = (
        f"for each in {at}/cann {at}/ascend-toolkit; do "
        'if [ -r "$each/set_env.sh" ]; then . "$each/set_env.sh"; break; fi; done; '
        f". {at}/nnal/atb/set_env.sh; "
        'exec "$@"'
    )
    return "bash", "-c", setup, "bash"


def quiet(spec: ServeSpec) -> tuple[str, ...]:
    """Words that keep what the console asks every two seconds out of the log, for a release that knows them."""
    option = QUIET[0]
    return QUIET if option in parsers.parser_of(spec.release).by_name and option not in spec.extra_args else ()


def family_of(chip: str) -> str | None:
    """The family of a chip by any of its names; None if it is not in the catalog."""
    found = chip_called(chip)
    return found.family if found else None


def chip_called(name: str) -> Chip | None:
    """The chip of the catalog that a person means."""
    return known().called(name) if name else None


def refusals(spec: ServeSpec) -> Iterator[Refusal]:
    """Everything the release and the chip of `spec` do not do."""
    if spec.release not in parsers.releases():
        why = say("The options of vllm-ascend {release} are not known here.", release=spec.release or "?")
        yield Refusal("release", why, say("Choose one of: {names}.", names=", ".join(parsers.releases())))
        return
    chip = chip_called(spec.chip)
    if chip is None:
        why = say("There is no chip '{chip}' in the catalog.", chip=spec.chip)
        yield Refusal("chip", why, say("Name it as npu-smi does, such as 910B4."))
        return
    yield from (breach.refusal() for breach in chip_breaches(chip, spec.chip))
    yield from _release_and_chip(spec, chip)
    yield from option_refusals(spec)
    yield from conflicts(spec, chip.family)
    if spec.quantization and (trouble := method_trouble(spec.quantization, spec.release, chip.family)):
        yield _refusal("quantization", trouble.problem, trouble.instead)
    for trouble in limit_troubles(spec.extra_args, spec.release):
        yield _refusal("extra_args", trouble.problem, trouble.instead)
    for _, trouble in config_troubles(spec.additional_config, spec.release):
        yield _refusal("additional_config", trouble.problem, trouble.instead)
    for name, value in spec.extra_env.items():
        if (found := variable_trouble(name, value, spec.release)) is not None:
            yield _refusal(
                "extra_env", say("{name} has no effect on this release, or is not for NPUs.", name=name), found.instead
            )


def _release_and_chip(spec: ServeSpec, chip: Chip) -> Iterator[Refusal]:
    offered = next((one for one in known().releases if one.vllm_ascend == spec.release), None)
    if offered is not None and chip.supported and chip.family not in offered.chips:
        why = say(
            "vllm-ascend {release} does not run on chips of the {family} family.",
            release=spec.release,
            family=chip.family,
        )
        instead = [one.vllm_ascend for one in known().releases if chip.family in one.chips]
        yield Refusal("release", why, say("Choose one of: {names}.", names=", ".join(instead)))
    if any(one < 0 for one in spec.device_ids) or len(set(spec.device_ids)) != len(spec.device_ids):
        yield Refusal("device_ids", say("Each NPU has a number from 0 on, and is named once."))


def _refusal(field: str, problem: object, instead: object) -> Refusal:
    """A refusal's words are of the code; those of the catalog stay with the explanation of a paste."""
    reason = problem if isinstance(problem, Text) else say("This does not work here.")
    return Refusal(field, reason, instead if isinstance(instead, Text) else None)
