"""The launch form: one choice in sight, the rest folded, and the command it leads to."""

from dataclasses import replace

import streamlit as st

from console.errors import ConsoleError
from console.hosts import inventory
from console.jobs import path
from console.serving import instances, launch
from console.serving.command import command, shell
from console.serving.place import runtime_folder
from console.serving.spec import DTYPES, Machine, ServeSpec, defaults, tensor_parallel_choices
from console.serving.weights import ModelFolder
from console.surface.ui import attempt, marked, t, who


def machine_now(host: inventory.Host) -> Machine | None:
    """What is free on the host; None, and the reason on the page, when that could not be read."""
    try:
        return launch.machine(host)
    except ConsoleError as error:
        st.error(marked(error.text))
        return None


def chosen_spec(model: ModelFolder, now: Machine) -> ServeSpec:
    """The form, filled with what works for this model on a host where this much is free."""
    good = defaults(model, now, model.folder)
    mark = model.name
    with st.expander(t("More settings"), key="launch-more"):
        columns = st.columns(3)
        name = columns[0].text_input(
            t("Served name"), good.served_name, key=f"name-{mark}", help=t("What clients send as `model`.")
        )
        port = columns[1].number_input(t("Port"), 1, 65535, good.port, key=f"port-{mark}")
        dtype = columns[2].selectbox(
            t("Number format"), list(DTYPES), key=f"dtype-{mark}", index=list(DTYPES).index(good.dtype)
        )
        context = columns[0].number_input(
            t("Context length (tokens)"),
            1,
            max(model.max_context, 1),
            good.context or model.max_context,
            key=f"context-{mark}",
            help=t("Prompt and answer together; it decides how much KV cache one request can take."),
        )
        kv_space = columns[1].number_input(
            t("KV cache (GiB for each tensor-parallel process)"),
            0.1,
            1024.0,
            float(good.kv_space_gib),
            0.5,
            key=f"kv-{mark}",
        )
        fitting = ", ".join(map(str, tensor_parallel_choices(model)))
        ranks = columns[2].number_input(
            t("Tensor parallel"),
            1,
            64,
            good.tensor_parallel,
            key=f"tp-{mark}",
            help=t("Processes that share the model. This model allows {sizes}.", sizes=fitting),
        )
        stages = columns[0].number_input(t("Pipeline parallel"), 1, 16, 1, key=f"pp-{mark}")
        most = columns[1].number_input(t("Requests at a time (0: the engine decides)"), 0, 4096, 0, key=f"seqs-{mark}")
        key = columns[2].toggle(t("Ask clients for an API key"), key=f"key-{mark}")
    return replace(
        good,
        served_name=name.strip(),
        port=int(port),
        dtype=dtype,
        context=int(context),
        kv_space_gib=kv_space,
        tensor_parallel=int(ranks),
        pipeline_parallel=int(stages),
        max_num_seqs=int(most) or None,
        api_key=key,
    )


def start_button(host: inventory.Host, model: ModelFolder, spec: ServeSpec, *, refused: bool) -> None:
    """Creates the instance, starts it and goes to its page."""
    busy = t("The settings above cannot work; each reason says what to change.") if refused else None
    if st.button(
        t("Start"), key="launch-start", type="primary", icon=":material/play_arrow:", disabled=refused, help=busy
    ):
        started = attempt(create_and_start, host, spec, noise=model.noise)
        if started is not None:
            st.switch_page("instance.py", query_params={"instance": str(started)})
        st.rerun()


def create_and_start(host: inventory.Host, spec: ServeSpec, *, noise: bool) -> int:
    """The instance of this spec, with a job that starts it queued."""
    instance_id = instances.create(host.id, spec, noise=noise, actor=who())
    path.queue(path.start_instance(instance_id), "start", host.id, actor=who())
    return instance_id


def command_preview(host: inventory.Host, spec: ServeSpec) -> None:
    """The exact words that will run; the copy button is in the corner of the block."""
    st.caption(t("This is what will run, to the letter:"))
    try:
        st.code(shell(command(spec, runtime_folder(host, spec.backend))), language="bash")
    except ConsoleError as error:
        st.info(marked(error.text))
