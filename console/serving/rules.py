"""Why a model cannot be served like this: rules of chips, quantization, parallelism and context, with their sources.

A breach is found before anything is started. The rules are those of the release that is asked about.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from console.catalog.ascend import Chip
from console.catalog.quantizations import Scheme, known_since, scheme
from console.serving.layout import Layout, indivisible, tensor_sizes
from console.serving.shape import Shape
from console.serving.spec import Refusal
from console.text import Text, say

PARALLEL = "vllm/config/parallel.py (0.23.0)"
MODEL = "vllm/config/model.py (0.23.0)"
WORKER = "vllm_ascend/worker/worker.py (0.23.0)"
LINEAR = "vllm/model_executor/layers/linear.py (0.32.0)"
_PARTS = {
    "heads": say("attention heads"),
    "feed_forward": say("columns of the feed-forward layer"),
    "expert": say("columns of each expert"),
}


@dataclass(frozen=True)
class Breach:
    """One rule that is broken. field = the setting, as ServeSpec names it where it has it."""

    field: str
    reason: Text
    source: str
    instead: Text | None = None

    def refusal(self) -> Refusal:
        """As the launch form shows it."""
        return Refusal(self.field, self.reason, self.instead)


def chip_breaches(chip: Chip, name: str) -> Iterator[Breach]:
    """The first generation and the edge chips are not supported at all."""
    if chip.family == "first":
        why = say(
            "{chip} is a chip of the first generation: it cannot compute in BF16, and vLLM-Ascend does not support it.",
            chip=name,
        )
        yield Breach("chip", why, chip.source, say("Use a 910B1 to 910B4, A3, 310P or 950."))
    elif not chip.supported:
        why = say("{chip} is an edge chip that vLLM-Ascend does not support.", chip=name)
        yield Breach("chip", why, chip.source, say("Use a 910B1 to 910B4, A3, 310P or 950."))


def quantization_breaches(one: Scheme, family: str, release: str, *, is_moe: bool) -> Iterator[Breach]:
    """What this chip and release do not run, and what takes its place."""
    instead = _counterpart(one, family, release, is_moe=is_moe)
    if not one.runs:
        why = say(
            "vLLM on NPUs stops with '{name} quantization is currently not supported in npu': weights in this format "
            "cannot be used.",
            name=one.id,
        )
        yield Breach("quantization", why, one.source, instead)
    elif one.expands(family, release):
        return
    elif family not in one.families:
        why = say(
            "vLLM-Ascend does not run {name} on chips of the {family} family, only on {others}.",
            name=one.id,
            family=family,
            others=", ".join(one.families),
        )
        yield Breach("quantization", why, one.source, instead)
    elif not known_since(one, release):
        why = say(
            "vLLM-Ascend {release} does not know {name} yet; it came with {since}.",
            release=release,
            name=one.id,
            since=one.since,
        )
        yield Breach("quantization", why, one.source, instead)
    elif one.moe_only and not is_moe:
        why = say("{name} is only for models with experts, and this is a dense one.", name=one.id)
        yield Breach("quantization", why, one.source, instead)


def _counterpart(one: Scheme, family: str, release: str, *, is_moe: bool) -> Text | None:
    names = dict.fromkeys([*one.instead.get(family, ()), "w8a8", "none"])
    others = [scheme(name) for name in names if name != one.id]
    running = [other for other in others if _runs(other, family, release, is_moe=is_moe)][:2]
    if not running:
        return None
    listed = ", ".join("BF16" if other.id == "none" else other.id.upper() for other in running)
    if running[0].flag is None:
        return say("Use one of these kinds of weights: {names}.", names=listed)
    return say(
        "Use one of these kinds of weights: {names} (--quantization {flag}).", names=listed, flag=running[0].flag
    )


def _runs(one: Scheme, family: str, release: str, *, is_moe: bool) -> bool:
    return one.runs and family in one.families and known_since(one, release) and (is_moe or not one.moe_only)


def layout_breaches(shape: Shape, layout: Layout, devices: int) -> Iterator[Breach]:
    """What must divide, and how many devices a layout takes."""
    for name, size in (
        ("tensor_parallel", layout.tp),
        ("pipeline_parallel", layout.pp),
        ("data_parallel", layout.dp),
    ):
        if size < 1:
            yield Breach(name, say("A parallel size is at least 1."), PARALLEL, say("Use 1."))
            return
    if layout.devices > devices:
        why = say(
            "TP {tp} x PP {pp} x DP {dp} takes {wanted} devices, more than the {devices} there.",
            tp=layout.tp,
            pp=layout.pp,
            dp=layout.dp,
            wanted=layout.devices,
            devices=devices,
        )
        yield Breach("tensor_parallel", why, PARALLEL, say("Use smaller sizes or more cards."))
    yield from _tensor_breaches(shape, layout)
    yield from stage_breaches(shape, layout.pp)
    yield from _expert_breaches(shape, layout)


def stage_breaches(shape: Shape, stages: int) -> Iterator[Breach]:
    """Every pipeline stage has at least one layer."""
    if stages > shape.config.layers:
        why = say("{stages} pipeline stages cannot share {layers} layers.", stages=stages, layers=shape.config.layers)
        instead = say("Use at most {most}.", most=shape.config.layers)
        yield Breach("pipeline_parallel", why, "vllm/distributed/utils.py (0.23.0)", instead)


def _tensor_breaches(shape: Shape, layout: Layout) -> Iterator[Breach]:
    allowed = tensor_sizes(shape, ep=layout.ep)
    instead = say("This model allows: {sizes}.", sizes=", ".join(map(str, allowed)))
    for part, size in indivisible(shape, layout):
        if part == "kv_heads":
            why = say(
                "{heads} KV heads can neither be divided by nor copied to {ranks} ranks.", heads=size, ranks=layout.tp
            )
        else:
            why = say(
                "{size} {part} cannot be divided by tensor parallel {ranks}.",
                size=size,
                part=_PARTS[part],
                ranks=layout.tp,
            )
        yield Breach("tensor_parallel", why, MODEL if part in ("heads", "kv_heads") else LINEAR, instead)


def _expert_breaches(shape: Shape, layout: Layout) -> Iterator[Breach]:
    if layout.ep and not shape.is_moe:
        why = say("Expert parallel spreads experts, and this model has none.")
        yield Breach("expert_parallel", why, PARALLEL, say("Leave it off."))
    if layout.ep and shape.is_moe and layout.tp * layout.dp > shape.config.experts:
        why = say(
            "{ranks} ranks cannot share {experts} experts.",
            ranks=layout.tp * layout.dp,
            experts=shape.config.experts,
        )
        yield Breach("expert_parallel", why, "vllm expert_map_manager.py (0.23.0)")


def context_breaches(shape: Shape, context: int) -> Iterator[Breach]:
    """A context longer than the model was made for."""
    most = shape.config.context
    if context < 1:
        yield Breach(
            "context",
            say("A context has at least one token."),
            MODEL,
            say("Use 1 to {most} tokens.", most=most),
        )
    elif most and context > most:
        why = say("The model was made for at most {most} tokens; {wanted} are asked for.", most=most, wanted=context)
        yield Breach("context", why, MODEL, say("Use 1 to {most} tokens.", most=most))


def start_breaches(total: int, free: int, utilization: float, highest: float) -> Iterator[Breach]:
    """vLLM refuses to start when less memory is free than its share of the total (vllm_ascend/worker/worker.py)."""
    if highest <= 0:
        why = say("Only {free} GiB are free on the card: vLLM cannot start there.", free=f"{free / 2**30:.1f}")
        yield Breach("utilization", why, WORKER, say("Free the card, or take another."))
    elif not 0 < utilization <= 1:
        why = say("The share of memory vLLM may use lies between 0 and 1.")
        yield Breach("utilization", why, "vllm/config/cache.py (0.23.0)", say("Use {most}.", most=f"{highest:.2f}"))
    elif free < total * utilization:
        why = say(
            "vLLM would refuse to start: {free} GiB are free, and {share} of {total} GiB is {wanted} GiB.",
            free=f"{free / 2**30:.1f}",
            share=f"{utilization:.2f}",
            total=f"{total / 2**30:.1f}",
            wanted=f"{total * utilization / 2**30:.1f}",
        )
        instead = say("Use at most {most}, or free the card.", most=f"{highest:.2f}")
        yield Breach("utilization", why, WORKER, instead)


def wish_breaches(cards: int, users: int, tokens: int | None, *sizes: int) -> Iterator[Breach]:
    """Numbers that are no numbers of anything. tokens: computed in one step, None = the engine's default."""
    if cards < 1:
        yield Breach("cards", say("At least one card is needed."), PARALLEL, say("Use 1 or more."))
    if users < 1:
        yield Breach("concurrency", say("At least one user is needed."), PARALLEL, say("Use 1 or more."))
    if min(sizes, default=0) < 0:
        yield Breach("tensor_parallel", say("A parallel size is at least 1."), PARALLEL, say("Use 1."))
    if tokens is not None and tokens < 1:
        why = say("At least one token is computed at a time.")
        yield Breach("max_batched_tokens", why, "vllm/config/scheduler.py (0.32.0)", say("Use 4096 or more."))
