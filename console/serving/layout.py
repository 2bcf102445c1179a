"""How a model is spread over devices: which layouts there are, and what each device then holds of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from console.catalog.quantizations import Scheme
from console.serving.shape import Numbers, Shape, dense_layers, kv_heads, numbers, total

SPLITS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Layout:
    """Ranks of each kind of parallelism. ep: experts are spread over all TP x DP ranks instead of being sliced."""

    tp: int = 1
    pp: int = 1
    dp: int = 1
    ep: bool = False

    @property
    def devices(self) -> int:
        """vllm/config/parallel.py (0.23.0): DP x TP x PP."""
        return self.tp * self.pp * self.dp

    @property
    def communicators(self) -> int:
        """Groups of ranks that talk to each other, each with buffers of its own; expert parallel adds two."""
        return sum(size > 1 for size in (self.tp, self.pp, self.dp)) + (2 if self.ep and self.tp * self.dp > 1 else 0)


@dataclass(frozen=True)
class Stage:
    """One pipeline stage: its layers [first, last) and whether it is an end of the model."""

    first: int
    last: int
    begins: bool
    ends: bool

    @property
    def layers(self) -> int:
        return self.last - self.first


def stages(layers: int, pp: int) -> list[Stage]:
    """Even, with what is left over given to the stages before the last one (vllm/distributed/utils.py, 0.23.0)."""
    sizes = [layers // pp] * pp
    for back in range(2, layers % pp + 2):
        sizes[-back] += 1
    made, first = [], 0
    for number, size in enumerate(sizes):
        made.append(Stage(first, first + size, number == 0, number == pp - 1))
        first += size
    return made


def weight_bytes(shape: Shape, scheme: Scheme, layout: Layout, stage: Stage, *, bits: float | None = None) -> int:
    """Bytes of weights on one device of a stage. `bits` overrides those of the scheme (what is expanded on loading)."""
    of = numbers(shape)
    return round(_weights(shape, of, scheme, layout, stage, bits) * _correction(shape, of, scheme, bits))


def all_bytes(shape: Shape, scheme: Scheme, *, bits: float | None = None) -> int:
    """Bytes of all weights together, as one device would hold them."""
    return weight_bytes(shape, scheme, Layout(), stages(shape.config.layers, 1)[0], bits=bits)


def _weights(shape: Shape, of: Numbers, scheme: Scheme, layout: Layout, stage: Stage, bits: float | None) -> float:
    attention, linear, expert = (
        (bits or one) / 8 for one in (scheme.attention_bits, scheme.linear_bits, scheme.expert_bits)
    )
    layers = stage.layers
    dense = max(0, min(stage.last, dense_layers(shape)) - stage.first)
    tp = layout.tp
    held = layers * of.attention / tp * attention
    held += layers * of.kv / min(tp, max(1, kv_heads(shape))) * attention
    held += layers * of.copied * attention
    held += layers * (of.wide / tp + of.plain) * 2
    held += dense * of.dense / tp * linear
    held += (layers - dense) * of.shared / tp * linear
    held += (layers - dense) * of.experts * _share_of_experts(shape, layout) * expert
    ends = of.embedding if stage.begins else 0
    if stage.ends:
        ends += of.head or (0 if stage.begins else of.embedding)
    return held + ends / tp * 2


def _share_of_experts(shape: Shape, layout: Layout) -> float:
    """With expert parallel a rank holds whole experts; without, a slice of each (over data-parallel ranks too)."""
    ranks, experts = layout.tp * layout.dp, shape.config.experts
    if not experts:
        return 0.0
    return -(-experts // ranks) / experts if layout.ep else 1 / ranks


def _correction(shape: Shape, of: Numbers, scheme: Scheme, bits: float | None) -> float:
    """What the weights there weigh, or are said to, against the closed form; a smaller saying is not believed."""
    if bits is not None or not (has_stored(shape, scheme) or scheme.id in shape.stated_gb):
        return 1.0
    whole = _weights(shape, of, scheme, Layout(), stages(shape.config.layers, 1)[0], None)
    if has_stored(shape, scheme):
        return shape.stored_bytes / whole
    return max(1.0, shape.stated_gb[scheme.id] * 1e9 / whole)


def has_stored(shape: Shape, scheme: Scheme) -> bool:
    """Whether weights of this scheme are there to be weighed."""
    return bool(shape.stored_bytes) and shape.stored_scheme == scheme.id


def parameters(shape: Shape) -> int:
    """All numbers of the model: counted where weights are there, else by the closed form."""
    return shape.parameters if shape.exact else total(shape, numbers(shape))


def candidates(shape: Shape, devices: int, node: int, ep: bool | None = None) -> Iterator[Layout]:
    """Layouts on at most `devices` devices; tensor parallel stays within one node of `node`. ep None = as needed."""
    for tp in range(1, min(devices, node) + 1):
        for pp in _splits(devices // tp, shape.config.layers):
            for dp in _splits(devices // (tp * pp), shape.config.experts) if shape.is_moe else [1]:
                layout = Layout(tp, pp, dp, _wants_ep(shape, tp, dp) if ep is None else ep)
                if _sensible(shape, layout):
                    yield layout


def indivisible(shape: Shape, layout: Layout) -> Iterator[tuple[str, int]]:
    """What tensor parallel cannot divide: "heads", "feed_forward", "expert" or "kv_heads", with its size."""
    one, tp, heads = shape.config, layout.tp, kv_heads(shape)
    sizes = {"heads": one.heads, "feed_forward": one.intermediate, "expert": 0 if layout.ep else one.moe_intermediate}
    yield from ((part, size) for part, size in sizes.items() if size % tp)
    if not shape.is_latent and heads % tp and tp % heads:
        yield "kv_heads", heads


def tensor_sizes(shape: Shape, most: int = 16, *, ep: bool = False) -> list[int]:
    """The tensor parallel sizes up to `most` that divide everything that is divided."""
    return [one for one in range(1, most + 1) if not list(indivisible(shape, Layout(one, ep=ep)))]


def _wants_ep(shape: Shape, tp: int, dp: int) -> bool:
    """Where experts are spread over data-parallel ranks, or slices of them would not divide."""
    return shape.is_moe and (dp > 1 or any(part == "expert" for part, _ in indivisible(shape, Layout(tp))))


def _sensible(shape: Shape, layout: Layout) -> bool:
    if list(indivisible(shape, layout)):
        return False
    return not layout.ep or (shape.is_moe and layout.tp * layout.dp <= shape.config.experts)


def _splits(most: int, limit: int) -> list[int]:
    return sorted({one for one in (*SPLITS, most) if 1 <= one <= min(most, max(1, limit))})
