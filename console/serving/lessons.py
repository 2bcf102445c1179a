"""How far the sum was from what instances here measured: read from the logs of their attempts, whenever it is asked.

What a rehearsal host prints is no measurement of a card, so its servers teach nothing.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from console.catalog.models import Config
from console.catalog.quantizations import scheme
from console.errors import InvalidInput, NotFound
from console.hosts import cards, inventory
from console.jobs.logs import attempt_log
from console.serving import ascend, instances, npu_defaults
from console.serving.fit import fit
from console.serving.given import ModelFacts
from console.serving.instances import Instance
from console.serving.measured import Difference, Measured, differences, read_log
from console.serving.room import Sum, card
from console.serving.seats import number
from console.serving.shape import Shape
from console.serving.spec import GIB, kv_bytes_per_token

LOG_BYTES = 4 * 1024 * 1024
SHAPE = "shape"
"""Under which the evidence of an instance has its model as the calculator sees it."""


@dataclass(frozen=True)
class Lesson:
    """What one attempt measured (`time` = Unix seconds of its start), and the difference to the sum.

    difference   tokens in the cache;  others: further figures that both have, such as the weights of a card in bytes
    """

    instance: Instance
    attempt: int
    time: float
    seen: Measured
    difference: Difference | None
    others: tuple[Difference, ...] = ()


def lessons(models: Mapping[str, ModelFacts]) -> list[Lesson]:
    """The last attempt of each instance that said something; `models` by their folder, where they could be read."""
    real = {host.id for host in inventory.hosts() if host.scenario is None}
    found = []
    for one in instances.instances():
        for attempt in instances.attempts(one.id)[:1]:
            seen = read_log(attempt_log(one.id, attempt.number).tail(LOG_BYTES))
            if seen is not None and one.host_id in real:
                apart = {each.figure: each for each in apart_of(one, models.get(one.spec.model_folder), seen)}
                tokens = apart.pop("kv_tokens", None)
                found.append(Lesson(one, attempt.number, attempt.started, seen, tokens, tuple(apart.values())))
    return found


def apart_of(one: Instance, model: ModelFacts | None, seen: Measured) -> list[Difference]:
    """Every figure both ways. Of the CPU backend the cache, whose space is given; of NPUs what the calculator has."""
    if one.backend in ascend.BACKENDS:
        estimate = estimated(one)
        return [] if estimate is None else differences(estimate, seen)
    if one.backend != "local_cpu" or seen.kv_tokens is None or model is None:
        return []
    tokens = one.spec.kv_space_gib * GIB / kv_bytes_per_token(one.spec, model)
    return [Difference("kv_tokens", tokens, seen.kv_tokens)]


def estimated(one: Instance) -> Sum | None:
    """The sum for a server on NPUs, as it is made today; None where its model or its card is not known."""
    chip, shape = ascend.chip_called(one.spec.chip), shape_of(one.health.get(SHAPE))
    total = _total(one) or (None if chip is None else (chip.hbm_mb or 0) * 2**20)
    if chip is None or shape is None or not total:
        return None
    try:
        wish = npu_defaults.wish_for(shape, one.spec, len(one.spec.device_ids), chip.family)
        device = card(chip, total, name=one.spec.chip)
        return Sum(shape, device, wish, scheme(wish.quantization), fit(shape, device, wish).layout)
    except (InvalidInput, NotFound):
        return None


def stored(shape: Shape) -> dict[str, object]:
    """What `shape_of` reads."""
    return asdict(shape)


def shape_of(stored: object) -> Shape | None:
    """The inverse of `stored`; what is not known any more is left out."""
    if not isinstance(stored, Mapping) or not isinstance(stored.get("config"), Mapping):
        return None
    config = Config(
        **{each.name: stored["config"][each.name] for each in fields(Config) if each.name in stored["config"]}
    )
    known = {each.name: stored[each.name] for each in fields(Shape) if each.name in stored}
    return Shape(**{**known, "config": config}) if "name" in known else None


def _total(one: Instance) -> int | None:
    """Bytes of the smallest of its cards, as npu-smi said last."""
    found, _ = cards.cards([inventory.host(one.host_id)])
    mine = [each.chip.hbm_total_bytes for each in found if number(each, one.backend) in one.spec.device_ids]
    return min((each for each in mine if each), default=None)
