"""Every setting of a server on NPUs that the release takes, folded away in groups."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from console.catalog import parsers
from console.serving import ascend
from console.serving.asked import AUTO, Refusal, ServeSpec
from console.serving.conflicts import NO_GRAPHS
from console.serving.layout import tensor_sizes
from console.serving.moved import moved
from console.serving.offered import DRAFTS, NEED_A_MODEL, graph_modes, methods
from console.serving.shape import Shape
from console.serving.spec import LOOPBACK
from console.surface.extra_settings_view import adapters, container, plugin
from console.surface.option_widgets import Form, help_of, maybe, number, pick, share, switch, word
from console.surface.ui import t
from console.text import Text, say

EAGER = "eager"
EVERYWHERE = "0.0.0.0"


def settings(draft: ServeSpec, shape: Shape, mark: str) -> tuple[ServeSpec, list[Refusal], list[Text]]:
    """The draft with what was changed in the folded part, what of it cannot be read, what begins with another value."""
    form = Form(draft, mark)
    with st.expander(t("More settings"), key="launch-more"):
        st.caption(
            t("Only what vllm-ascend {release} takes is here. What is left alone is the engine's own choice.",
              release=draft.release)
        )  # fmt: skip
        names = [t("Parallel"), t("Memory"), t("Speed"), t("Answers"), t("Name and network"), t("Plugin and others")]
        docker = draft.backend == ascend.DOCKER
        tabs = st.tabs([*names, *([t("Container")] if docker else [])])
        changes: dict[str, Any] = {}
        with tabs[0]:
            changes |= _parallel(form, shape)
        with tabs[1]:
            changes |= _memory(form)
        with tabs[2]:
            changes |= _speed(form)
        with tabs[3]:
            changes |= _answers(form) | adapters(form)
        with tabs[4]:
            changes |= _network(form)
        with tabs[5]:
            changes |= plugin(form)
        if docker:
            with tabs[6]:
                changes |= container(form)
    return replace(draft, **changes), form.wrong, form.said


def _parallel(form: Form, shape: Shape) -> dict[str, Any]:
    columns = st.columns(4, vertical_alignment="bottom")
    found: dict[str, Any] = {}
    found |= number(form, columns[0], "tensor_parallel", t("Tensor parallel"), most=64)
    found |= number(form, columns[1], "pipeline_parallel", t("Pipeline parallel"), most=64)
    found |= number(form, columns[2], "data_parallel", t("Data parallel"), most=64)
    if shape.is_moe or form.draft.expert_parallel:
        found |= switch(form, columns[3], "expert_parallel", t("Expert parallel"))
    sizes = ", ".join(map(str, tensor_sizes(shape, ep=bool(found.get("expert_parallel")))))
    st.caption(t("This model can be divided between these numbers of cards by tensor parallel: {sizes}.", sizes=sizes))
    return found


def _memory(form: Form) -> dict[str, Any]:
    columns = st.columns(3)
    found: dict[str, Any] = {}
    found |= number(form, columns[0], "context", t("Context in tokens"))
    found |= share(form, columns[1], "utilization", t("Share of the memory"))
    found |= number(form, columns[2], "max_num_seqs", t("Requests at the same time"), most=65536)
    found |= number(form, columns[0], "max_batched_tokens", t("Tokens in one step"))
    family = ascend.family_of(form.draft.chip)
    found |= word(form, columns[1], "quantization", t("Quantization"), methods(form.draft.release, family), _weights)
    found |= _dtype(form, columns[2])
    return found


def _weights() -> str:
    return t("as the weights say")


def _decides() -> str:
    return t("the engine decides")


def _none() -> str:
    return t("none")


def _dtype(form: Form, place: Any) -> dict[str, Any]:
    """The word "auto" is what an option that is left out means."""
    one = form.offer("dtype")
    if one is None:
        return {}
    names = [str(each) for each in one.option.choices or ("bfloat16", "float16", "float32") if each != AUTO]
    value = "" if form.draft.dtype == AUTO else form.draft.dtype
    picked = pick(place, t("Number format"), value, names, _weights, form.key("dtype"), help_of(one))
    return {"dtype": picked or AUTO}


def _speed(form: Form) -> dict[str, Any]:
    columns = st.columns(4)
    found: dict[str, Any] = _graphs(form, columns[0])
    found |= maybe(form, columns[1], "prefix_caching", t("Prefix caching"))
    found |= maybe(form, columns[2], "chunked_prefill", t("Chunked prefill"))
    found |= maybe(form, columns[3], "async_scheduling", t("Async scheduling"))
    return found | _speculative(form)


def _graphs(form: Form, place: Any) -> dict[str, Any]:
    """Two options, of which only one makes sense at a time."""
    eager, modes = form.offer("enforce_eager"), form.offer("compilation")
    told = " ".join(help_of(one) for one in (modes, eager) if one is not None)
    names = [*([EAGER] if eager else []), *(graph_modes(form.draft.release) if modes else ())]
    value = EAGER if form.draft.enforce_eager else str(form.draft.compilation.get("cudagraph_mode", ""))
    picked = pick(place, t("Captured graphs"), value, names, _decides, form.key("graphs"), told)
    rest = {key: each for key, each in form.draft.compilation.items() if key != "cudagraph_mode"}
    given = form.draft.compilation.get("cudagraph_mode")
    if value == EAGER and given not in NO_GRAPHS:
        form.said.append(
            say("Eager mode and the graph mode {mode} were both given. Eager captures no graphs, so the form begins "
                "without that mode.", mode=str(given))
        )  # fmt: skip
    mode = {"cudagraph_mode": given if picked == str(given) else picked} if picked not in ("", EAGER) else {}
    return {"enforce_eager": picked == EAGER, "compilation": {**rest, **mode}}


def _speculative(form: Form) -> dict[str, Any]:
    """Method, number of tokens, and the draft model where the method needs one."""
    one = form.offer("speculative")
    if one is None:
        return {}
    given = form.draft.speculative
    columns = st.columns([1, 1, 2])
    method = pick(
        columns[0], t("Speculative decoding"), str(given.get("method", "")), DRAFTS, _none, form.key("method"),
        help_of(one),
    )  # fmt: skip
    if given and not given.get("method"):
        form.said.append(
            say("Speculative decoding was given as {given}, without a method. The form needs one, so it begins without "
                "speculative decoding.", given=json.dumps(given, ensure_ascii=False, default=str))
        )  # fmt: skip
    if not method:
        return {"speculative": {}}
    tokens = columns[1].number_input(t("Tokens ahead"), 1, 64, _tokens_ahead(form), key=form.key("tokens"))
    made: dict[str, Any] = {**given, "method": method, "num_speculative_tokens": int(tokens)}
    if method in NEED_A_MODEL:
        folder = columns[2].text_input(
            t("Folder of the draft model"), str(given.get("model", "")), key=form.key("draft")
        )
        made["model"] = folder.strip()
        if not made["model"]:
            form.wrong.append(
                Refusal("speculative", say("{method} needs a draft model; name its folder.", method=method))
            )
    return {"speculative": made}


def _tokens_ahead(form: Form) -> int:
    """What was given, as near as the form takes it."""
    first = form.draft.speculative.get("num_speculative_tokens", 1)
    if type(first) is int:
        return int(form.within("num_speculative_tokens", first, 1, 64))
    form.said.append(moved("num_speculative_tokens", json.dumps(first, default=str), 1, 1, 64))
    return 1


def _answers(form: Form) -> dict[str, Any]:
    parser = parsers.parser_of(form.draft.release)
    columns = st.columns(3)
    found: dict[str, Any] = {}
    found |= word(form, columns[0], "reasoning_parser", t("Parser of thoughts"), parser.reasoning_parsers, _none)
    found |= word(form, columns[1], "tool_parser", t("Parser of tool calls"), parser.tool_parsers, _none)
    mode = form.offer("tokenizer_mode")
    modes = [] if mode is None else [str(one) for one in (*mode.option.choices, *mode.option.known) if one != AUTO]
    found |= word(form, columns[2], "tokenizer_mode", t("Tokenizer mode"), modes, _decides)
    found |= switch(form, st, "trust_remote_code", t("Run code that comes with the weights"))
    return found


def _network(form: Form) -> Mapping[str, Any]:
    columns = st.columns([2, 1, 2])
    draft = form.draft
    name = columns[0].text_input(
        t("Served name"), draft.served_name, key=form.key("name"), help=t("What clients send as `model`.")
    )
    first_port = int(form.within("port", draft.port, 1, 65535))
    port = columns[1].number_input(t("Port"), 1, 65535, first_port, key=form.key("port"))
    here = draft.host if draft.host in LOOPBACK else LOOPBACK[0]
    reach = {
        here: t("this host alone; the console reaches it through SSH"),
        EVERYWHERE: t("the whole network, with an API key"),
    }
    first = draft.host
    if first not in reach:
        reach[first] = t("at the address {address}, with an API key", address=first)
    host = columns[2].radio(
        t("Who can reach it"), list(reach), list(reach).index(first), key=form.key("reach"),
        format_func=reach.__getitem__,
    )  # fmt: skip
    opened = host != first and host not in LOOPBACK  # by hand: then the key goes with it
    key = st.toggle(
        t("Ask clients for an API key"), draft.api_key or opened, key=form.key("key-open" if opened else "key"),
        help=t("The console makes the key at the start, and keeps it in a file that only its owner can read."),
    )  # fmt: skip
    return {"served_name": name.strip(), "port": int(port), "host": str(host), "api_key": key}
