"""What all launch forms share: what was asked of the host, the start and its command; and the form of a CPU."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from console.errors import ConsoleError
from console.hosts import inventory
from console.jobs import path
from console.masking import mask
from console.serving import ascend, instances, offering
from console.serving.asked import Refusal
from console.serving.backends import USUAL, Site
from console.serving.command import command, shell
from console.serving.container import MARK
from console.serving.labels import label
from console.serving.moved import moved
from console.serving.offering import Offering, Way
from console.serving.place import runtime_folder
from console.serving.spec import DTYPES, ServeSpec, defaults, tensor_parallel_choices
from console.serving.weights import ModelFolder
from console.surface.asked_numbers import tell
from console.surface.export_view import exports
from console.surface.site_view import forget_sites, site_of
from console.surface.ui import attempt, empty, marked, t, warn_unknown, who, words
from console.text import Text, say

KEPT_S = 30.0
"""Seconds for which what a host said is not asked again while a form is filled in; the start asks anew."""
ASKED = "launch-asked"
KV_GIB = (0.1, 1024.0)
"""The least and the most GiB of KV cache that the form of the CPU takes."""


@dataclass(frozen=True)
class Wanted:
    """A start in the making. stated: fields of ServeSpec that an address or a paste fills in."""

    offering: Offering
    way: Way
    model: ModelFolder
    stated: Mapping[str, Any]

    @property
    def host(self) -> inventory.Host:
        return self.offering.host


def beginning_mark(wanted: Wanted) -> str:
    """Another model, way or beginning has other widgets, so that none keeps what was chosen for the one before."""
    told = json.dumps(wanted.stated, sort_keys=True, default=str)
    return f"{wanted.model.name}-{wanted.way.backend}-{hashlib.sha256(told.encode()).hexdigest()[:8]}"


def asked_now(host: inventory.Host) -> Offering | None:
    """What the host offers, asked at most half a minute ago; None, and the reason on the page, when it cannot be."""
    kept: Offering | None = st.session_state.get(ASKED)
    if kept is not None and kept.host == host and time.time() - kept.time < KEPT_S:
        return kept
    try:
        found = offering.look(host)
    except ConsoleError as error:
        st.error(marked(error.text), icon=":material/link_off:")
        return None
    st.session_state[ASKED] = found
    return found


def look_again() -> None:
    """Forget what was asked."""
    st.session_state.pop(ASKED, None)
    forget_sites()


def chosen_way(found: Sequence[Way], asked: str) -> Way | None:
    """How vLLM runs there: chosen where there are several; None, and what to do first, when there is none."""
    if not found:
        return None
    by_name = {one.backend: one for one in found}
    warn_unknown("backend", by_name, say("a way to run vLLM"))
    if len(found) == 1:
        return found[0]
    names = list(by_name)
    return by_name[
        st.selectbox(
            t("How vLLM runs"), names, names.index(asked) if asked in names else 0, key=f"launch-way-{asked}",
            format_func=lambda one: way_line(by_name[one]),
        )
    ]  # fmt: skip


def way_line(way: Way) -> str:
    """Its title, and the release that is installed."""
    if way.installed:
        return f"{words(way.title)} · vllm-ascend {way.release}" if way.on_npus else words(way.title)
    return f"{words(way.title)} · {t('not installed')}"


def cpu_form(wanted: Wanted, beside: Any) -> None:
    """The form of a host's CPU, filled with what works for this model where this much is free."""
    model, now = wanted.model, wanted.offering.machine
    if gone := ", ".join(words(label(name)) for name in wanted.stated if name not in CPU_FIELDS):
        st.warning(marked(say("Left out, because a server on a CPU is started without it: {names}.", names=gone)))
    tell(_changed(wanted.stated, model))
    spec = cpu_settings(model, replace(defaults(model, now, model.folder), **_of_cpu(wanted.stated)), wanted)
    finish(wanted, spec, offering.reasons(wanted.offering, spec, model), beside)


CPU_FIELDS = ("served_name", "port", "dtype", "context", "kv_space_gib", "tensor_parallel", "pipeline_parallel",
              "max_num_seqs", "api_key")  # fmt: skip
"""What the form of the CPU can change."""


def _of_cpu(stated: Mapping[str, Any]) -> dict[str, Any]:
    return {name: stated[name] for name in CPU_FIELDS if name in stated}


def _limits(model: ModelFolder) -> dict[str, tuple[int, int]]:
    """Field -> the least and the most that the form of the CPU takes."""
    return {
        "context": (1, max(model.max_context, 1)),
        "port": (1, 65535),
        "tensor_parallel": (1, 64),
        "pipeline_parallel": (1, 16),
        "max_num_seqs": (0, 4096),
    }


def _changed(stated: Mapping[str, Any], model: ModelFolder) -> list[Text]:
    """What a paste or an address asks for and the form cannot take as it is, with the reason."""
    limits: dict[str, tuple[float, float]] = {**_limits(model), "kv_space_gib": KV_GIB}
    given = {name: stated[name] for name in limits if stated.get(name) is not None}
    return [
        moved(name, asked, min(max(asked, least), most), least, most)
        for name, asked in given.items()
        for least, most in [limits[name]]
        if not least <= asked <= most
    ]


