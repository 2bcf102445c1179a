"""How far the sum was from what instances here measured: read from the logs of their attempts, whenever it is asked."""

from collections.abc import Mapping
from dataclasses import dataclass

from console.jobs.logs import attempt_log
from console.serving import instances
from console.serving.given import ModelFacts
from console.serving.instances import Instance
from console.serving.measured import Difference, Measured, read_log
from console.serving.spec import GIB, kv_bytes_per_token

LOG_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Lesson:
    """What one attempt measured (`time` = Unix seconds of its start), and the difference to the sum."""

    instance: Instance
    attempt: int
    time: float
    seen: Measured
    difference: Difference | None


def lessons(models: Mapping[str, ModelFacts]) -> list[Lesson]:
    """The last attempt of each instance that said something; `models` by their folder, where they could be read."""
    found = []
    for one in instances.instances():
        for attempt in instances.attempts(one.id)[:1]:
            seen = read_log(attempt_log(one.id, attempt.number).tail(LOG_BYTES))
            if seen is not None:
                model = models.get(one.spec.model_folder)
                apart = None if model is None else cache_difference(one, model, seen)
                found.append(Lesson(one, attempt.number, attempt.started, seen, apart))
    return found


def cache_difference(one: Instance, model: ModelFacts, seen: Measured) -> Difference | None:
    """Tokens in the cache of the CPU backend, whose space is given: by the sum, and as the engine counted them."""
    if one.spec.backend != "local_cpu" or seen.kv_tokens is None:
        return None
    return Difference("kv_tokens", one.spec.kv_space_gib * GIB / kv_bytes_per_token(one.spec, model), seen.kv_tokens)