def cpu_settings(model: ModelFolder, good: ServeSpec, wanted: Wanted) -> ServeSpec:
    """The folded part of it."""
    mark = beginning_mark(wanted) if wanted.stated else model.name
    limits = _limits(model)
    with st.expander(t("More settings"), key="launch-more"):
        columns = st.columns(3)
        name = columns[0].text_input(
            t("Served name"), good.served_name, key=f"name-{mark}", help=t("What clients send as `model`.")
        )
        port = columns[1].number_input(
            t("Port"), *limits["port"], _within(good.port, *limits["port"]), key=f"port-{mark}"
        )
        formats = list(dict.fromkeys([*DTYPES, good.dtype]))
        dtype = columns[2].selectbox(t("Number format"), formats, formats.index(good.dtype), key=f"dtype-{mark}")
        context = columns[0].number_input(
            t("Context length (tokens)"),
            *limits["context"],
            _within(good.context or model.max_context, *limits["context"]),
            key=f"context-{mark}",
            help=t("Prompt and answer together; it decides how much KV cache one request can take."),
        )
        kv_space = columns[1].number_input(
            t("KV cache (GiB for each tensor-parallel process)"),
            *KV_GIB,
            float(min(max(good.kv_space_gib, KV_GIB[0]), KV_GIB[1])),
            0.5,
            key=f"kv-{mark}",
        )
        fitting = ", ".join(map(str, tensor_parallel_choices(model)))
        ranks = columns[2].number_input(
            t("Tensor parallel"),
            *limits["tensor_parallel"],
            _within(good.tensor_parallel, *limits["tensor_parallel"]),
            key=f"tp-{mark}",
            help=t("Processes that share the model. This model allows {sizes}.", sizes=fitting),
        )
        stages = columns[0].number_input(
            t("Pipeline parallel"),
            *limits["pipeline_parallel"],
            _within(good.pipeline_parallel, *limits["pipeline_parallel"]),
            key=f"pp-{mark}",
        )
        seqs = columns[1].number_input(
            t("Requests at a time (0: the engine decides)"), *limits["max_num_seqs"],
            _within(good.max_num_seqs or 0, *limits["max_num_seqs"]), key=f"seqs-{mark}",
        )  # fmt: skip
        key = columns[2].toggle(t("Ask clients for an API key"), good.api_key, key=f"key-{mark}")
    return replace(
        good,
        served_name=name.strip(),
        port=int(port),
        dtype=dtype,
        context=int(context),
        kv_space_gib=kv_space,
        tensor_parallel=int(ranks),
        pipeline_parallel=int(stages),
        max_num_seqs=int(seqs) or None,
        api_key=key,
    )


def _within(value: int, least: int, most: int) -> int:
    return min(max(value, least), most)


def finish(wanted: Wanted, spec: ServeSpec, against: Sequence[Refusal], beside: Any) -> None:
    """Reasons and the start beside the form; below it the command, and files to take elsewhere."""
    place, missing = site_of(wanted.host, spec) if wanted.way.installed and not against else (USUAL, None)
    reasons = [*against, *([] if missing is None else [Refusal("backend", missing)])]
    with beside:
        shown_refusals(reasons)
        start_button(wanted, spec, reasons)
    command_preview(wanted.host, spec, place, refused=bool(against))
    if not against:
        with st.expander(t("Take it elsewhere, as a file"), key="launch-exports"):
            exports(wanted.host, spec, place)


def shown_refusals(against: Sequence[Refusal]) -> None:
    """Every reason with what to do instead, in one place."""
    lines = [" ".join(marked(one) for one in (each.reason, each.instead) if one is not None) for each in against]
    if lines:
        st.error("\n".join(f"- {line}" for line in lines) if len(lines) > 1 else lines[0], icon=":material/block:")


def start_button(wanted: Wanted, spec: ServeSpec | None, against: Sequence[Refusal]) -> None:
    """Creates the instance, starts it and goes to its page; disabled with the reason in sight."""
    why: Text | None = say("The settings above cannot work; each reason says what to change.") if against else None
    way = wanted.way
    if why is None and way.on_npus and not way.installed:
        why = say(
            "vLLM is not installed on {host} in this way yet. What you see is for vllm-ascend {release}, which is "
            "chosen for it.", host=wanted.host.title, release=way.release,
        )  # fmt: skip
        empty(marked(why), "install.py", t("Install"), {"host": str(wanted.host.id)})
    if st.button(
        t("Start"), key="launch-start", type="primary", icon=":material/play_arrow:", disabled=why is not None,
        help=None if why is None else words(why),
    ) and spec is not None:  # fmt: skip
        started = attempt(create_and_start, wanted.host, spec, noise=wanted.model.noise)
        if started is not None:
            st.session_state.pop(ASKED, None)
            st.switch_page("instance.py", query_params={"instance": str(started)})
        st.rerun()


def create_and_start(host: inventory.Host, spec: ServeSpec, *, noise: bool) -> int:
    """The instance of this spec, with a job that starts it queued."""
    instance_id = instances.create(host.id, spec, noise=noise, actor=who())
    path.queue(path.start_instance(instance_id), "start", host.id, actor=who())
    return instance_id


def command_preview(host: inventory.Host, spec: ServeSpec, place: Site, *, refused: bool) -> None:
    """The exact words that will run; the copy button is in the corner of the block.

    What is refused may be a secret that was typed in the wrong place, so it is masked there.
    """
    try:
        made = shell(command(spec, runtime_folder(host, spec.backend), place))
    except ConsoleError as error:
        st.info(marked(error.text))
        return
    if spec.backend == ascend.DOCKER:
        st.caption(
            t("The whole docker run line. At a start the console adds {mark}, by which it knows its own container.",
              mark=f"`{MARK}`")
        )  # fmt: skip
    else:
        st.caption(t("This is what will run, to the letter:"))
    st.code(mask(made) if refused else made, language="bash")
